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
 * Makes of a patient's ID the code by which Dozo knows the subject: the same for the same ID, and without the key nobody comes
 * from the code to the ID, not even by trying all IDs. A file's header, a booking and a CSV cell give the same code. Safe for
 * threads.
 */
public final class PseudonymousCode {

    /** The shortest key, in bytes. */
    public static final int KEY_BYTES_MIN = 24;

    /** How a code looks: never like an ID that a person or a machine would give. */
    public static final Pattern FORM = Pattern.compile("S[0-9A-V]{16}");

    private static final String ALGORITHM = "HmacSHA256";
    /** 80 bits: two of a million subjects meet with a chance of one in 10^12. */
    private static final int CODE_BYTES = 10;

    private static final int DIGITS = 16;

    private final SecretKeySpec key;

    /**
     * Codes by a key; other keys give other codes.
     *
     * @throws IllegalArgumentException when the key has less than {@link #KEY_BYTES_MIN} bytes
     */
    public PseudonymousCode(byte[] key) {
        if (key.length < KEY_BYTES_MIN) {
            throw new IllegalArgumentException("is shorter than %d bytes".formatted(KEY_BYTES_MIN));
        }
        this.key = new SecretKeySpec(key, ALGORITHM);
    }

    /**
     * The subject's code. Space around the ID, and whether letters and digits are full-width, make no difference.
     *
     * @return nothing for an ID without letters and digits, as of {@code ***}: it is nobody's
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
