package dozo.run;

import dozo.plan.Planner;
import java.time.Duration;
import java.time.Instant;
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
    private long rings;
    private boolean stopping;
    private int completed;
    private int ended;
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
    synchronized long rings() {
        return rings;
    }

    /** Says that something has happened that another flow may wait for: units were planned, or recorded. */
    synchronized void ring() {
        rings++;
        notifyAll();
    }

    /** Waits for the next ring after so many, for a while. */
    synchronized void await(long heard) throws InterruptedException {
        long end = System.nanoTime() + NAP.toNanos();
        for (long left = NAP.toMillis(); rings == heard && left > 0; left = (end - System.nanoTime()) / 1_000_000) {
            wait(left);
        }
    }

    /** Has all flows begin nothing more: the run is asked to stop, or one of them cannot go on. */
    synchronized void stop() {
        stopping = true;
        ring();
    }

    /** Notes that the site is away; since when it was known to be, null: since now. */
    synchronized @Nullable Instant awaySince(Instant now) {
        Instant since = away;
        away = since == null ? now : since;
        return since;
    }

    /** Notes that the site answers; whether it was known to be away. */
    synchronized boolean isBack() {
        boolean was = away != null;
        away = null;
        return was;
    }

    /** Notes that the step of a flow has come to its end. */
    synchronized void complete() {
        completed++;
    }

    /** Notes that a flow has ended. If its step has not come to its end, perhaps has not even begun, the others must not wait for it. */
    synchronized void end() {
        ended++;
        if (ended > completed) {
            stop();
        }
    }

    /** Whether nothing more is to be begun. */
    synchronized boolean ends() {
        return stopping;
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
