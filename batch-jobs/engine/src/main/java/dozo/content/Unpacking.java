package dozo.content;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Unpacks data of the methods deflate (RFC 1951) and zlib (RFC 1950) in pieces, passes it on, and keeps its CRC-32 and length. One
 * file, or what is in it, may not occupy its reader for hours: deflate can reach 1,032 times its length, images reach 10.
 */
final class Unpacking implements AutoCloseable {

    private static final int OUT_BYTES = 1 << 15;

    /** Every file may unpack to so much, a larger one to so many times its own length. */
    private static final long UNPACKED_BYTES_FREE = 1_000_000_000;

    private static final long RATIO_MAX = 100;

    private final Inflater inflater;
    private final CRC32 crc = new CRC32();
    private final byte[] out = new byte[OUT_BYTES];
    private final Content content;
    private final long unpackedBytesMax;

    /** Of all data of the file. */
    private long unpackedBytesAll;

    /** Takes the next unpacked bytes. */
    interface Content {
        void take(ByteBuffer bytes) throws NotWhole;
    }

    /** Unpacks deflate, or zlib with its checksum, and passes nothing on. */
    Unpacking(long fileBytes, boolean zlib) {
        this(fileBytes, zlib, _ -> {});
    }

    /**
     * Unpacks deflate, or zlib with its checksum.
     *
     * @param fileBytes of the whole file, or {@link Beginning#SIZE_UNKNOWN}
     */
    Unpacking(long fileBytes, boolean zlib, Content content) {
        this.inflater = new Inflater(!zlib);
        this.content = content;
        this.unpackedBytesMax = Math.max(UNPACKED_BYTES_FREE, RATIO_MAX * fileBytes);
    }

    void begin() {
        inflater.reset();
        crc.reset();
    }

    /**
     * Takes bytes up to the end of the packed data, and returns whether this is reached.
     *
     * @throws NotWhole unknown and closed, if the file unpacks to more than is looked at; and what the content throws
     */
    boolean take(ByteBuffer bytes) throws DataFormatException, NotWhole {
        inflater.setInput(bytes);
        int count;
        do {
            count = inflater.inflate(out);
            unpackedBytesAll += count;
            if (unpackedBytesAll > unpackedBytesMax) {
                close();
                throw NotWhole.unknown("it unpacks to more than %,d GB".formatted(unpackedBytesMax / 1_000_000_000));
            }
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
