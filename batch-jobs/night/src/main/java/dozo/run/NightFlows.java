package dozo.run;

import dozo.db.ActiveService;
import dozo.transfer.OfferedLooks;
import dozo.transfer.RunWorkers;
import dozo.transfer.RunWorkers.Others;
import jakarta.annotation.PreDestroy;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.ExitStatus;
import org.springframework.batch.core.listener.StepExecutionListener;
import org.springframework.batch.core.step.StepExecution;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;

/**
 * The flows of each backup that is active in this process, and its lease as a worker of that run. The process is the
 * service, or a worker of its own that has joined (ADR 0080).
 */
@Component
class NightFlows implements StepExecutionListener {

    /** A lease outlasts several failed renewals; the same time tells the others how far this worker is. */
    private static final Duration TICK = Duration.ofSeconds(1);

    /** How long the current work of a worker may take when its run is paused; then the lanes are closed. */
    private static final Duration STOP_LIMIT = Duration.ofSeconds(60);

    private static final long NO_WORKER = 0;

    private static final Logger LOG = LoggerFactory.getLogger(NightFlows.class);

    private final Runs runs;
    private final RunWorkers workers;
    private final OfferedLooks offers;
    private final Senders senders;
    private final AtSite atSite;
    private final SiteHours hours;
    private final Limits limits;
    private final ActiveService active;
    private final Notices notices;
    private final String host = ActiveService.machine();
    private final Map<Long, Open> open = new ConcurrentHashMap<>();
    private final Map<Long, NightFlow> early = new ConcurrentHashMap<>();

    private record Open(NightFlow flow, ScheduledExecutorService ticks) {}

    NightFlows(
            Runs runs,
            RunWorkers workers,
            OfferedLooks offers,
            Senders senders,
            AtSite atSite,
            SiteHours hours,
            Limits limits,
            ActiveService active,
            Notices notices) {
        this.runs = runs;
        this.workers = workers;
        this.offers = offers;
        this.senders = senders;
        this.atSite = atSite;
        this.hours = hours;
        this.limits = limits;
        this.active = active;
        this.notices = notices;
        senders.with(this);
        notices.onEach(run -> opened(run).ifPresent(NightFlow::hear));
    }

    /**
     * Returns the flow of a run and begins it at the first call. Earlier claims of the service for the run are those of
     * dead processes. The flow of a worker process that comes too late to join begins nothing.
     */
    NightFlow of(long run, int site) {
        return open.computeIfAbsent(run, _ -> begin(run, site)).flow();
    }

    /**
     * Returns the flow of a run before {@link #of}: it has no lease yet, so that no worker joins before the site is checked and
     * everything is collected.
     */
    NightFlow early(long run, int site) {
        return early.computeIfAbsent(run, _ -> new NightFlow(run, site, NO_WORKER, false, () -> {}));
    }

    private Optional<NightFlow> opened(long run) {
        return Optional.ofNullable(open.get(run)).map(Open::flow);
    }

    /** Returns the experiments of a run whose sources are being read in this process. */
    int[] reading(long run) {
        return opened(run).stream()
                .flatMap(flow -> flow.reading().stream())
                .mapToInt(Integer::intValue)
                .toArray();
    }

    /** Asks the flows of a run in this process to begin nothing more. */
    void stop(long run) {
        Optional.ofNullable(early.get(run)).ifPresent(NightFlow::stop);
        opened(run).ifPresent(NightFlow::stop);
    }

    @PreDestroy
    void end() {
        open.values().forEach(working -> working.ticks().shutdownNow());
    }

    /** Asks all flows in this process to begin nothing more. */
    void stopAll() {
        early.values().forEach(NightFlow::stop);
        open.values().forEach(working -> working.flow().stop());
    }

    /** Records that the step of a flow has completed, if it has. */
    @Override
    public @Nullable ExitStatus afterStep(StepExecution step) {
        if (step.getStatus() == BatchStatus.COMPLETED) {
            opened(NightlyBackupJob.run(step)).ifPresent(NightFlow::complete);
        }
        return null;
    }

    /**
     * Wraps a flow's task, so that the other flows are notified however it ends. Only one run is active in a process.
     */
    Runnable watched(Runnable flow) {
        return () -> {
            try {
                flow.run();
            } finally {
                open.values().forEach(working -> working.flow().end());
            }
        };
    }

    /** Forgets a run that has ended in this process. Its engine is closed. */
    void close(long run) {
        NightFlow first = early.remove(run);
        if (first != null) {
            atSite.leave(first);
        }
        Open ended = open.remove(run);
        if (ended != null) {
            ended.ticks().shutdownNow();
            leave(ended.flow());
            hours.share(ended.flow().site(), 1);
            atSite.leave(ended.flow());
        }
        senders.forget(run);
    }

    /** Returns whether others have taken over what this process had claimed of a run. */
    boolean isFenced(long run) {
        return opened(run).filter(NightFlow::isFenced).isPresent();
    }

