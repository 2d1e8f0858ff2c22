package dozo.run;

import static dozo.run.NightlyBackupJob.run;

import com.sun.management.OperatingSystemMXBean;
import dozo.remote.TuningDecision;
import dozo.run.Limit.Glance;
import dozo.run.Limits.Spent;
import dozo.run.Paces.Pace;
import dozo.send.Stay;
import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.listener.JobExecutionListener;
import org.springframework.stereotype.Component;

/**
 * Measures how fast each run goes, what its bottleneck is, and why its lanes change, while its job runs in this process.
 * If the process dies, only the last interval is lost. A failure is logged and never fails the run.
 *
 * <p>A worker process only measures its bottlenecks: the service measures the speed of the whole run (ADR 0080).
 */
@Component
class PaceWatch implements JobExecutionListener {

    /** How often a run is looked at: the stages of its units change faster than its progress. */
    static final int GLANCES_PER_SECOND = 5;

    /** The share of the processors that the kernel gives to a process that wants it, whatever others want. */
    private static final double OWN_SHARE = 0.5;

    private static final double SECOND_NANOS = 1e9;

    private static final Logger LOG = LoggerFactory.getLogger(PaceWatch.class);

    /** Not {@code ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()}, which looks back a minute. */
    private static final OperatingSystemMXBean MACHINE =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private final Paces paces;
    private final Limits limits;
    private final Tunings tunings;
    private final Senders senders;
    private final NightFlows flows;
    private final InstantSource clock;
    private final Map<Long, Measured> open = new ConcurrentHashMap<>();

    PaceWatch(Paces paces, Limits limits, Tunings tunings, Senders senders, NightFlows flows, InstantSource clock) {
        this.paces = paces;
        this.limits = limits;
        this.tunings = tunings;
        this.senders = senders;
        this.flows = flows;
        this.clock = clock;
    }

    @Override
    public void beforeJob(JobExecution execution) {
        // The first that knows the run of the job's thread. JobThreads clears it.
        LogFields.setRun(run(execution));
        open.put(run(execution), new Measured(run(execution), isShare(execution)));
    }

    /** Counts what was recorded: bytes only if they were not sent, because the engine counts those. */
    void count(long run, long bytes, long entries) {
        Measured measured = open.get(run);
        if (measured != null) {
            measured.bytesRead.add(bytes);
            measured.entries.add(entries);
        }
    }

    /**
     * Records a phase of a run during which perhaps no units are under way: {@link Limit#LOOKING} or {@link Limit#SETTLING}. It
     * lasts until the result is closed.
     */
    Stay in(long run, Limit phase) {
        Measured measured = open.get(run);
        if (measured == null) {
            return () -> {};
        }
        measured.phases.add(phase);
        return () -> measured.phases.remove(phase);
    }

    /** Stores the last interval. Must be called while the run's engine is still known. */
    @Override
    public void afterJob(JobExecution execution) {
        Measured measured = open.remove(run(execution));
        if (measured != null) {
            measured.end();
        }
        limits.leave(run(execution));
    }

    /**
     * Returns how busy this process keeps the processors that it can have: those that others leave to it, at least half of
     * all. Others who are busy do not make it slow by that alone.
     */
    private static double processors() {
        double machine = MACHINE.getCpuLoad();
        double own = MACHINE.getProcessCpuLoad();
        return machine < 0 || own < 0 ? -1 : Math.min(1, own / Math.max(OWN_SHARE, 1 - Math.max(0, machine - own)));
    }

    private static boolean isShare(JobExecution execution) {
        return execution.getJobInstance().getJobName().equals(NightlyBackupJob.SHARE);
    }

    /** A run in this process, and what was stored of it. */
    private final class Measured {

        private final long run;
        private final boolean share;
        private final LongAdder bytesRead = new LongAdder();
        private final LongAdder entries = new LongAdder();
        private final long begin = System.nanoTime();
        private final ScheduledExecutorService ticks;
        private Instant storedAt = clock.instant();
        private long storedNanos = begin;
        private final Set<Limit> phases = new ConcurrentSkipListSet<>();
        private final Map<Limit, Spent> limited = new EnumMap<>(Limit.class);
        private final List<Glance> second = new ArrayList<>();
        private boolean failed;
        private long judgedNanos = begin;
        private long storedBytes;
        private long storedEntries;
        private List<TuningDecision> storedDecisions = List.of();

        Measured(long run, boolean share) {
            this.run = run;
            this.share = share;
            ticks = Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().name("pace-" + run).daemon().factory());
            long every = TimeUnit.SECONDS.toNanos(1) / GLANCES_PER_SECOND;
            var _ = ticks.scheduleWithFixedDelay(this::tickOrLog, every, every, TimeUnit.NANOSECONDS);
        }

        /** NB: an exception would end all later ticks. */
        private void tickOrLog() {
            try {
                tick();
            } catch (RuntimeException e) {
                if (!failed) {
                    failed = true;
                    LOG.warn("the speed of run {} could not be measured; further failures are not logged", run, e);
                }
            }
        }

        private synchronized void tick() {
            Glance glance = new Glance(
                    System.nanoTime(),
                    senders.load(run),
                    processors(),
                    phases.stream().findFirst().orElse(null));
            limits.look(run, glance);
            second.add(glance);
            if (second.size() >= GLANCES_PER_SECOND) {
                judge();
                store(secondsDue());
                storeDecisions();
            }
        }

        /** Counts the time since the last judgement for its bottleneck. */
        private void judge() {
            long now = System.nanoTime();
            double seconds = (now - judgedNanos) / SECOND_NANOS;
            Limit.of(second)
                    .ifPresent(found ->
                            limited.merge(found.limit(), new Spent(seconds, seconds * found.needed()), Spent::plus));
            judgedNanos = now;
            second.clear();
        }

        synchronized void end() {
            ticks.shutdown();
            judge();
            store(0);
            storeDecisions();
        }

        private synchronized void storeDecisions() {
            if (share) {
                return;
            }
            try {
                List<TuningDecision> all = senders.decisions(run);
                List<TuningDecision> fresh = all.stream()
                        .filter(decision -> !storedDecisions.contains(decision))
                        .toList();
                if (!fresh.isEmpty()) {
                    tunings.add(run, fresh);
                    storedDecisions = all;
                }
            } catch (RuntimeException e) {
                LOG.debug(
                        "decisions of run {} about its lanes could not be stored; the next look includes them", run, e);
            }
        }

        /** Returns how long an interval must be: the longer the run, the longer its intervals. */
        private double secondsDue() {
            return (System.nanoTime() - begin) / SECOND_NANOS / Paces.INTERVALS_MAX;
        }

        /** Stores what was moved since the last interval, if that took at least so long. */
        private synchronized void store(double secondsMin) {
            try {
                long nanos = System.nanoTime();
                long bytes = senders.bytesMoved(run) + bytesRead.sum();
                long proven = entries.sum() + flows.others(run).entriesProven();
                double seconds = (nanos - storedNanos) / SECOND_NANOS;
                // NB: while a lost engine is replaced, its bytes are missing for a moment: the next interval has them.
                if (seconds <= 0 || seconds < secondsMin || bytes < storedBytes) {
                    return;
                }
                if (!share) {
                    paces.add(run, new Pace(storedAt, seconds, bytes - storedBytes, proven - storedEntries));
                }
                storedAt = clock.instant();
                storedNanos = nanos;
                storedBytes = bytes;
                storedEntries = proven;
                limits.add(run, limited);
                limited.clear();
            } catch (RuntimeException e) {
                LOG.debug("the speed of run {} could not be stored; the next interval includes it", run, e);
            }
        }
    }
}
