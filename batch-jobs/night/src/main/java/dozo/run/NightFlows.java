package dozo.run;

import dozo.db.ActiveService;
import dozo.plan.Planner;
import dozo.transfer.RunWorkers;
import dozo.transfer.TransferUnits;
import java.util.Map;
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
import org.springframework.stereotype.Component;

/** The flows of each backup that is active in this process, and their worker's leases. */
@Component
class NightFlows implements StepExecutionListener {

    /** A lease outlasts several failed renewals. */
    private static final long RENEWAL_SECONDS = 10;

    private static final Logger LOG = LoggerFactory.getLogger(NightFlows.class);

    private final Runs runs;
    private final RunWorkers workers;
    private final TransferUnits units;
    private final CostModels costModels;
    private final TransferSettings settings;
    private final String host = ActiveService.machine();
    private final Map<Long, Open> open = new ConcurrentHashMap<>();

    private record Open(NightFlow flow, ScheduledExecutorService renewal) {}

    NightFlows(Runs runs, RunWorkers workers, TransferUnits units, CostModels costModels, TransferSettings settings) {
        this.runs = runs;
        this.workers = workers;
        this.units = units;
        this.costModels = costModels;
        this.settings = settings;
    }

    /**
     * Returns the flow of a run and begins it at the first call. Earlier claims for the run are those of dead workers.
     */
    NightFlow of(long run, int site) {
        return open.computeIfAbsent(run, _ -> begin(run, site)).flow();
    }

    /** Returns what a run waits for if no units are under way; null: for nothing of its own. */
    @Nullable
    Limit waitsFor(long run) {
        Open working = open.get(run);
        return working == null ? null : working.flow().waitsFor();
    }

    /** Asks the flows of a run in this process to begin nothing more. */
    void stop(long run) {
        Open stopped = open.get(run);
        if (stopped != null) {
            stopped.flow().stop();
        }
    }

    /** Records that the step of a flow has completed, if it has. */
    @Override
    public @Nullable ExitStatus afterStep(StepExecution step) {
        Open working = open.get(NightlyBackupJob.run(step));
        if (working != null && step.getStatus() == BatchStatus.COMPLETED) {
            working.flow().complete();
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

    /** Forgets a run that has ended in this process. */
    void close(long run) {
        Open ended = open.remove(run);
        if (ended != null) {
            ended.renewal().shutdownNow();
            if (ended.flow().isBack()) {
                runs.say(run, "");
            }
        }
    }

    /** Returns the host name of this process. */
    String host() {
        return host;
    }

    private Open begin(long run, int site) {
        // A process that died while it waited for the site has left its message.
        runs.say(run, "");
        // Only one process works on this database, so all earlier workers are dead.
        workers.end(run);
        long worker = workers.enlist(run, host);
        units.freeLost(run, worker);
        Planner planner = new Planner(settings.partitions(), settings.limits(), costModels.of(site));
        ScheduledExecutorService renewal = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name("lease-" + run).daemon().factory());
        var _ = renewal.scheduleWithFixedDelay(() -> renew(worker), RENEWAL_SECONDS, RENEWAL_SECONDS, TimeUnit.SECONDS);
        return new Open(new NightFlow(run, site, worker, planner), renewal);
    }

    private void renew(long worker) {
        try {
            workers.renew(worker);
        } catch (RuntimeException e) {
            LOG.warn("the lease of worker {} could not be renewed: {}", worker, e.getMessage());
        }
    }
}
