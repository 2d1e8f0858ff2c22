package dozo.run;

import java.time.Duration;

/** Limits reading at the sites to a rate. Reading that was too fast is followed by a wait; unused time is lost. */
final class ReadBudget {

    private final double nanosPerByte;
    private long freeNanos = System.nanoTime();

    /** @param bytesPerSecond 0: no limit */
    ReadBudget(long bytesPerSecond) {
        this.nanosPerByte = bytesPerSecond == 0 ? 0 : 1e9 / bytesPerSecond;
    }

    /** Waits until more may be read, but at most this long. Returns whether it may. */
    boolean await(Duration most) throws InterruptedException {
        long wait = waitNanos();
        if (wait > 0) {
            Thread.sleep(Duration.ofNanos(Math.min(wait, most.toNanos())));
        }
        return wait <= most.toNanos();
    }

    /** Records that this many bytes are read now. */
    synchronized void spend(long bytes) {
        freeNanos = Math.max(freeNanos, System.nanoTime()) + (long) (bytes * nanosPerByte);
    }

    private synchronized long waitNanos() {
        return nanosPerByte == 0 ? 0 : freeNanos - System.nanoTime();
    }
}
