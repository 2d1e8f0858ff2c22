package dozo.remote;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The body of one SFTP request, without length, type and id: version 3 (draft-ietf-secsh-filexfer-02). */
final class Packet {

    static final int INIT = 1;
    static final int VERSION = 2;
    static final int OPEN = 3;
    static final int CLOSE = 4;
    static final int READ = 5;
    static final int WRITE = 6;
    static final int LSTAT = 7;
    static final int SETSTAT = 9;
    static final int FSETSTAT = 10;
    static final int OPENDIR = 11;
    static final int READDIR = 12;
    static final int REMOVE = 13;
    static final int MKDIR = 14;
    static final int RMDIR = 15;
    static final int REALPATH = 16;
    static final int RENAME = 18;
    static final int READLINK = 19;
    static final int SYMLINK = 20;
    static final int STATUS = 101;
    static final int HANDLE = 102;
    static final int DATA = 103;
    static final int NAME = 104;
    static final int ATTRS = 105;
    static final int EXTENDED = 200;
    static final int EXTENDED_REPLY = 201;

    static final int OPEN_READ = 0x01;
    static final int OPEN_WRITE = 0x02;
    static final int OPEN_CREATE = 0x08;
    static final int OPEN_EXCLUSIVE = 0x20;

    static final int HAS_SIZE = 0x01;
    static final int HAS_OWNER = 0x02;
    static final int HAS_MODE = 0x04;
    static final int HAS_TIMES = 0x08;
    static final int HAS_MORE = 0x80000000;

    private final int type;
    private byte[] bytes = new byte[128];
    private int size;

    private Packet(int type) {
        this.type = type;
    }

    static Packet of(int type) {
        return new Packet(type);
    }

    /** Returns an extended request with this {@code name@vendor}. */
    static Packet extended(String name) {
        return new Packet(EXTENDED).string(name);
    }

    Packet uint32(long value) {
        room(4);
        for (int shift = 24; shift >= 0; shift -= 8) {
            bytes[size++] = (byte) (value >>> shift);
        }
        return this;
    }

    Packet uint8(int value) {
        room(1);
        bytes[size++] = (byte) value;
        return this;
    }

    Packet uint64(long value) {
        return uint32(value >>> 32).uint32(value);
    }

    Packet string(byte[] text) {
        uint32(text.length);
        room(text.length);
        System.arraycopy(text, 0, bytes, size, text.length);
        size += text.length;
        return this;
    }

    Packet string(String text) {
        return string(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Adds attributes: mode, access and modification time. Version 3 stores times in 32 unsigned bits. */
    Packet facts(int mode, long modifiedSeconds) {
        long seconds = Math.clamp(modifiedSeconds, 0L, 0xFFFF_FFFFL);
        return uint32(HAS_MODE | HAS_TIMES).uint32(mode & 07777).uint32(seconds).uint32(seconds);
    }

    /** Adds attributes with a length. A shorter file gets a hole at its end. */
    Packet facts(long sizeBytes, int mode, long modifiedSeconds) {
        long seconds = Math.clamp(modifiedSeconds, 0L, 0xFFFF_FFFFL);
        return uint32(HAS_SIZE | HAS_MODE | HAS_TIMES)
                .uint64(sizeBytes)
                .uint32(mode & 07777)
                .uint32(seconds)
                .uint32(seconds);
    }

    /** Adds attributes: only a length. */
    Packet length(long sizeBytes) {
        return uint32(HAS_SIZE).uint64(sizeBytes);
    }

    int type() {
        return type;
    }

    byte[] bytes() {
        return bytes;
    }

    int size() {
        return size;
    }

    private void room(int more) {
        if (size + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
        }
    }
}
