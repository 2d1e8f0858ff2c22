package dozo.registry;

import dozo.remote.Identity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

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

    /** Writes the new file of another key of the service, for its owner only. */
    public static void write(Path file, String text) throws IOException {
        // Under another name first: a process that dies meanwhile must not leave half a key.
        Path part = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(part);
        Files.createFile(part, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(part, text, StandardOpenOption.WRITE, StandardOpenOption.DSYNC);
        Files.move(part, file);
    }
}
