package dozo.people;

import static java.util.Objects.requireNonNull;

import dozo.registry.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;

/** Which passwords users may choose. */
final class PasswordRules {

    private static final int LENGTH_MIN = 12;

    /** Earlier hashes (bcrypt) allow no more. */
    private static final int BYTES_MAX = 72;

    private static final Set<String> COMMON = common();

    private PasswordRules() {}

    /**
     * Returns the password of the user with this name.
     *
     * @throws Refusal if it is too short, too long or common
     */
    static String checked(String name, String password) {
        if (password.codePointCount(0, password.length()) < LENGTH_MIN
                || password.getBytes(StandardCharsets.UTF_8).length > BYTES_MAX) {
            throw new Refusal(
                    "password",
                    "expected a password of at least %d characters and at most %d bytes",
                    LENGTH_MIN,
                    BYTES_MAX);
        }
        String lower = password.toLowerCase(Locale.ROOT);
        if (lower.contains(name)) {
            throw new Refusal("password", "the password must not contain the user name");
        }
        if (COMMON.contains(lower)) {
            throw new Refusal(
                    "password",
                    "the password is one of the most common ones; expected one that nobody else would choose");
        }
        return password;
    }

    /** Returns the common passwords of the minimum length in the lists of Django and zxcvbn, in lower case. */
    private static Set<String> common() {
        try (InputStream in = requireNonNull(PasswordRules.class.getResourceAsStream("common-passwords"))) {
            return Set.of(new String(in.readAllBytes(), StandardCharsets.US_ASCII).split("\\s+"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
