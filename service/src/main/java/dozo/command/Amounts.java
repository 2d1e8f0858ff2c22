package dozo.command;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Numbers of bytes as networks count them, in powers of 1,000: how they are typed and how they are told. */
final class Amounts {

    private static final Pattern TYPED =
            Pattern.compile("([0-9]{1,15}(?:\\.[0-9]{1,6})?) ?([kmgt]?)(i?)(b|bit|bps)?(?:/s)?");
    private static final String PREFIXES = "kmgt";
    private static final String[] UNITS = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    private static final int BITS = 8;

    private Amounts() {}

    /** Bytes a second, as {@code 10M}, {@code 1.5GB}, {@code 16MiB}, {@code 800Mbit}, {@code 250000}. */
    static final class Rate implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            Matcher parts = TYPED.matcher(text.strip().toLowerCase(Locale.ROOT));
            if (!parts.matches() || (!parts.group(3).isEmpty() && parts.group(2).isEmpty())) {
                throw refused(text);
            }
            BigDecimal unit = BigDecimal.valueOf(parts.group(3).isEmpty() ? 1000 : 1024)
                    .pow(parts.group(2).isEmpty() ? 0 : PREFIXES.indexOf(parts.group(2)) + 1);
            boolean bits = parts.group(4) != null && !parts.group(4).equals("b");
            BigInteger bytes = new BigDecimal(parts.group(1))
                    .multiply(unit)
                    .divide(BigDecimal.valueOf(bits ? BITS : 1))
                    .toBigInteger();
            if (bytes.signum() == 0 || bytes.bitLength() >= Long.SIZE) {
                throw refused(text);
            }
            return bytes.longValue();
        }

        private static TypeConversionException refused(String text) {
            return new TypeConversionException(
                    "\"%s\" is no rate: bytes a second are accepted as 250000, 10M, 10MB, 1.5GB, 16MiB, 800Mbit"
                            .formatted(text));
        }
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
