package dozo.manifest;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Fields in PostgreSQL's binary COPY format (its manual, "COPY", file formats), in an array that grows. */
final class CopyBytes {

    private static final int NULL = -1;

    /** The number of the type of byte strings. */
    private static final int BYTEA = 17;

    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

    private byte[] bytes;
    private int length;

    CopyBytes(int capacityBytes) {
        this.bytes = new byte[capacityBytes];
    }

    /** Returns the array itself; only the first {@link #length()} bytes are used. */
    byte[] bytes() {
        return bytes;
    }

    int length() {
        return length;
    }

    void clear() {
        length = 0;
    }

    void columns(int count) {
        plainShort(count);
    }

    void field(short value) {
        plainInt(Short.BYTES);
        plainShort(value);
    }

    void field(int value) {
        plainInt(Integer.BYTES);
        plainInt(value);
    }

    void field(long value) {
        plainInt(Long.BYTES);
        plainInt((int) (value >> Integer.SIZE));
        plainInt((int) value);
    }

    void field(@Nullable Long value) {
        if (value == null) {
            plainInt(NULL);
        } else {
            field((long) value);
        }
    }

    void field(char letter) {
        plainInt(1);
        room(1);
        bytes[length++] = (byte) letter;
    }

    void field(boolean value) {
        field(value ? '\1' : '\0');
    }

    void field(byte @Nullable [] value) {
        if (value == null) {
            plainInt(NULL);
        } else {
            plainInt(value.length);
            append(value, 0, value.length);
        }
    }

    /** Adds an array of byte strings: {@code bytea[]}. */
    void field(byte[][] values) {
        int start = length;
        plainInt(0);
        plainInt(1); // dimensions
        plainInt(0); // no null is in it
        plainInt(BYTEA);
        plainInt(values.length);
        plainInt(1); // the first index
        for (byte[] value : values) {
            field(value);
        }
        putInt(start, length - start - Integer.BYTES);
    }

    void fieldNull() {
        plainInt(NULL);
    }

    void plainInt(int value) {
        room(Integer.BYTES);
        putInt(length, value);
        length += Integer.BYTES;
    }

    /** Overwrites four existing bytes. */
    void putInt(int at, int value) {
        INT.set(bytes, at, value);
    }

    int intAt(int at) {
        return (int) INT.get(bytes, at);
    }

    void append(byte[] from, int offset, int count) {
        room(count);
        System.arraycopy(from, offset, bytes, length, count);
        length += count;
    }

    private void plainShort(int value) {
        room(Short.BYTES);
        bytes[length++] = (byte) (value >> 8);
        bytes[length++] = (byte) value;
    }

    private void room(int count) {
        if (length + count > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + count));
        }
    }
}
