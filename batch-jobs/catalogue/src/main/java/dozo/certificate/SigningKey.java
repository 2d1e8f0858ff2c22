package dozo.certificate;

import dozo.file.Digest;
import dozo.registry.Refusal;
import dozo.registry.SiteKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The service's own key for certificates: Ed25519. Created by a service that starts, or when it is needed; only its file
 * has the private key.
 * The file is read each time, so that a key that was lost or replaced is noticed at once.
 */
public final class SigningKey {

    private static final String ALGORITHM = "Ed25519";
    private static final String PRIVATE = "PRIVATE KEY";
    private static final String PUBLIC = "PUBLIC KEY";
    private static final byte[] ANY = "any".getBytes(StandardCharsets.US_ASCII);

    private final Path file;

    /**
     * Creates nothing yet.
     *
     * @param file in a folder that only one service uses
     */
    public SigningKey(Path file) {
        this.file = file.toAbsolutePath().normalize();
    }

    /** Returns where the private key is. */
    public Path file() {
        return file;
    }

    /** Creates the key unless something has its name. */
    public synchronized void create() {
        try {
            if (Files.notExists(file)) {
                SiteKey.write(file, text(fresh()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot create the signing key in " + file, e);
        }
    }

    /**
     * Returns the key pair. Creates it if the file is missing.
     *
     * @throws Refusal if the file is there, but is not a key pair: a new key must not hide that the old one is lost
     */
    synchronized KeyPair pair() {
        create();
        return published();
    }

    /**
     * Returns the key pair, and creates nothing.
     *
     * @throws Refusal if the file is missing, or is not a key pair
     */
    KeyPair published() {
        SiteKey.checkThere(file);
        try {
            return read();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the signing key in " + file, e);
        }
    }

    /**
     * Returns the public key in PEM, and creates nothing.
     *
     * @throws Refusal if the file is missing, or is not a key pair
     */
    public String publicText() {
        return pem(published().getPublic());
    }

    /**
     * Puts a new key in the place of this one, whose private part is gone then. Each signs that the new one follows: whoever trusts
     * one of them can trust the other. The line with this is added to the file beside the key's.
     *
     * @param told gets the two keys and the line before anything is changed; if it fails, nothing is
     * @throws Refusal if the file is missing, or is not a key pair
     */
    synchronized void replace(Instant at, Succeeded told) {
        KeyPair before = published();
        KeyPair now = fresh();
        HexFormat hex = HexFormat.of();
        String order = "%s %s %s"
                .formatted(
                        hex.formatHex(before.getPublic().getEncoded()),
                        hex.formatHex(now.getPublic().getEncoded()),
                        at);
        byte[] message = "Dozo key 1\n%s\n".formatted(order).getBytes(StandardCharsets.US_ASCII);
        String line = "Dozo-Key: %s %s %s"
                .formatted(order, hex.formatHex(sign(before, message)), hex.formatHex(sign(now, message)));
        told.accept(before.getPublic(), now.getPublic(), line);
        try {
            SiteKey.replace(
                    file,
                    text(now),
                    Stream.concat(successions().stream(), Stream.of(line)).collect(Collectors.joining("\n", "", "\n")));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot replace the signing key in " + file, e);
        }
    }

    /** Gets a key, the one after it, and the line by which {@code docs/check_certificate.py} goes from one to the other. */
    interface Succeeded {
        void accept(PublicKey before, PublicKey now, String line);
    }

    /** Returns the lines of all keys that this one and those before it have replaced, oldest first. */
    List<String> successions() {
        Path earlier = SiteKey.former(file);
        try {
            return Files.exists(earlier) ? Files.readAllLines(earlier, StandardCharsets.US_ASCII) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the earlier signing keys in " + earlier, e);
        }
    }

    static byte[] sign(KeyPair key, byte[] message) {
        try {
            Signature signature = Signature.getInstance(ALGORITHM);
            signature.initSign(key.getPrivate());
            signature.update(message);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns whether the key, in DER, has signed the message. */
    static boolean isSigned(byte[] publicKey, byte[] message, byte[] signature) {
        try {
            Signature verifier = Signature.getInstance(ALGORITHM);
            verifier.initVerify(KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(publicKey)));
            verifier.update(message);
            return verifier.verify(signature);
        } catch (GeneralSecurityException e) {
            // Not a key, or not a signature: whoever wrote them could not sign.
            return false;
        }
    }

    /** Returns the SHA-256 of a public key in DER, with which people identify it. */
    static Digest fingerprint(PublicKey key) {
        return Digest.ofContent(key.getEncoded());
    }

    /** Returns a public key in PEM, as OpenSSL reads it. */
    static String pem(PublicKey key) {
        return pem(PUBLIC, key.getEncoded());
    }

    private static KeyPair fresh() {
        try {
            return KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
    }

    private static String text(KeyPair key) {
        return pem(PRIVATE, key.getPrivate().getEncoded()) + pem(key.getPublic());
    }

    private KeyPair read() throws IOException {
        String text = Files.readString(file, StandardCharsets.ISO_8859_1);
        try {
            KeyFactory keys = KeyFactory.getInstance(ALGORITHM);
            KeyPair pair = new KeyPair(
                    keys.generatePublic(new X509EncodedKeySpec(der(PUBLIC, text))),
                    keys.generatePrivate(new PKCS8EncodedKeySpec(der(PRIVATE, text))));
            if (isSigned(pair.getPublic().getEncoded(), ANY, sign(pair, ANY))) {
                return pair;
            }
        } catch (GeneralSecurityException | IllegalArgumentException unusable) {
            // Its message might contain key material.
        }
        throw Refusal.conflict(
                "key",
                "the file %s in the service's work folder is not a usable signing key; restore it from a backup, or move it away to get a new key",
                file.getFileName());
    }

    private static String pem(String type, byte[] der) {
        return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
                .formatted(type, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der), type);
    }

    private static byte[] der(String type, String text) {
        Matcher block = Pattern.compile("-----BEGIN %s-----([^-]*)-----END %s-----".formatted(type, type))
                .matcher(text);
        if (!block.find()) {
            throw new IllegalArgumentException("no " + type);
        }
        return Base64.getMimeDecoder().decode(block.group(1));
    }
}
