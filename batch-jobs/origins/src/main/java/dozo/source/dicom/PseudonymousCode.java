package dozo.source.dicom;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Turns a patient's ID into the subject's code. The same ID always gives the same code, whether it is in a file's
 * header, a booking or a CSV cell. Without the key the ID cannot be found from the code, not even by trying all IDs.
 * Safe for use by several threads.
 */
public final class PseudonymousCode {

    /** The shortest key, in bytes. */
    public static final int KEY_BYTES_MIN = 24;

    /** The form of a code, unlike any ID that a person or a machine would give. */
    public static final Pattern FORM = Pattern.compile("S[0-9A-V]{16}");

    private static final String ALGORITHM = "HmacSHA256";
    /** 80 bits: among a million subjects, the chance that two have the same code is 1 in 10^12. */
    private static final int CODE_BYTES = 10;

    private static final int DIGITS = 16;

    private final SecretKeySpec key;

    /**
     * Creates codes with a key; other keys give other codes.
     *
     * @throws IllegalArgumentException if the key has less than {@link #KEY_BYTES_MIN} bytes
     */
    public PseudonymousCode(byte[] key) {
        if (key.length < KEY_BYTES_MIN) {
            throw new IllegalArgumentException("is shorter than %d bytes".formatted(KEY_BYTES_MIN));
        }
        this.key = new SecretKeySpec(key, ALGORITHM);
    }

    /**
     * Returns the subject's code. White space around the ID and full-width letters or digits make no difference.
     *
     * @return empty for an ID without letters and digits, such as {@code ***}: it identifies nobody
     */
    public Optional<String> of(@Nullable String patientId) {
        String id = patientId == null
                ? ""
                : Normalizer.normalize(patientId, Normalizer.Form.NFKC).strip();
        if (id.codePoints().noneMatch(Character::isLetterOrDigit)) {
            return Optional.empty();
        }
        byte[] code = Arrays.copyOf(digest(id), CODE_BYTES);
        String digits = new BigInteger(1, code).toString(32).toUpperCase(Locale.ROOT);
        return Optional.of("S" + "0".repeat(DIGITS - digits.length()) + digits);
    }

    private byte[] digest(String id) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return mac.doFinal(id.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