    private void leave(NightFlow flow) {
        try {
            // What was sent since the last renewal counts, too.
            var _ = renewed(flow);
            workers.leave(flow.worker());
        } catch (DataAccessException e) {
            LOG.info("the lease of worker {} ends by itself: {}", flow.worker(), e.getMessage());
        }
    }

    /**
     * Ends the leases of all workers of a run that ends before its work is done, and waits until they have left, or can send
     * nothing any more. Otherwise they could disturb the next run.
     */
    void dismiss(long run) {
        workers.endAll(run);
        notices.tell(run);
        try {
            long limit = System.nanoTime() + workers.lease().toNanos();
            while (workers.joined(run) && System.nanoTime() < limit) {
                Thread.sleep(NightFlow.NAP);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    String host() {
        return host;
    }

    /** Returns whether nobody else can have taken over what this process does for a run. Returns at once. */
    boolean isSure(long run) {
        Open working = open.get(run);
        if (working == null) {
            return active.isSure();
        }
        NightFlow flow = working.flow();
        if (flow.joined()) {
            return flow.isSure();
        }
        // With an embedded database there is nobody else.
        return active.isSure() && (flow.isSure() || !active.mayBeReplaced());
    }

    Others others(long run) {
        return opened(run).map(NightFlow::others).orElse(Others.NONE);
    }

    long worker(long run) {
        return opened(run).orElseThrow().worker();
    }

    private Open begin(long run, int site) {
        boolean joined = !active.isHere();
        if (!joined) {
            // A process that died while it waited for the site has left its message.
            runs.say(run, "");
            // Only one service works on this database, so all earlier ones are dead.
            workers.endServices(run);
            offers.clear(run);
        }
        workers.freeOfEnded(run);
        long worker = workers.enlist(run, host, joined);
        NightFlow flow = new NightFlow(run, site, worker, joined, () -> notices.tell(run));
        ScheduledExecutorService ticks = Executors.newScheduledThreadPool(
                2, Thread.ofPlatform().name("lease-" + run + "-", 0).daemon().factory());
        if (worker == NO_WORKER) {
            flow.stop();
            return new Open(flow, ticks);
        }
        var _ = renewed(flow);
        flow.others(workers.others(run, worker));
        hours.share(site, 1 + flow.others().alive());
        var _ = ticks.scheduleWithFixedDelay(() -> tick(flow), 0, TICK.toMillis(), TimeUnit.MILLISECONDS);
        if (joined) {
            // NB: not in the same thread, which waits as long as the database does not answer.
            var _ = ticks.scheduleWithFixedDelay(() -> cutOff(flow), 0, TICK.toMillis(), TimeUnit.MILLISECONDS);
        }
        return new Open(flow, ticks);
    }

    /** Closes the lanes when others may have taken over: what the kernel still holds must not be sent later. */
    private void cutOff(NightFlow flow) {
        try {
            if (!flow.isSure()) {
                senders.close(flow.run());
            }
        } catch (RuntimeException e) {
            // NB: an exception would end all later ticks.
            LOG.warn("the lanes of run {} could not be closed yet", flow.run(), e);
        }
    }

    /** Does in a worker process what the service is asked to do: to stop, to pause, and to keep the hours of the site. */
    private void follow(NightFlow flow) {
        hours.apply();
        if (workers.goesOn(flow.run())) {
            return;
        }
        flow.stop();
        if (!hours.isOpen(flow.site()) || flow.stoppedFor().compareTo(STOP_LIMIT) > 0) {
            senders.close(flow.run());
        }
    }

    /** Renews the lease. Returns false if others have taken over. */
    private boolean renewed(NightFlow flow) {
        long nanos = System.nanoTime();
        String bottleneck = limits.now(flow.run()).map(Limit::name).orElse("");
        Optional<Duration> lease =
                workers.renew(flow.worker(), senders.bytesMovedHere(flow.run()), flow.proven(), bottleneck);
        lease.ifPresent(length -> flow.renewed(nanos + length.toNanos()));
        return lease.isPresent();
    }

    /** Renews the lease, and looks what the other workers do. */
    private void tick(NightFlow flow) {
        try {
            if (!renewed(flow)) {
                LOG.warn("others have taken over the work of worker {} in run {}", flow.worker(), flow.run());
                flow.fence();
                return;
            }
            Others others = workers.others(flow.run(), flow.worker());
            flow.others(others);
            hours.share(flow.site(), 1 + others.alive());
            if (flow.joined()) {
                follow(flow);
            }
            if (others.lost() > 0) {
                LOG.warn(
                        "run {}: others take over from workers that have not renewed their lease: {}",
                        flow.run(),
                        others.lost());
                workers.takeOver(flow.run(), flow.worker());
                flow.hear();
            }
        } catch (RuntimeException e) {
            if (flow.isSure()) {
                LOG.debug("the lease of worker {} could not be renewed yet: {}", flow.worker(), e.getMessage());
            } else {
                LOG.warn("the lease of worker {} could not be renewed: {}", flow.worker(), e.getMessage());
            }
        }
    }
}
