package dozo.registry;

import static java.util.Objects.requireNonNull;

import dozo.remote.HostKey;
import dozo.remote.Identity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The service's own key, with which it logs in at sites that are registered without another. Created by a service that
 * starts, or when a site needs it; only its file has the private key.
 */
public final class SiteKey {

    private final Path file;

    /**
     * Creates nothing yet.
     *
     * @param file in a folder that only one service uses
     */
    public SiteKey(Path file) {
        this.file = file.toAbsolutePath().normalize();
    }

    /** Returns the file for the private key, which may not exist yet. */
    public Path file() {
        return file;
    }

    /** Returns the file with the private key. Creates the key unless something has its name. */
    public synchronized Path created() {
        try {
            if (Files.notExists(file)) {
                Identity.create(file, "Dozo");
            }
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot create a private key in " + file, e);
        }
    }

    /**
     * Returns the public key, as a line for the {@code authorized_keys} of the user at the site.
     *
     * @throws Refusal if the file is missing
     */
    public String publicKey() {
        checkThere(file);
        try {
            return String.join("\n", Identity.publicKeys(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Refuses to read a key of the service whose file is missing: reading must not create another one. */
    public static void checkThere(Path file) {
        if (Files.notExists(file)) {
            throw Refusal.conflict(
                    "key",
                    "the file %s is missing from the service's work folder; restore it from a backup, or restart the service to get a new key",
                    file.getFileName());
        }
    }

    /** Two keys by what people identify them with; never their private parts. */
    public record Change(String before, String now) {}

    /** Returns the fingerprint of the present key, as {@code ssh-keygen -l} prints it. */
    public String fingerprint() {
        return new HostKey(publicKey()).fingerprint();
    }

    /**
     * Puts a new key in the place of this one. Both are offered to the sites until {@link #drop}.
     *
     * @param told gets the fingerprints before anything is changed; if it fails, nothing is
     * @throws Refusal if the file is missing, or the key before this one is still there
     */
    synchronized void replace(Consumer<Change> told) {
        checkAlone(file);
        Path next = file.resolveSibling(file.getFileName() + ".next");
        try {
            Files.deleteIfExists(next);
            Identity.create(next, "Dozo");
            try {
                told.accept(new Change(fingerprint(), new SiteKey(next).fingerprint()));
                replace(file, text(next), text(file));
            } finally {
                Files.delete(next);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot replace the private key in " + file, e);
        }
    }

    private static String text(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.ISO_8859_1);
    }

    /** Returns the file beside that of a key for what is kept of the key before it. */
    public static Path former(Path file) {
        return Identity.former(file);
    }

    /** Refuses to replace a key of the service that is missing, or whose former one is still there. */
    public static void checkAlone(Path file) {
        checkThere(file);
        if (isFormerThere(file)) {
            throw Refusal.conflict("key", "the key before %s is still in use; drop it first", file.getFileName());
        }
    }

    /** Returns whether another key, the former one, is beside this one. An interrupted rotation leaves the same one there. */
    public static boolean isFormerThere(Path file) {
        Path former = Identity.former(file);
        try {
            return Files.exists(former) && (Files.notExists(file) || Files.mismatch(former, file) >= 0);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot compare %s with the key before it".formatted(file), e);
        }
    }

    /**
     * Removes the key before this one.
     *
     * @throws Refusal if there is none
     */
    public static void drop(Path file) {
        try {
            if (!Files.deleteIfExists(Identity.former(file))) {
                throw Refusal.conflict("key", "there is no key before %s", file.getFileName());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove the key before " + file, e);
        }
    }

    /** Writes the new file of another key of the service, for its owner only. */
    public static void write(Path file, String text) throws IOException {
        Files.move(written(file, text), file);
    }

    /**
     * Replaces the file of a key, and the one beside it for what is kept of the former key. Each is whole at every moment, and the
     * former one is written first.
     */
    public static void replace(Path file, String text, String former) throws IOException {
        for (Map.Entry<Path, String> each : List.of(Map.entry(Identity.former(file), former), Map.entry(file, text))) {
            Files.move(written(each.getKey(), each.getValue()), each.getKey(), StandardCopyOption.ATOMIC_MOVE);
            try (FileChannel folder = FileChannel.open(requireNonNull(file.getParent()))) {
                folder.force(true);
            }
        }
    }

    private static Path written(Path file, String text) throws IOException {
        // Under another name first: a process that dies meanwhile must not leave half a key.
        Path part = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(part);
        Files.createFile(part, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(part, text, StandardCharsets.ISO_8859_1, StandardOpenOption.WRITE, StandardOpenOption.DSYNC);
        return part;
    }
}
