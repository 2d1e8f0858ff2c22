package dozo.run;

import java.time.Duration;

/** Keeps reading at the sites to a rate: what was read too fast is made up for by waiting, and time that was not used is gone. */
final class ReadBudget {

    private final double nanosPerByte;
    private long freeNanos = System.nanoTime();

    /** A rate in bytes a second; 0 for none. */
    ReadBudget(long bytesPerSecond) {
        this.nanosPerByte = bytesPerSecond == 0 ? 0 : 1e9 / bytesPerSecond;
    }

    /** Waits until more may be read, but no longer than this; whether it may. */
    boolean await(Duration most) throws InterruptedException {
        long wait = waitNanos();
        if (wait > 0) {
            Thread.sleep(Duration.ofNanos(Math.min(wait, most.toNanos())));
        }
        return wait <= most.toNanos();
    }

    /** Notes that so much is read now. */
    synchronized void spend(long bytes) {
        freeNanos = Math.max(freeNanos, System.nanoTime()) + (long) (bytes * nanosPerByte);
    }

    private synchronized long waitNanos() {
        return nanosPerByte == 0 ? 0 : freeNanos - System.nanoTime();
    }
}
