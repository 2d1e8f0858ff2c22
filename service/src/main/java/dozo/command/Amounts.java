package dozo.command;

import dozo.file.FilePath;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Numbers of bytes as networks count them, in powers of 1,000: how they are typed and how they are told. */
final class Amounts {

    private static final Pattern TYPED =
            Pattern.compile("([0-9]{1,15}(?:\\.[0-9]{1,6})?) ?([kmgt]?)(i?)(b|bit|bps)?(?:/s)?");
    private static final String PREFIXES = "kmgt";
    private static final String[] UNITS = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    private static final int BITS = 8;

    private Amounts() {}

    /** Bytes a second, typed as {@code 10M}, {@code 1.5GB}, {@code 16MiB}, {@code 800Mbit}, {@code 250000}. */
    static long rate(String option, String typed) {
        Matcher parts = TYPED.matcher(typed.strip().toLowerCase(Locale.ROOT));
        boolean understood =
                parts.matches() && (parts.group(3).isEmpty() || !parts.group(2).isEmpty());
        BigInteger bytes = understood ? bytes(parts) : BigInteger.ZERO;
        if (bytes.signum() == 0 || bytes.bitLength() >= Long.SIZE) {
            throw new Failure(
                    Exit.USAGE,
                    "%s %s: bytes a second are accepted as 250000, 10M, 10MB, 1.5GB, 16MiB, 800Mbit"
                            .formatted(option, FilePath.render(RawArgument.typed(typed))));
        }
        return bytes.longValue();
    }

    private static BigInteger bytes(Matcher parts) {
        int power = PREFIXES.indexOf(parts.group(2)) + (parts.group(2).isEmpty() ? 0 : 1);
        BigDecimal unit =
                BigDecimal.valueOf(parts.group(3).isEmpty() ? 1000 : 1024).pow(power);
        boolean bits = parts.group(4) != null && !parts.group(4).equals("b");
        return new BigDecimal(parts.group(1))
                .multiply(unit)
                .divide(BigDecimal.valueOf(bits ? BITS : 1))
                .toBigInteger();
    }

    /** As {@code "917 B"}, {@code "1.2 GB"}, {@code "48 TB"}; cut off, not rounded, so that nothing is told that is not there. */
    static String text(long bytes) {
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
}
