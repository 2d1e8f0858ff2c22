package dozo.registry;

import dozo.remote.Identity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The service's own key, with which it logs in at sites that are registered without another. Created when it is first
 * asked for; only its file has the private key.
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

    /** Returns the file with the private key. */
    public synchronized Path file() {
        try {
            if (Files.notExists(file)) {
                Identity.create(file, "Dozo");
            }
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot create a private key in " + file, e);
        }
    }

    /** Returns the public key, as a line for the {@code authorized_keys} of the user at the site. */
    public String publicKey() {
        try {
            return String.join("\n", Identity.publicKeys(file()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
