package dozo.content;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** Unpacks data of the methods deflate (RFC 1951) and zlib (RFC 1950) in pieces, passes it on, and keeps its CRC-32 and length. */
final class Unpacking implements AutoCloseable {

    private static final int OUT_BYTES = 1 << 15;

    private final Inflater inflater;
    private final CRC32 crc = new CRC32();
    private final byte[] out = new byte[OUT_BYTES];
    private final Content content;

    /** Takes the next unpacked bytes. */
    interface Content {
        void take(ByteBuffer bytes) throws NotWhole;
    }

    /** Unpacks deflate, or zlib with its checksum, and passes nothing on. */
    Unpacking(boolean zlib) {
        this(zlib, _ -> {});
    }

    /** Unpacks deflate, or zlib with its checksum. */
    Unpacking(boolean zlib, Content content) {
        this.inflater = new Inflater(!zlib);
        this.content = content;
    }

    void begin() {
        inflater.reset();
        crc.reset();
    }

    /** Takes bytes up to the end of the packed data, and returns whether this is reached. */
    boolean take(ByteBuffer bytes) throws DataFormatException, NotWhole {
        inflater.setInput(bytes);
        int count;
        do {
            count = inflater.inflate(out);
            crc.update(out, 0, count);
            content.take(ByteBuffer.wrap(out, 0, count));
        } while (count > 0);
        if (!inflater.finished() && (inflater.needsDictionary() || bytes.hasRemaining())) {
            throw new DataFormatException();
        }
        return inflater.finished();
    }

    long crc() {
        return crc.getValue();
    }

    long unpackedBytes() {
        return inflater.getBytesWritten();
    }

    @Override
    public void close() {
        inflater.end();
    }
}
