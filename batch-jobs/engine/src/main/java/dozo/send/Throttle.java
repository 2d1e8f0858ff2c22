package dozo.send;

import java.util.concurrent.TimeUnit;

/** Limits content to a rate: a caller ahead of it waits. Serves callers in their order. */
public final class Throttle {

    /** The shortest wait: anything shorter costs more than it brings. */
    private static final long WAIT_MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final double nanosPerByte;
    private long freeNanos = System.nanoTime();

    /** Creates a limit in bytes per second; 0: no limit. */
    public Throttle(long bytesPerSecond) {
        if (bytesPerSecond < 0) {
            throw new IllegalArgumentException("a rate of " + bytesPerSecond);
        }
        this.nanosPerByte = bytesPerSecond == 0 ? 0 : 1e9 / bytesPerSecond;
    }

    /** Waits until this many bytes may be sent. */
    public void pass(int bytes) throws InterruptedException {
        if (nanosPerByte == 0) {
            return;
        }
        long wait;
        synchronized (this) {
            long now = System.nanoTime();
            // Unused time is lost: no burst makes up for a pause.
            long begin = Math.max(freeNanos, now);
            freeNanos = begin + (long) (bytes * nanosPerByte);
            wait = begin - now;
        }
        if (wait > WAIT_MIN_NANOS) {
            TimeUnit.NANOSECONDS.sleep(wait);
        }
    }
}
