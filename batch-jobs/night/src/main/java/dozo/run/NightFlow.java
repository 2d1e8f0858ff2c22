package dozo.run;

import dozo.transfer.RunWorkers.Others;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.dao.DataAccessResourceFailureException;

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
    private final boolean joined;
    private final Runnable tell;
    private final LongAdder proven = new LongAdder();
    private final Set<Integer> reading = ConcurrentHashMap.newKeySet();
    private final Set<Integer> leftToService = ConcurrentHashMap.newKeySet();
    private volatile Others others = Others.NONE;
    private @Nullable Others first;
    private volatile long sureUntilNanos;
    private volatile boolean fenced;
    private long rings;
    private boolean stopping;
    private long stoppedNanos;
    private int completed;
    private int ended;

    /**
     * @param worker this process's number as a worker of the run
     * @param joined whether this process is a worker of its own, and not the service
     * @param tell tells the other processes of the run about an event
     */
    NightFlow(long run, int site, long worker, boolean joined, Runnable tell) {
        this.run = run;
        this.site = site;
        this.worker = worker;
        this.joined = joined;
        this.tell = tell;
    }

    /** Returns whether this process is a worker of its own, and not the service that leads the run. */
    boolean joined() {
        return joined;
    }

    /** Records that the lease of this worker was renewed, and when it expires in terms of {@link System#nanoTime}. */
    void renewed(long untilNanos) {
        sureUntilNanos = untilNanos;
    }

    /** Records that others have taken over from this worker: it stops, and nothing that it reports counts any more. */
    void fence() {
        fenced = true;
        stop();
    }

    boolean isFenced() {
        return fenced;
    }

    /**
     * Returns whether nobody can have taken over from this worker: its lease has not expired by the clock of this machine.
     */
    boolean isSure() {
        return !fenced && System.nanoTime() - sureUntilNanos < 0;
    }

    /**
     * Fails if others have taken over what this worker had claimed. The service's run continues then like one that lost its
     * database.
     */
    void requireLease() {
        if (fenced) {
            String why = "this worker was without the database for too long, and others have taken over its work";
            throw new DataAccessResourceFailureException(why, new SQLTransientConnectionException(why));
        }
    }

    void others(Others now) {
        if (first == null) {
            first = now;
        }
        others = now.since(first);
    }

    /** Returns what is known of the other workers of the run, and what they have done since this process works on it. */
    Others others() {
        return others;
    }

    /** Counts entries for which this process has recorded receipts. */
    void proven(long entries) {
        proven.add(entries);
    }

    long proven() {
        return proven.sum();
    }

    /** Leaves an experiment to the service from now on, because its source cannot be read here. */
    void leaveToService(int experiment) {
        leftToService.add(experiment);
    }

    Set<Integer> leftToService() {
        return leftToService;
    }

    /** Returns the experiments whose sources are being read in this process, to be changed by those who read them. */
    Set<Integer> reading() {
        return reading;
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

    /**
     * Returns the number of events that another flow may wait for. Must be called before checking for their effects.
     */
    synchronized long rings() {
        return rings;
    }

    /** Signals an event that another flow, here or in another process, may wait for: units were planned, or recorded. */
    void ring() {
        hear();
        tell.run();
    }

    /** Signals an event that perhaps happened in another process. */
    synchronized void hear() {
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
        if (!stopping) {
            stopping = true;
            stoppedNanos = System.nanoTime();
        }
        hear();
    }

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

    /** Returns for how long nothing more may be begun; zero while more may be. */
    synchronized Duration stoppedFor() {
        return stopping ? Duration.ofNanos(System.nanoTime() - stoppedNanos) : Duration.ZERO;
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
