package dozo.file;

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
        // Cut off, not rounded: "10 GiB of 10 GiB" must not stand where a byte is missing.
        long whole = bytes >> (10 * unit);
        long rest = (bytes >> (10 * (unit - 1))) & 1023;
        return whole < 10
                ? "%d.%d %s".formatted(whole, rest * 10 / 1024, UNITS[unit])
                : "%d %s".formatted(whole, UNITS[unit]);
    }
}
