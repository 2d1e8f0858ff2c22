package dozo.source.flywheel;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.source.delivery.Answer;
import dozo.source.delivery.Delivered;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Fetching;
import dozo.source.delivery.ItemFolder;
import dozo.source.delivery.Part;
import dozo.source.delivery.Reread;
import dozo.source.delivery.SpoolName;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Downloads the files of a session or project into its folder. A download succeeds if size and hash are as Flywheel lists them.
 * The part left by a failed try is continued if the server returns exactly the rest.
 */
final class Downloads implements Fetching<HeldFile> {

    /** The note in each line of the record; Flywheel needs none. */
    static final String NOTE = "-";

    /** The limit for files of unknown size. */
    private static final long SIZE_UNKNOWN_BYTES_MAX = 1L << 44;

    private final Flywheel flywheel;
    private final ItemFolder home;
    private final Map<String, FilePath> paths = new HashMap<>();

    Downloads(Flywheel flywheel, ItemFolder home, List<HeldFile> files) {
        this.flywheel = flywheel;
        this.home = home;
        Map<FilePath, String> taken = new HashMap<>();
        Map<String, FilePath> folders = new HashMap<>();
        for (Delivered.Entry place : home.delivered().places()) {
            FilePath above = place.path().parent();
            taken.put(place.path(), place.id());
            folders.put(SpoolName.idOf(above), above);
        }
        for (HeldFile file : files) {
            FilePath path = home.delivered()
                    .of(file.id())
                    .map(Delivered.Entry::path)
                    .orElseGet(() -> path(file, folders, taken));
            taken.put(path, file.id());
            paths.put(file.id(), path);
        }
    }

    private static FilePath path(HeldFile file, Map<String, FilePath> folders, Map<FilePath, String> taken) {
        Container container = file.container();
        FilePath folder = container.level() == Level.SESSION || container.level() == Level.PROJECT
                ? FilePath.of("files")
                : folders.computeIfAbsent(
                        container.id(),
                        id -> FilePath.of(container.level().plural()).resolve(SpoolName.folder(container.label(), id)));
        FilePath path = folder.resolve(SpoolName.file(file.name(), file.id()));
        String owner = taken.get(path);
        return owner == null || owner.equals(file.id()) ? path : folder.resolve(SpoolName.twin(file.name(), file.id()));
    }

    @Override
    public Arrived fetch(HeldFile file, Part part) throws IOException, InterruptedException {
        FilePath path = Objects.requireNonNull(paths.get(file.id()));
        TheirHash hash = TheirHash.of(file.hash()).orElse(null);
        // The last delivery was killed after naming the file and before recording it.
        if (hash != null && isAt(home.at(path), file, hash)) {
            part.discard();
            return () -> place(file, file.sizeBytes(), path);
        }
        if (hash == null) {
            // A part left by a crash may have wrong bytes; without a hash this could not be detected.
            part.discard();
        }
        long bytes = flywheel.persist(() -> attempt(file, hash, part));
        return () -> {
            home.name(part, path);
            return place(file, bytes, path);
        };
    }

    private static Delivered.Entry place(HeldFile file, long bytes, FilePath path) {
        return new Delivered.Entry(file.id(), file.mark(), bytes, NOTE, path);
    }

    /** Returns whether an existing file has these bytes. */
    private static boolean isAt(Path end, HeldFile file, TheirHash hash) throws IOException {
        return Files.isRegularFile(end, LinkOption.NOFOLLOW_LINKS)
                && Files.size(end) == file.sizeBytes()
                && hash.is(Part.digest(end, hash.fresh()).digest());
    }

    /** Downloads the listed version of a file, and keeps nothing of it. */
    static Reread reread(Flywheel flywheel, HeldFile file) throws IOException, InterruptedException {
        TheirHash hash = TheirHash.of(file.hash()).orElse(null);
        String path = "%s?version=%d".formatted(file.path(), file.version());
        return flywheel.persist(() -> flywheel.exchange(path, null, answer -> {
            MessageDigest content = Digest.algorithm();
            MessageDigest theirs = hash == null ? Digest.algorithm() : hash.fresh();
            try (InputStream body = answer.body(SIZE_UNKNOWN_BYTES_MAX)) {
                long bytes = Reread.digest(answer, body, file.sizeBytes(), content, theirs);
                return new Reread(Digest.of(content.digest()), hash == null ? null : hash.is(theirs.digest()), bytes);
            }
        }));
    }

    private long attempt(HeldFile file, @Nullable TheirHash hash, Part part) throws IOException, InterruptedException {
        long had = part.sizeBytes();
        boolean resumes = had > 0 && had < file.sizeBytes();
        String query = "?version=%d%s".formatted(file.version(), resumes ? "&view=true" : "");
        String range = resumes ? "bytes=%d-".formatted(had) : null;
        byte[] digest;
        try {
            digest = flywheel.exchange(file.path() + query, range, answer -> take(answer, file, hash, part, had));
        } catch (DeliveryException e) {
            if (resumes && e.trouble() == Trouble.REJECTED) {
                // The server rejects this range: the next try requests the whole file.
                part.discard();
                throw new DeliveryException(Trouble.TRUNCATED, String.valueOf(e.getMessage()), e);
            }
            throw e;
        }
        long bytes = part.sizeBytes();
        if (bytes < file.sizeBytes()) {
            throw new DeliveryException(
                    Trouble.TRUNCATED, "received %d bytes, expected %d".formatted(bytes, file.sizeBytes()));
        }
        if (hash != null && !hash.is(digest)) {
            throw new DeliveryException(Trouble.HASH_DIFFERS, "%s mismatch".formatted(hash.algorithm()));
        }
        return bytes;
    }

    /** Writes the answer's bytes; returns the digest of the whole file, or an empty array without a hash. */
    private static byte[] take(Answer answer, HeldFile file, @Nullable TheirHash hash, Part part, long had)
            throws IOException {
        boolean isRest = answer.status() == 206;
        String rest = "bytes %d-%d/%d".formatted(had, file.sizeBytes() - 1, file.sizeBytes());
        if (isRest && !rest.equals(answer.header("Content-Range").orElse(""))) {
            part.discard();
            throw new DeliveryException(Trouble.TRUNCATED, "the server returned another range than the requested one");
        }
        MessageDigest digest = hash == null ? null : hash.fresh();
        if (digest != null && isRest) {
            Part.digest(part.path(), digest);
        }
        try (InputStream body = answer.body(SIZE_UNKNOWN_BYTES_MAX)) {
            part.take(digest == null ? body : new DigestInputStream(body, digest), isRest ? had : 0, file.sizeBytes());
        }
        return digest == null ? new byte[0] : digest.digest();
    }
}
