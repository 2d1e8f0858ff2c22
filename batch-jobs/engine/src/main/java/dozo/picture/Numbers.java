package dozo.picture;

import dozo.picture.NoPicture.Why;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The numbers of files, by their types. */
enum Numbers {
    UNSIGNED_8(1),
    SIGNED_8(1),
    UNSIGNED_16(2),
    SIGNED_16(2),
    UNSIGNED_32(4),
    SIGNED_32(4),
    FLOAT_32(4),
    FLOAT_64(8);

    private final int bytes;

    Numbers(int bytes) {
        this.bytes = bytes;
    }

    int bytes() {
        return bytes;
    }

    double at(ByteBuffer from, int index) {
        int at = index * bytes;
        return switch (this) {
            case UNSIGNED_8 -> Byte.toUnsignedInt(from.get(at));
            case SIGNED_8 -> from.get(at);
            case UNSIGNED_16 -> Short.toUnsignedInt(from.getShort(at));
            case SIGNED_16 -> from.getShort(at);
            case UNSIGNED_32 -> Integer.toUnsignedLong(from.getInt(at));
            case SIGNED_32 -> from.getInt(at);
            case FLOAT_32 -> from.getFloat(at);
            case FLOAT_64 -> from.getDouble(at);
        };
    }

    /** Reads so many bytes, all of them. */
    static ByteBuffer read(InputStream in, long bytes, ByteOrder order) throws IOException, NoPicture {
        if (bytes > Drawing.CONTENT_BYTES_MAX) {
            throw new NoPicture(Why.TOO_LARGE);
        }
        byte[] read = new byte[(int) bytes];
        if (in.readNBytes(read, 0, read.length) < bytes) {
            throw new EOFException();
        }
        return ByteBuffer.wrap(read).order(order);
    }
}
