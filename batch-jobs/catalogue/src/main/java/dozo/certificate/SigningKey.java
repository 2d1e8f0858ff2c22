package dozo.certificate;

import dozo.file.Digest;
import dozo.registry.KeyFile;
import dozo.registry.Refusal;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The service's own key for certificates: Ed25519. Created by a service that starts; only its file has the private key.
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
        KeyFile.create(file, SigningKey::fresh);
    }

    /**
     * Returns the key pair, and creates nothing.
     *
     * @throws Refusal if the file is missing, or is not a key pair
     */
    KeyPair published() {
        KeyFile.checkThere(file);
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
     * Returns a line in which each of two keys signs that the second one follows: whoever trusts one of them can trust the other.
     * {@code docs/check_certificate.py} goes from one to the other by it.
     */
    static String succession(KeyPair before, KeyPair now, Instant at) {
        HexFormat hex = HexFormat.of();
        String order = "%s %s %s"
                .formatted(
                        hex.formatHex(before.getPublic().getEncoded()),
                        hex.formatHex(now.getPublic().getEncoded()),
                        at);
        byte[] message = "Dozo key 1\n%s\n".formatted(order).getBytes(StandardCharsets.US_ASCII);
        return "Dozo-Key: %s %s %s"
                .formatted(order, hex.formatHex(sign(before, message)), hex.formatHex(sign(now, message)));
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

    /** Returns the SHA-256 of the public key in DER, with which people identify it. */
    static String fingerprint(KeyPair key) {
        return Digest.ofContent(key.getPublic().getEncoded()).toString();
    }

    /** Returns a public key in PEM, as OpenSSL reads it. */
    static String pem(PublicKey key) {
        return pem(PUBLIC, key.getEncoded());
    }

    private static String fresh() {
        try {
            KeyPair key = KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair();
            return pem(PRIVATE, key.getPrivate().getEncoded()) + pem(key.getPublic());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
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
