package dozo.manifest;

import dozo.file.Digest;
import java.nio.ByteBuffer;
import java.security.DigestException;
import java.security.MessageDigest;

/**
 * What a folder holds, in 32 bytes, whatever the order it is told in: the SHA-256 of each entry's row, taken as four numbers
 * of 64 bits, summed up. Two listings that differ have the same one by accident with a probability of about 2⁻²⁵⁶.
 *
 * <p>NB: no proof against somebody who chooses names to that end: sums of digests can be made to meet with much less work
 * than digests. Whoever can do that can set a changed file's time back, too, and that is not seen either (ADR 0003).
 */
final class Fingerprint {

    static final int LENGTH_BYTES = Digest.LENGTH_BYTES;

    private static final int LANES = LENGTH_BYTES / Long.BYTES;

    private final MessageDigest algorithm = Digest.algorithm();
    private final byte[] digest = new byte[LENGTH_BYTES];
    private final ByteBuffer lanes = ByteBuffer.wrap(digest);
    private final long[] sums = new long[LANES];

    /** Adds one entry's row. */
    void add(byte[] row, int offset, int length) {
        algorithm.update(row, offset, length);
        try {
            algorithm.digest(digest, 0, LENGTH_BYTES);
        } catch (DigestException e) {
            throw new IllegalStateException("there is room for a digest", e);
        }
        for (int i = 0; i < LANES; i++) {
            sums[i] += lanes.getLong(i * Long.BYTES);
        }
    }

    /** The 32 bytes; all zero for an empty folder. */
    byte[] bytes() {
        ByteBuffer bytes = ByteBuffer.allocate(LENGTH_BYTES);
        for (long sum : sums) {
            bytes.putLong(sum);
        }
        return bytes.array();
    }
}
