package dozo.run;

import dozo.plan.Planner;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.springframework.batch.core.job.JobInterruptedException;

/**
 * What the flows of one backup share in this process while they go on side by side: looking, sending and settling (ADR 0054). What has to
 * survive the process is in the database; here is only who waits for whom.
 */
final class NightFlow {

    /** How long anybody waits at most before asking the database again: others may have changed what is there. */
    static final Duration NAP = Duration.ofMillis(500);

    private final long run;
    private final int site;
    private final long worker;
    private final Planner planner;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition rung = lock.newCondition();
    private long rings;
    private boolean stopping;
    private int completed;
    private int ended;
    private @Nullable Exception failure;
    private @Nullable Instant away;

    /**
     * @param worker this process's number as a worker of the run
     * @param planner to be used by one thread at a time
     */
    NightFlow(long run, int site, long worker, Planner planner) {
        this.run = run;
        this.site = site;
        this.worker = worker;
        this.planner = planner;
    }

    long run() {
        return run;
    }

    int site() {
        return site;
    }

    long worker() {
        return worker;
    }

    Planner planner() {
        return planner;
    }

    /** How often something has happened that another flow may wait for. To be asked before looking whether it has. */
    long rings() {
        lock.lock();
        try {
            return rings;
        } finally {
            lock.unlock();
        }
    }

    /** Says that something has happened that another flow may wait for: units were planned, or recorded. */
    void ring() {
        lock.lock();
        try {
            rings++;
            rung.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the next ring after so many, for a while. */
    void await(long heard) throws InterruptedException {
        lock.lock();
        try {
            long nanos = NAP.toNanos();
            while (rings == heard && nanos > 0) {
                nanos = rung.awaitNanos(nanos);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Asks all flows to begin nothing more. */
    void stop() {
        lock.lock();
        try {
            stopping = true;
        } finally {
            lock.unlock();
        }
        ring();
    }

    /** Notes why a flow cannot go on: the others begin nothing more. */
    void fail(Exception why) {
        lock.lock();
        try {
            if (failure == null) {
                failure = why;
            }
        } finally {
            lock.unlock();
        }
        ring();
    }

    /** Notes that the site is away; since when it was known to be, null: since now. */
    @Nullable
    Instant awaySince(Instant now) {
        lock.lock();
        try {
            Instant since = away;
            away = since == null ? now : since;
            return since;
        } finally {
            lock.unlock();
        }
    }

    /** Notes that the site answers; whether it was known to be away. */
    boolean isBack() {
        lock.lock();
        try {
            boolean was = away != null;
            away = null;
            return was;
        } finally {
            lock.unlock();
        }
    }

    /** Notes that the step of a flow has come to its end. */
    void complete() {
        lock.lock();
        try {
            completed++;
        } finally {
            lock.unlock();
        }
    }

    /** Notes that a flow has ended. If its step has not come to its end, perhaps has not even begun, the others must not wait for it. */
    void end() {
        lock.lock();
        try {
            ended++;
            if (ended <= completed) {
                return;
            }
        } finally {
            lock.unlock();
        }
        fail(new IllegalStateException("a flow ended before its end"));
    }

    /** Whether nothing more is to be begun. */
    boolean ends() {
        lock.lock();
        try {
            return stopping || failure != null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends the caller's step where nothing more is to be begun.
     *
     * @throws JobInterruptedException then: the step has ended before its end, and is gone on with at a restart
     */
    void check() throws JobInterruptedException {
        if (ends()) {
            throw new JobInterruptedException("the run is asked to stop, or cannot go on");
        }
    }
}
