package dozo.registry;

import dozo.remote.HostKey;
import dozo.remote.Identity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

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
        KeyFile.checkThere(file);
        try {
            return String.join("\n", Identity.publicKeys(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the fingerprint of the present key, as {@code ssh-keygen -l} prints it. */
    public String fingerprint() {
        return new HostKey(publicKey()).fingerprint();
    }
}
