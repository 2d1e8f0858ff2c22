package dozo.source.flywheel;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Part;
import dozo.source.delivery.Trouble;
import dozo.source.http.Answer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * The download of one file into the spool. It succeeds if size and hash are as Flywheel lists them. The part left by a
 * failed try is continued if the server returns exactly the rest.
 */
final class Download {

    /** The limit for files of unknown size. */
    private static final long SIZE_UNKNOWN_BYTES_MAX = 1L << 44;

    private final Flywheel flywheel;
    private final HeldFile file;
    private final Part part;
    private final @Nullable TheirHash hash;
    private @Nullable MessageDigest digest;

    Download(Flywheel flywheel, HeldFile file, Part part) {
        this.flywheel = flywheel;
        this.file = file;
        this.part = part;
        this.hash = TheirHash.of(file.hash()).orElse(null);
    }

    /**
     * Downloads the bytes and returns how many there are.
     *
     * @throws DeliveryException if the download fails, or its bytes differ from the listed ones, after all tries
     */
    long come() throws IOException, InterruptedException {
        if (hash == null) {
            // A part left by a crash may have wrong bytes; without a hash this could not be detected.
            part.discard();
        }
        return flywheel.persist(this::attempt);
    }

    private long attempt() throws IOException, InterruptedException {
        long had = part.sizeBytes();
        boolean resumes = had > 0 && had < file.sizeBytes();
        String query = "?version=%d%s".formatted(file.version(), resumes ? "&view=true" : "");
        try {
            flywheel.exchange(
                    file.path() + query, resumes ? "bytes=%d-".formatted(had) : null, answer -> take(answer, had));
        } catch (DeliveryException e) {
            if (resumes && e.trouble() == Trouble.REJECTED) {
                // The server rejects this range: the next try requests the whole file.
                part.discard();
                throw new DeliveryException(Trouble.TRUNCATED, String.valueOf(e.getMessage()), e);
            }
            throw e;
        }
        return checked();
    }

    private void take(Answer answer, long had) throws IOException {
        boolean isRest = answer.status() == 206;
        String rest = "bytes %d-%d/%d".formatted(had, file.sizeBytes() - 1, file.sizeBytes());
        if (isRest && !rest.equals(answer.header("Content-Range").orElse(""))) {
            part.discard();
            throw new DeliveryException(Trouble.TRUNCATED, "the server returned another range than the requested one");
        }
        digest = hash == null ? null : hash.fresh();
        if (digest != null && isRest) {
            Part.digest(part.path(), digest);
        }
        try (InputStream body = answer.body(SIZE_UNKNOWN_BYTES_MAX)) {
            part.take(digest == null ? body : new DigestInputStream(body, digest), isRest ? had : 0, file.sizeBytes());
        }
    }

    private long checked() throws DeliveryException {
        long bytes = part.sizeBytes();
        if (bytes < file.sizeBytes()) {
            throw new DeliveryException(
                    Trouble.TRUNCATED, "received %d bytes, expected %d".formatted(bytes, file.sizeBytes()));
        }
        if (hash != null && (digest == null || !hash.is(digest.digest()))) {
            throw new DeliveryException(Trouble.HASH_DIFFERS, "%s mismatch".formatted(hash.algorithm()));
        }
        return bytes;
    }

    /** Returns whether an existing file has these bytes; always false without a hash. */
    static boolean isAt(Path end, HeldFile file) throws IOException {
        TheirHash hash = TheirHash.of(file.hash()).orElse(null);
        return hash != null
                && Files.isRegularFile(end, LinkOption.NOFOLLOW_LINKS)
                && Files.size(end) == file.sizeBytes()
                && hash.is(Part.digest(end, hash.fresh()).digest());
    }
}
