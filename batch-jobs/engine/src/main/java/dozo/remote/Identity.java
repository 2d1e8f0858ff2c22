package dozo.remote;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.sshd.common.NamedResource;
import org.apache.sshd.common.config.keys.FilePasswordProvider;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.OpenSshCertificate;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.config.keys.PublicKeyEntryResolver;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyPairResourceWriter;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.common.util.security.SecurityUtils;

/** A file with a private key. */
public final class Identity {

    /** Longer than any private key. */
    private static final int BYTES_MAX = 64 << 10;

    private static final String OPENSSH = "-----BEGIN OPENSSH PRIVATE KEY-----";

    /** The beginning of an OpenSSH key without a passphrase: the names of the format and of its cipher. */
    private static final byte[] OPENSSH_PLAIN = "openssh-key-v1\0\0\0\0\4none".getBytes(StandardCharsets.ISO_8859_1);

    /** The key pairs of files with a passphrase that somebody has typed. */
    private static final Map<Path, List<KeyPair>> UNLOCKED = new ConcurrentHashMap<>();

    private Identity() {}

    /**
     * Creates an Ed25519 key without a passphrase, in a file that only its owner may read.
     *
     * @param comment describes the key, for example where it is used
     * @throws java.nio.file.FileAlreadyExistsException if something has this name
     */
    public static void create(Path file, String comment) throws IOException {
        // Under another name first: a process that dies meanwhile must not leave half a key.
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(fresh);
        Files.createFile(fresh, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try (OutputStream out = Files.newOutputStream(fresh, StandardOpenOption.WRITE, StandardOpenOption.DSYNC)) {
            KeyPair pair = KeyUtils.generateKeyPair(KeyPairProvider.SSH_ED25519, 256);
            OpenSSHKeyPairResourceWriter.INSTANCE.writePrivateKey(pair, comment, null, out);
        } catch (GeneralSecurityException e) {
            throw new IOException("no key can be created for " + file, e);
        }
        Files.move(fresh, file);
    }

    /** Returns the file of the key before this one. While it is there, logins offer both. */
    public static Path former(Path file) {
        return file.resolveSibling(file.getFileName() + ".old");
    }

    /**
     * Decrypts the key in a file, for this process.
     *
     * @throws IOException if it is another passphrase, or no key
     */
    public static void unlock(Path file, String passphrase) throws IOException {
        List<KeyPair> pairs = keyPairs(file, FilePasswordProvider.of(passphrase));
        if (pairs.isEmpty()) {
            throw new IOException("no private key in " + file);
        }
        UNLOCKED.put(file, pairs);
    }

    /** Returns the key pairs in a file; none if all have a passphrase that nobody has typed. */
    public static List<KeyPair> keyPairs(Path file) throws IOException {
        List<KeyPair> unlocked = UNLOCKED.get(file);
        return unlocked != null ? unlocked : keyPairs(file, FilePasswordProvider.EMPTY);
    }

    private static List<KeyPair> keyPairs(Path file, FilePasswordProvider passphrase) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            Iterable<KeyPair> found =
                    SecurityUtils.loadKeyPairIdentities(null, NamedResource.ofName("our key"), in, passphrase);
            List<KeyPair> pairs = new ArrayList<>();
            if (found != null) {
                found.forEach(pairs::add);
            }
            return pairs;
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            throw new IOException("no private key can be read from " + file, e);
        }
    }

    /**
     * Returns the public key beside a private one, in {@code FILE.pub}, or the certificate in {@code FILE-cert.pub}; empty if it is
     * missing or cannot be used.
     *
     * @param ending {@code .pub} or {@code -cert.pub}
     */
    public static Optional<PublicKey> beside(Path file, String ending) {
        Path beside = file.resolveSibling(file.getFileName() + ending);
        try {
            return Files.exists(beside)
                    ? Optional.of(
                            PublicKeyEntry.parsePublicKeyEntry(Files.readString(beside, StandardCharsets.ISO_8859_1)
                                            .strip())
                                    .resolvePublicKey(null, Map.of(), PublicKeyEntryResolver.IGNORING))
                    : Optional.empty();
        } catch (IOException | GeneralSecurityException | RuntimeException unusable) {
            return Optional.empty();
        }
    }

    /** Returns these key pairs of a file, those with a certificate before them. */
    static List<KeyPair> certified(Path file, List<KeyPair> pairs) {
        List<KeyPair> all = new ArrayList<>();
        if (beside(file, "-cert.pub").orElse(null) instanceof OpenSshCertificate certificate) {
            pairs.stream()
                    .filter(pair -> KeyUtils.compareKeys(pair.getPublic(), certificate.getCertPubKey()))
                    .forEach(pair -> all.add(new KeyPair(certificate, pair.getPrivate())));
        }
        all.addAll(pairs);
        return all;
    }

    /** Returns the public keys of the private keys in a file, as lines for {@code authorized_keys}. */
    public static List<String> publicKeys(Path file) throws IOException {
        return keyPairs(file).stream()
                .map(pair -> PublicKeyEntry.toString(pair.getPublic()))
                .toList();
    }

    /**
     * Returns whether this user's key can be read or written by others. As in OpenSSH, the key of another user may be:
     * containers mount such keys.
     */
    public static boolean isOpen(Path file) throws IOException {
        PosixFileAttributes about = Files.readAttributes(file, PosixFileAttributes.class);
        return about.owner().getName().equals(System.getProperty("user.name"))
                && !PosixFilePermissions.fromString("rwx------").containsAll(about.permissions());
    }

    /** Returns whether the key in this file has a passphrase that nobody has typed. A service cannot use such a key. */
    public static boolean isEncrypted(Path file) throws IOException {
        if (UNLOCKED.containsKey(file)) {
            return false;
        }
        String text;
        try (InputStream in = Files.newInputStream(file)) {
            text = new String(in.readNBytes(BYTES_MAX), StandardCharsets.ISO_8859_1);
        }
        int start = text.indexOf(OPENSSH);
        if (start < 0) {
            return text.contains("ENCRYPTED");
        }
        int end = text.indexOf("-----END", start);
        String body = text.substring(start + OPENSSH.length(), end < 0 ? text.length() : end);
        byte[] key = Base64.getMimeDecoder().decode(body);
        return key.length > OPENSSH_PLAIN.length
                && !Arrays.equals(key, 0, OPENSSH_PLAIN.length, OPENSSH_PLAIN, 0, OPENSSH_PLAIN.length);
    }
}
