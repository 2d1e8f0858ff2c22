package dozo.plan;

/**
 * An amount to send.
 *
 * @param bytes of content
 * @param entries files, folders and links
 */
public record Work(long bytes, long entries) {

    public static final Work NONE = new Work(0, 0);

    public Work {
        if (bytes < 0 || entries < 0) {
            throw new IllegalArgumentException(
                    "bytes and entries must not be negative: %d, %d".formatted(bytes, entries));
        }
    }

    /**
     * Returns the sum.
     *
     * @throws ArithmeticException if it exceeds 2⁶³ − 1 bytes
     */
    public Work plus(Work more) {
        return new Work(Math.addExact(bytes, more.bytes), Math.addExact(entries, more.entries));
    }
}
