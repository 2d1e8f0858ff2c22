package dozo.run;

import dozo.plan.Planner;
import dozo.send.Stay;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.batch.core.job.JobInterruptedException;

/**
 * The state that the flows of one backup share in this process: looking, sending and settling (ADR 0054). Everything
 * that must survive the process is in the database; this only coordinates the waiting.
 */
final class NightFlow {

    /** The longest wait before the database is queried again, because others may have changed it. */
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
    private final Set<Limit> phases = EnumSet.noneOf(Limit.class);

    /**
     * @param worker this process's number as a worker of the run
     * @param planner only one thread may use it at a time
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

    /**
     * Returns the number of events that another flow may wait for. Must be called before checking for their effects.
     */
    synchronized long rings() {
        return rings;
    }

    /** Signals an event that another flow may wait for: units were planned, or recorded. */
    synchronized void ring() {
        rings++;
        notifyAll();
    }

    /** Waits for the next event after this number, for a limited time. */
    synchronized void await(long heard) throws InterruptedException {
        long end = System.nanoTime() + NAP.toNanos();
        for (long left = NAP.toMillis(); rings == heard && left > 0; left = (end - System.nanoTime()) / 1_000_000) {
            wait(left);
        }
    }

    /** Makes all flows begin nothing more: the run is asked to stop, or one of them cannot continue. */
    synchronized void stop() {
        stopping = true;
        ring();
    }

    /**
     * Records a phase during which perhaps no units are under way: {@link Limit#LOOKING} or {@link Limit#SETTLING}. It lasts until
     * the result is closed.
     */
    synchronized Stay in(Limit phase) {
        phases.add(phase);
        return () -> leave(phase);
    }

    private synchronized void leave(Limit phase) {
        phases.remove(phase);
    }

    /** Returns what the run waits for if no units are under way; null: for nothing of its own. */
    synchronized @Nullable Limit waitsFor() {
        return phases.stream().findFirst().orElse(null);
    }

    /** Records that the site is away. Returns since when that was known; null: only now. */
    synchronized @Nullable Instant awaySince(Instant now) {
        Instant since = away;
        away = since == null ? now : since;
        return since;
    }

    /** Records that the site responds. Returns whether it was known to be away. */
    synchronized boolean isBack() {
        boolean was = away != null;
        away = null;
        return was;
    }

    /** Records that the step of a flow has completed. */
    synchronized void complete() {
        completed++;
    }

    /**
     * Records that a flow has ended. If its step has not completed, or not even begun, the others must not wait for it.
     */
    synchronized void end() {
        ended++;
        if (ended > completed) {
            stop();
        }
    }

    /** Returns whether nothing more may be begun. */
    synchronized boolean ends() {
        return stopping;
    }

    /**
     * Ends the caller's step if nothing more may be begun.
     *
     * @throws JobInterruptedException in that case: the step is incomplete, and a restart continues it
     */
    void check() throws JobInterruptedException {
        if (ends()) {
            throw new JobInterruptedException("the run was asked to stop, or cannot continue");
        }
    }
}
