package dozo.send;

import dozo.send.Yielding.Bounds;
import dozo.send.Yielding.Change;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits the requests to file servers while runs yield to other users (ADR 0079), each file server on its own. While it is not
 * in force, requests do not even take a lock.
 */
final class SourceYielding {

    /** With a quarter, a file server is idle three quarters of the time as far as Dozo is concerned. */
    private static final Bounds BOUNDS =
            new Bounds(0.25, 1, SourceThreads.AT_ONCE_MAX, 24, TimeUnit.MICROSECONDS.toNanos(500));

    /** Who waits looks again after this time: it may not be in force any more, or the run may end. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** Reading up to so many bytes takes about as long. */
    private static final int SMALL_BYTES = 16 << 10;

    private static final int MEDIUM_BYTES = 64 << 10;
    private static final int SIZES = 4;

    private final Consumer<String> changes;
    private final Bounds bounds;
    private final LongAdder waiting = new LongAdder();

    /** The file servers in use since it is in force; null while it is not. */
    private volatile @Nullable Map<String, Gate> gates;

    /** @param changes receives a sentence about each larger change, at most one in half a minute for a file server */
    SourceYielding(Consumer<String> changes) {
        this(changes, BOUNDS);
    }

    private SourceYielding(Consumer<String> changes, Bounds bounds) {
        this.changes = changes;
        this.bounds = bounds;
    }

    /**
     * Returns one that is in force.
     *
     * @param most the most requests that each file server gets at once; less than 1: one at a time, with rests between
     */
    static SourceYielding atMost(double most) {
        SourceYielding yielding = new SourceYielding(
                _ -> {},
                new Bounds(
                        Math.min(BOUNDS.least(), most),
                        Math.min(BOUNDS.alone(), most),
                        most,
                        BOUNDS.measured(),
                        BOUNDS.allowanceNanos()));
        yielding.inForce(true);
        return yielding;
    }

    /** Begins or ends it. */
    void inForce(boolean now) {
        if (now != (gates != null)) {
            gates = now ? new ConcurrentHashMap<>() : null;
        }
    }

    /** Returns how many requests wait. */
    int waiting() {
        return waiting.intValue();
    }

    /** Returns how many requests each file system may have at once; empty if it is not in force. */
    Map<String, Double> numbers() {
        Map<String, Double> numbers = new HashMap<>();
        Map<String, Gate> now = gates;
        if (now != null) {
            now.forEach((place, gate) -> numbers.put(place, gate.number()));
        }
        return numbers;
    }

    /**
     * Waits until a request may begin. Returns its pass, to be given back when it is over; null if it is not in force.
     *
     * @param place the file system; it may become known meanwhile
     * @param patience whose end ends the wait
     */
    @Nullable
    Pass enter(Supplier<String> place, SourcePatience patience) throws InterruptedException {
        Map<String, Gate> now = gates;
        Pass pass = null;
        while (now != null && pass == null) {
            String at = place.get();
            Gate gate = now.computeIfAbsent(at, Gate::new);
            pass = gate.enter(
                    () -> gates != null && !patience.isLeaving() && place.get().equals(at));
            now = patience.isLeaving() ? null : gates;
        }
        return pass;
    }

    /** Returns the kind of a request that opens a file, or not, and reads this many bytes. */
    static int kind(boolean opens, int bytes) {
        int size = bytes == 0 ? 0 : bytes <= SMALL_BYTES ? 1 : bytes <= MEDIUM_BYTES ? 2 : 3;
        return opens ? size : SIZES + size;
    }

    /** The permission of one request. */
    static final class Pass {

        private final Gate gate;
        private final boolean alone;
        private boolean over;

        private Pass(Gate gate, boolean alone) {
            this.gate = gate;
            this.alone = alone;
        }

        /** Records the answer: its kind, and how long it took. */
        void answered(int kind, long tookNanos) {
            gate.answered(this, kind, tookNanos);
        }

        /** Ends it without an answer that says anything. Harmless if it is over. */
        void end() {
            gate.end(this);
        }
    }

    private final class Gate {

        private final String place;
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition();

        // Guarded by the lock.
        private final Yielding yielding = new Yielding(bounds, new SplittableRandom(), System.nanoTime());
        private int open;
        private int queued;
        private long notBefore = System.nanoTime();

        Gate(String place) {
            this.place = place;
        }

        double number() {
            lock.lock();
            try {
                return yielding.number();
            } finally {
                lock.unlock();
            }
        }

        /** Waits until a request may begin. Returns null if the waiting makes no sense any more. */
        @Nullable
        Pass enter(BooleanSupplier waits) throws InterruptedException {
            lock.lockInterruptibly();
            try {
                if (queued > 0 || !mayBegin()) {
                    await(waits);
                }
                return waits.getAsBoolean() ? new Pass(this, open++ == 0) : null;
            } finally {
                lock.unlock();
            }
        }

        private void await(BooleanSupplier waits) throws InterruptedException {
            queued++;
            waiting.increment();
            yielding.waited();
            try {
                while (!mayBegin() && waits.getAsBoolean()) {
                    long pause = notBefore - System.nanoTime();
                    var _ = changed.awaitNanos(open == 0 && pause > 0 ? Math.min(pause, LOOK_NANOS) : LOOK_NANOS);
                }
            } finally {
                queued--;
                waiting.decrement();
                // An interrupted thread may have taken another's signal.
                changed.signal();
            }
        }

        private boolean mayBegin() {
            return open < Math.max(1, (int) yielding.number()) && System.nanoTime() - notBefore >= 0;
        }

        private void answered(Pass pass, int kind, long tookNanos) {
            lock.lock();
            try {
                if (pass.over) {
                    return;
                }
                long now = System.nanoTime();
                yielding.answered(kind, tookNanos, pass.alone, now).ifPresent(this::log);
                double number = yielding.number();
                notBefore = number < 1 ? now + (long) (tookNanos * (1 / number - 1)) : now;
                end(pass);
            } finally {
                lock.unlock();
            }
        }

        private void end(Pass pass) {
            lock.lock();
            try {
                if (!pass.over) {
                    pass.over = true;
                    open--;
                    int free = Math.max(1, (int) yielding.number()) - open;
                    for (int i = 0; i < Math.min(free, queued); i++) {
                        changed.signal();
                    }
                }
            } finally {
                lock.unlock();
            }
        }

        private void log(Change change) {
            changes.accept(
                    "source %s: %.1f requests at once instead of %.1f; an answer takes %.2f ms, without load %.2f ms"
                            .formatted(
                                    place,
                                    change.after(),
                                    change.before(),
                                    change.tookNanos() / 1e6,
                                    change.baseNanos() / 1e6));
        }
    }
}
