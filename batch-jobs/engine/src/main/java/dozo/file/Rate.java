package dozo.file;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Rates as people write them. */
public final class Rate {

    /** What {@link #typed} accepts, for messages. */
    public static final String ACCEPTED = "bytes per second such as 250000, 10M, 10MB, 1.5GB, 16MiB or 800Mbit";

    private static final Pattern TYPED =
            Pattern.compile("([0-9]{1,15}(?:\\.[0-9]{1,6})?) ?([kmgt]?)(i?)(b|bit|bps)?(?:/s)?");
    private static final BigDecimal BITS = BigDecimal.valueOf(8);
    private static final String[] UNITS = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};

    private Rate() {}

    /**
     * Parses bytes or bits a second, such as {@code 10M}, {@code 1.5GB}, {@code 16MiB}, {@code 800 Mbit/s}; returns bytes
     * a second. Empty if the text has another form, is less than one byte a second, or exceeds a long.
     */
    public static Optional<Long> typed(String text) {
        Matcher parts = TYPED.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!parts.matches() || (!parts.group(3).isEmpty() && parts.group(2).isEmpty())) {
            return Optional.empty();
        }
        boolean bits = parts.group(4) != null && !parts.group(4).equals("b");
        BigInteger bytes = Size.scaled(
                        parts.group(1), parts.group(2), !parts.group(3).isEmpty())
                .divide(bits ? BITS : BigDecimal.ONE)
                .toBigInteger();
        return bytes.signum() > 0 && bytes.bitLength() < Long.SIZE ? Optional.of(bytes.longValue()) : Optional.empty();
    }

    /** Returns bytes a second as bits a second without rounding, such as {@code 500 Mbit/s}, as networks are described. */
    public static String text(long bytesPerSecond) {
        BigDecimal shown = BigDecimal.valueOf(bytesPerSecond).multiply(BITS);
        int unit = 0;
        while (unit < UNITS.length - 1 && shown.compareTo(BigDecimal.valueOf(1000)) >= 0) {
            shown = shown.movePointLeft(3);
            unit++;
        }
        return shown.stripTrailingZeros().toPlainString() + " " + UNITS[unit];
    }
}
