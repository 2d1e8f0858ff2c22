package dozo.source.flywheel;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A hash as Flywheel writes it: {@code v0-sha384-} and 96 hexadecimal digits. */
record TheirHash(String algorithm, String hex) {

    private static final Pattern FORM = Pattern.compile("v0-sha(256|384|512)-([0-9a-f]{64,128})");

    /** Parses a hash; empty if there is none, or if its form is unknown: it then proves nothing. */
    static Optional<TheirHash> of(@Nullable String text) {
        Matcher matcher = FORM.matcher(text == null ? "" : text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        TheirHash hash = new TheirHash("SHA-" + matcher.group(1), matcher.group(2));
        return hash.fresh().getDigestLength() * 2 == hash.hex.length() ? Optional.of(hash) : Optional.empty();
    }

    MessageDigest fresh() {
        try {
            return MessageDigest.getInstance(algorithm);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has the SHA-2 family", e);
        }
    }

    boolean is(byte[] digest) {
        return hex.equals(HexFormat.of().formatHex(digest));
    }
}
