package dozo.source.delivery;

import dozo.file.Digest;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * What an origin has for a file now.
 *
 * @param sha256 of its bytes
 * @param asDelivered whether they are those that it delivered; null: there is nothing to compare with
 * @param bytesMoved how many bytes the origin sent
 */
public record Reread(Digest sha256, @Nullable Boolean asDelivered, long bytesMoved) {

    /**
     * Digests an answer's body to its end.
     *
     * @param listedBytes the size that the origin lists; negative if it does not say
     * @param digests get all bytes
     * @return its length
     * @throws DeliveryException if it ends early. One that is as short as the answer says is whole: the file is short there
     */
    public static long digest(Answer answer, InputStream body, long listedBytes, MessageDigest... digests)
            throws IOException {
        InputStream digested = body;
        for (MessageDigest digest : digests) {
            digested = new DigestInputStream(digested, digest);
        }
        long bytes = digested.transferTo(OutputStream.nullOutputStream());
        boolean isWhole = answer.header("Content-Length").orElse("").equals(String.valueOf(bytes));
        if (bytes < listedBytes && !isWhole) {
            throw new DeliveryException(
                    Trouble.TRUNCATED, "received %d bytes, expected %d".formatted(bytes, listedBytes));
        }
        return bytes;
    }
}
