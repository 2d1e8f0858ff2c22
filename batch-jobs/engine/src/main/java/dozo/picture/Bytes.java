package dozo.picture;

import dozo.picture.NoPicture.Why;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Bytes of files. */
final class Bytes {

    private Bytes() {}

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
