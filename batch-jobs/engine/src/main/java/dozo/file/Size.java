package dozo.file;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sizes as people read and type them: powers of 1,000 as in {@code kB, MB, GB}, of 1,024 as in {@code KiB, MiB, GiB}
 * (IEC 80000-13).
 */
public final class Size {

    private static final String[] UNITS = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    private static final String PREFIXES = "kmgtpe";
    private static final Pattern TYPED = Pattern.compile("([0-9]{1,15}(?:\\.[0-9]{1,6})?) ?([kmgtpe]?)(i?)b");

    private Size() {}

    /**
     * Formats a size such as {@code "917 B"}, {@code "1.2 GB"} or {@code "48 TB"}: rounded down, so that it never shows
     * more than there is.
     */
    public static String text(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("size must not be negative: " + bytes);
        }
        int unit = 0;
        long whole = bytes;
        long rest = 0;
        while (whole >= 1000) {
            rest = whole % 1000;
            whole /= 1000;
            unit++;
        }
        return whole < 10 && unit > 0
                ? "%d.%d %s".formatted(whole, rest / 100, UNITS[unit])
                : "%d %s".formatted(whole, UNITS[unit]);
    }

    /** Formats a planned size such as {@code "1.3 GB"} or {@code "335 TB"}: rounded half up to the digits shown. */
    public static String planned(long bytes) {
        int unit = 0;
        double shown = (double) bytes;
        // NB: 999.6 MB is 1.0 GB, not 1000 MB.
        while (Math.round(shown) >= 1000 && unit < UNITS.length - 1) {
            shown /= 1000;
            unit++;
        }
        return unit > 0 && Math.round(shown * 10) < 100
                ? String.format(Locale.ROOT, "%.1f %s", shown, UNITS[unit])
                : "%d %s".formatted(Math.round(shown), UNITS[unit]);
    }

    /**
     * Parses bytes with a unit, such as {@code 512kB}, {@code 1.5GB} or {@code 64MiB}; empty if the text has another
     * form, or exceeds a long.
     */
    public static Optional<Long> typed(String text) {
        Matcher parts = TYPED.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!parts.matches() || (parts.group(2).isEmpty() && !parts.group(3).isEmpty())) {
            return Optional.empty();
        }
        BigInteger bytes = scaled(
                        parts.group(1), parts.group(2), !parts.group(3).isEmpty())
                .toBigInteger();
        return bytes.bitLength() < Long.SIZE ? Optional.of(bytes.longValue()) : Optional.empty();
    }

    /**
     * Returns a number of units.
     *
     * @param number in decimal digits, with a point or without
     * @param prefix of the unit: one of {@code kmgtpe}, or empty
     * @param binary in powers of 1,024, not of 1,000
     */
    public static BigDecimal scaled(String number, String prefix, boolean binary) {
        int power = prefix.isEmpty() ? 0 : PREFIXES.indexOf(prefix) + 1;
        return new BigDecimal(number)
                .multiply(BigDecimal.valueOf(binary ? 1024 : 1000).pow(power));
    }
}
