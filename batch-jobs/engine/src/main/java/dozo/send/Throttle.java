package dozo.send;

import java.util.concurrent.TimeUnit;

/** Keeps content to a rate: whoever would be ahead of it waits. Fair to the order of the calls. */
public final class Throttle {

    /** Nobody waits for less than this: a wait costs more than it brings. */
    private static final long WAIT_MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final double nanosPerByte;
    private long freeNanos = System.nanoTime();

    /** A rate in bytes a second; 0 for none. */
    public Throttle(long bytesPerSecond) {
        if (bytesPerSecond < 0) {
            throw new IllegalArgumentException("a rate of " + bytesPerSecond);
        }
        this.nanosPerByte = bytesPerSecond == 0 ? 0 : 1e9 / bytesPerSecond;
    }

    /** Waits until so many bytes may go out. */
    public void pass(int bytes) throws InterruptedException {
        if (nanosPerByte == 0) {
            return;
        }
        long wait;
        synchronized (this) {
            long now = System.nanoTime();
            // Time that was not used is gone: a pause is not made up for by a burst.
            long begin = Math.max(freeNanos, now);
            freeNanos = begin + (long) (bytes * nanosPerByte);
            wait = begin - now;
        }
        if (wait > WAIT_MIN_NANOS) {
            TimeUnit.NANOSECONDS.sleep(wait);
        }
    }
}
