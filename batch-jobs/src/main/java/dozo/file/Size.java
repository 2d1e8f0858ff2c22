package dozo.file;

import java.util.Locale;

/** Sizes as people read them, in units of 1,024. */
public final class Size {

    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

    private Size() {}

    /** As {@code "917 B"}, {@code "1.2 GiB"}, {@code "48 TiB"}: at least two digits that count, and never rounded up to 1024. */
    public static String text(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("no size: " + bytes);
        }
        int unit = bytes == 0 ? 0 : (63 - Long.numberOfLeadingZeros(bytes)) / 10;
        if (unit == 0) {
            return bytes + " B";
        }
        double value = bytes / (double) (1L << (10 * unit));
        // Cut off, not rounded: "10 GiB of 10 GiB" must not stand where a byte is missing.
        return value < 10
                ? String.format(Locale.ROOT, "%.1f %s", Math.floor(value * 10) / 10, UNITS[unit])
                : String.format(Locale.ROOT, "%d %s", (long) value, UNITS[unit]);
    }
}
