package dozo.remote;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * A question about a stored file that only somebody who can obtain its bytes in time answers: the SHA-256 of a random salt, which file
 * and range it is, and the bytes of the range. A recorded digest does not help.
 *
 * <p>The digest is that of five lines of text (the domain {@value #DOMAIN}, the salt, the file's digest, offset and length in bytes,
 * each ended by a line feed), and then the bytes.
 *
 * @param file its place below the site's root
 * @param object the file's digest in the receipt
 * @param salt 64 random hexadecimal digits, never used before
 */
public record Challenge(FilePath file, Digest object, long offset, long length, String salt) {

    static final String DOMAIN = "dozo-challenge-1";

    /** Ranges begin at a multiple of this. A range is at least as long, or the whole file, and shorter than twice this. */
    static final int BLOCK_BYTES = 64 << 10;

    private static final int SALT_BYTES = 32;

    public Challenge {
        if (offset < 0 || offset % BLOCK_BYTES != 0 || length < 1 || length >= 2L * BLOCK_BYTES) {
            throw new IllegalArgumentException("not the range of a challenge: %d, %d bytes".formatted(offset, length));
        }
        if (salt.length() != 2 * SALT_BYTES) {
            throw new IllegalArgumentException("expected a salt of 32 bytes");
        }
    }

    /** Returns a new challenge about the range of a file that has a byte in it. */
    public static Challenge about(FilePath file, Digest object, long sizeBytes, long at, SecureRandom random) {
        byte[] salt = new byte[SALT_BYTES];
        random.nextBytes(salt);
        long first = first(sizeBytes, at);
        long end = Math.min(sizeBytes, at / BLOCK_BYTES * BLOCK_BYTES + BLOCK_BYTES);
        return new Challenge(file, object, first, end - first, HexFormat.of().formatHex(salt));
    }

    /** Returns the first byte of that range. A shorter rest at the end of the file belongs to the block before it. */
    public static long first(long sizeBytes, long at) {
        long block = at / BLOCK_BYTES * BLOCK_BYTES;
        return sizeBytes - block < BLOCK_BYTES && block > 0 ? block - BLOCK_BYTES : block;
    }

    /** Returns the digest without the bytes of the range, which are to be added. */
    public MessageDigest begin() {
        MessageDigest digest = Digest.algorithm();
        String head = "%s\n%s\n%s\n%d\n%d\n".formatted(DOMAIN, salt, object, offset, length);
        digest.update(head.getBytes(StandardCharsets.US_ASCII));
        return digest;
    }
}
