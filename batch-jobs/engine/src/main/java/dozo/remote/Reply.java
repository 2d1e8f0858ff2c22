package dozo.remote;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * One answer of an SFTP server, without its id. Every length in it is checked against the bytes received; an invalid
 * answer ends its channel.
 *
 * @param onNonsense ends the channel
 */
record Reply(int type, ByteBuffer body, Consumer<RemoteException> onNonsense) {

    static final int OK = 0;
    static final int END_OF_FILE = 1;

    /** Returns the status code of a STATUS answer. */
    int status() throws RemoteException {
        expect(Packet.STATUS);
        if (body.limit() < Integer.BYTES) {
            throw garbage();
        }
        return body.getInt(0);
    }

    boolean isStatus(int code) throws RemoteException {
        return type == Packet.STATUS && status() == code;
    }

    byte[] handle() throws RemoteException {
        expect(Packet.HANDLE);
        return string();
    }

    /** Returns a view of the bytes in a READ's answer. */
    ByteBuffer data() throws RemoteException {
        expect(Packet.DATA);
        long length = uint32();
        if (length != body.remaining()) {
            throw garbage();
        }
        return body.slice();
    }

    RemoteFacts attributes() throws RemoteException {
        expect(Packet.ATTRS);
        return facts();
    }

    void expect(int wanted) throws RemoteException {
        if (type != wanted) {
            throw garbage();
        }
    }

    long uint32() throws RemoteException {
        try {
            return body.getInt() & 0xFFFF_FFFFL;
        } catch (BufferUnderflowException e) {
            throw garbage();
        }
    }

    long uint64() throws RemoteException {
        try {
            return body.getLong();
        } catch (BufferUnderflowException e) {
            throw garbage();
        }
    }

    byte[] string() throws RemoteException {
        long length = uint32();
        if (length > body.remaining()) {
            throw garbage();
        }
        byte[] bytes = new byte[(int) length];
        body.get(bytes);
        return bytes;
    }

    String text() throws RemoteException {
        return new String(string(), StandardCharsets.UTF_8);
    }

    byte[] rest() {
        byte[] bytes = new byte[body.remaining()];
        body.get(bytes);
        return bytes;
    }

    boolean hasMore() {
        return body.hasRemaining();
    }

    RemoteFacts facts() throws RemoteException {
        int flags = (int) uint32();
        long size = (flags & Packet.HAS_SIZE) != 0 ? uint64() : 0;
        long uid = -1;
        long gid = -1;
        if ((flags & Packet.HAS_OWNER) != 0) {
            uid = uint32();
            gid = uint32();
        }
        long mode = (flags & Packet.HAS_MODE) != 0 ? uint32() : 0;
        long modified = 0;
        if ((flags & Packet.HAS_TIMES) != 0) {
            uint32();
            modified = uint32();
        }
        if ((flags & Packet.HAS_MORE) != 0) {
            for (long left = uint32(); left > 0; left--) {
                string();
                string();
            }
        }
        return RemoteFacts.of(size, mode, modified, uid, gid);
    }

    private RemoteException garbage() {
        RemoteException nonsense = new RemoteException(
                RemoteException.Reason.PROTOCOL, "the site sent an invalid SFTP answer (type " + type + ")");
        onNonsense.accept(nonsense);
        return nonsense;
    }
}
