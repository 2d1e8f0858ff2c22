package dozo.manifest;

import dozo.file.Digest;
import java.nio.ByteBuffer;
import java.security.DigestException;
import java.security.MessageDigest;

/**
 * The fingerprint of a folder's content in 32 bytes, independent of the order of its entries: the sum of the SHA-256
 * digests of the entries' rows, each taken as four numbers of 64 bits. Two different listings have the same fingerprint
 * by accident with a probability of about 2⁻²⁵⁶.
 *
 * <p>NB: it does not resist an attacker who chooses names: a collision of sums of digests takes much less work than one
 * of digests. Whoever can do that can also reset a changed file's time, which Dozo does not notice either (ADR 0003).
 */
final class Fingerprint {

    static final int LENGTH_BYTES = Digest.LENGTH_BYTES;

    private static final int LANES = LENGTH_BYTES / Long.BYTES;

    private final MessageDigest algorithm = Digest.algorithm();
    private final byte[] digest = new byte[LENGTH_BYTES];
    private final ByteBuffer lanes = ByteBuffer.wrap(digest);
    private final long[] sums = new long[LANES];

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

    /** Returns the 32 bytes; all zero for an empty folder. */
    byte[] bytes() {
        ByteBuffer bytes = ByteBuffer.allocate(LENGTH_BYTES);
        for (long sum : sums) {
            bytes.putLong(sum);
        }
        return bytes.array();
    }
}
