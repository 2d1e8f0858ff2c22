package dozo.source;

import java.util.concurrent.TimeUnit;

/** Times of a file system as {@link dozo.file.Facts} have them. */
final class Times {

    private Times() {}

    /**
     * Nanoseconds since 1970. A time that these cannot tell becomes the first or last one that they can, in 1677 and 2262: file
     * systems hold seconds of 64 bits.
     *
     * @param seconds negative before 1970; then too the nanoseconds count forward
     */
    static long nanos(long seconds, long nanos) {
        long whole = TimeUnit.SECONDS.toNanos(seconds); // at its limits where it overflows
        long sum = whole + nanos;
        return whole > 0 && sum < 0 ? Long.MAX_VALUE : sum;
    }
}
