package dozo.source;

import java.util.concurrent.TimeUnit;

/** File system times in the form of {@link dozo.file.Facts}. */
final class Times {

    private Times() {}

    /**
     * Returns nanoseconds since 1970. File systems store seconds in 64 bits; a time out of range becomes the first or
     * last possible one, in 1677 or 2262.
     *
     * @param seconds negative before 1970; the nanoseconds count forward then, too
     */
    static long nanos(long seconds, long nanos) {
        long whole = TimeUnit.SECONDS.toNanos(seconds); // saturates on overflow
        long sum = whole + nanos;
        return whole > 0 && sum < 0 ? Long.MAX_VALUE : sum;
    }
}
