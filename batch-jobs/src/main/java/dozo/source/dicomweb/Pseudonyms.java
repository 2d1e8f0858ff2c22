package dozo.source.dicomweb;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Codes that stand for patients: the same for the same PatientID, and of no use for finding it without the secret. The code is
 * {@code s} and the first 60 bits of HMAC-SHA-256 over the PatientID's UTF-8, without white space around it, in twelve characters of
 * {@code abcdefghijklmnopqrstuvwxyz234567}.
 */
public final class Pseudonyms {

    private static final String ALGORITHM = "HmacSHA256";
    private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
    private static final int CODE_LENGTH = 12;
    private static final int SECRET_BYTES_MIN = 32;
    private static final int SECRET_BYTES_MAX = 4_096;

    private final SecretKeySpec secret;

    private Pseudonyms(byte[] secret) {
        this.secret = new SecretKeySpec(secret, ALGORITHM);
    }

    /**
     * With the secret in a file: all of its bytes, 32 to 4,096.
     *
     * @throws IllegalArgumentException if it is shorter or longer
     */
    public static Pseudonyms withSecretIn(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(SECRET_BYTES_MAX + 1);
            if (bytes.length < SECRET_BYTES_MIN || bytes.length > SECRET_BYTES_MAX) {
                throw new IllegalArgumentException(
                        "the secret's file has %d to %d bytes".formatted(SECRET_BYTES_MIN, SECRET_BYTES_MAX));
            }
            return new Pseudonyms(bytes);
        }
    }

    /** The code of a patient; none for an empty PatientID, which is nobody's. */
    public Optional<String> code(String patientId) {
        String stripped = patientId.strip();
        if (stripped.isEmpty()) {
            return Optional.empty();
        }
        byte[] mac = mac(stripped);
        StringBuilder code = new StringBuilder("s");
        for (int i = 0; i < CODE_LENGTH; i++) {
            code.append(ALPHABET.charAt(fiveBits(mac, i * 5)));
        }
        return Optional.of(code.toString());
    }

    private byte[] mac(String text) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
    }

    private static int fiveBits(byte[] bytes, int from) {
        int two = ((bytes[from / 8] & 0xFF) << 8) | (bytes[from / 8 + 1] & 0xFF);
        return (two >> (11 - from % 8)) & 0x1F;
    }
}
