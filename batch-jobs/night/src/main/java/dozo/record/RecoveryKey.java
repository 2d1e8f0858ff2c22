package dozo.record;

import com.exceptionfactory.jagged.x25519.X25519KeyPairGenerator;
import dozo.registry.KeyFile;
import dozo.registry.Refusal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The service's own key for records of the catalogue, in a file as {@code age-keygen} writes it. Created by a
 * service that starts; only its file has the private part. The file is read each time, so that a key that was lost or replaced
 * is noticed at once.
 */
public final class RecoveryKey {

    private static final Pattern SECRET = Pattern.compile("^AGE-SECRET-KEY-1[0-9A-Z]+\\s*$", Pattern.MULTILINE);
    private static final Pattern PUBLIC = Pattern.compile("^# public key: (age1[0-9a-z]+)\\s*$", Pattern.MULTILINE);
    private static final byte[] ANY = "any".getBytes(StandardCharsets.US_ASCII);

    private final Path file;

    /**
     * Creates nothing yet.
     *
     * @param file in a folder that only one service uses
     */
    public RecoveryKey(Path file) {
        this.file = file.toAbsolutePath().normalize();
    }

    /** Returns where the private key is. */
    public Path file() {
        return file;
    }

    /** Creates the key unless something has its name. */
    public synchronized void create() {
        KeyFile.create(file, RecoveryKey::fresh);
    }

    /**
     * Returns the public key, and creates nothing.
     *
     * @throws Refusal if the file is missing, or is not a key
     */
    public String published() {
        KeyFile.checkThere(file);
        try {
            return read(file);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the recovery key in " + file, e);
        }
    }

    /**
     * Returns the public key before this one, while it is kept.
     *
     * @throws Refusal if its file is there, but is not a key
     */
    Optional<String> former() {
        try {
            return KeyFile.isFormerThere(file) ? Optional.of(read(KeyFile.former(file))) : Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the recovery key before " + file, e);
        }
    }

    /** Returns the private keys in the text of such a file. */
    static List<String> identities(String text) {
        return SECRET.matcher(text)
                .results()
                .map(found -> found.group().strip())
                .toList();
    }

    private static String fresh() {
        try {
            KeyPair key = new X25519KeyPairGenerator().generateKeyPair();
            return "# public key: %s\n%s\n".formatted(key.getPublic(), key.getPrivate());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has X25519", e);
        }
    }

    private static String read(Path file) throws IOException {
        String text = Files.readString(file, StandardCharsets.ISO_8859_1);
        Matcher recipient = PUBLIC.matcher(text);
        if (recipient.find() && fits(recipient.group(1), identities(text))) {
            return recipient.group(1);
        }
        throw Refusal.conflict(
                "key",
                "the file %s in the service's work folder is not a usable recovery key; restore it from your safe, or move it away to get a new key",
                file.getFileName());
    }

    private static boolean fits(String recipient, List<String> identities) {
        if (!Age.isRecipient(recipient)) {
            return false;
        }
        ByteArrayOutputStream encrypted = new ByteArrayOutputStream();
        try {
            try (OutputStream out = Age.encrypting(encrypted, List.of(recipient))) {
                out.write(ANY);
            }
            Age.decrypting(new ByteArrayInputStream(encrypted.toByteArray()), identities)
                    .close();
            return true;
        } catch (GeneralSecurityException | IOException | RuntimeException unusable) {
            // Its message might contain key material.
            return false;
        }
    }
}
