package dozo.send;

import dozo.file.Size;
import dozo.remote.RemoteException;
import dozo.send.Yielding.Bounds;
import dozo.send.Yielding.Change;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Limits the rate to a site while runs yield to others who use it or the way to it (ADR 0079). A small request from time to
 * time shows how long answers take.
 */
final class SiteYielding {

    /** A number of 1 is this rate. */
    private static final double RATE = 1e6;

    /** More than any site: no limit. */
    private static final double MOST = 16_000;

    /** Content of Dozo itself may wait so long on the way: RFC 6817 allows 100 ms. */
    private static final long ALLOWANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

    private static final Bounds BOUNDS = new Bounds(0.25, 0.25, MOST, 5, ALLOWANCE_NANOS);

    private static final long EVERY_MILLIS = 50;

    /** What was sent before a measurement arrives meanwhile. */
    private static final long ARRIVES_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    /** If nothing was sent for so long, nobody needs to know how long answers take. */
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Consumer<String> changes;
    private final Ping ping;
    private final Yielding yielding = new Yielding(BOUNDS, new SplittableRandom(), System.nanoTime());
    private final Throttle throttle = new Throttle(0);
    private volatile long usedNanos = System.nanoTime();
    private volatile boolean over;

    /** A small request to the site. */
    interface Ping {
        /** Returns whether there was an answer; false if there is no way to the site now. */
        boolean ask() throws RemoteException, InterruptedException;
    }

    /** @param changes receives a sentence about each larger change, at most one in half a minute */
    SiteYielding(Consumer<String> changes, Ping ping) {
        this.changes = changes;
        this.ping = ping;
        apply();
    }

    /** Waits until this many bytes may be sent. */
    void pass(int bytes) throws InterruptedException {
        usedNanos = System.nanoTime();
        throttle.pass(bytes);
    }

    /** Ends all waits. */
    void end() {
        over = true;
        throttle.limit(0);
    }

    /** Returns how many wait at the moment. */
    int waiting() {
        return throttle.waiting();
    }

    /** Returns the rate in bytes a second. */
    synchronized double bytesPerSecond() {
        return yielding.number() * RATE;
    }

    /** Observes how long answers take, by a thread of its own, until the {@linkplain #end end}. */
    void observe() {
        Thread.ofVirtual().name("observe-site").start(this::observeAll);
    }

    private void observeAll() {
        try {
            while (!over) {
                Thread.sleep(EVERY_MILLIS);
                long asked = System.nanoTime();
                try {
                    if (asked - usedNanos < IDLE_NANOS && ping.ask()) {
                        answered(asked, System.nanoTime());
                    }
                } catch (RemoteException lost) {
                    // Whoever sends reports it.
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        }
    }

    private synchronized void answered(long askedNanos, long nowNanos) {
        if (throttle.waiting() > 0) {
            yielding.waited();
        }
        boolean alone = yielding.measuringSince()
                .filter(since -> askedNanos - since >= ARRIVES_NANOS)
                .isPresent();
        yielding.answered(0, nowNanos - askedNanos, alone, nowNanos).ifPresent(this::log);
        if (!over) {
            apply();
        }
    }

    private synchronized void apply() {
        double number = yielding.number();
        throttle.limit(number < MOST ? (long) (number * RATE) : 0);
    }

    private void log(Change change) {
        changes.accept("site: %s/s instead of %s/s; an answer takes %.1f ms, without load %.1f ms"
                .formatted(
                        Size.text((long) (change.after() * RATE)),
                        Size.text((long) (change.before() * RATE)),
                        change.tookNanos() / 1e6,
                        change.baseNanos() / 1e6));
    }
}
