package dozo.run;

import dozo.ledger.Ledger;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.JobExecutionException;
import org.springframework.batch.core.job.parameters.JobParameters;
import org.springframework.batch.core.job.parameters.JobParametersBuilder;
import org.springframework.batch.core.launch.JobOperator;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.stereotype.Component;

/**
 * Starts, stops and recovers runs. When the process ends in an orderly way, a run that is going on finishes the units under
 * way and begins no more; the next start goes on with it, as after a crash.
 */
@Component
public class Operations implements SmartLifecycle {

    /** How long the units under way may take when the process is asked to end. */
    private static final Duration LEAVING_LIMIT = Duration.ofSeconds(25);

    private static final Duration POLL = Duration.ofMillis(50);

    /** The job writes its own state twice, so it can come between us twice. */
    private static final int STOP_TRIES = 3;

    private static final Logger LOG = LoggerFactory.getLogger(Operations.class);

    private final Job nightlyBackup;
    private final Job scrub;
    private final JobOperator operator;
    private final JobRepository repository;
    private final Runs runs;
    private final Sites sites;
    private final Ledger ledger;
    private final RunEnd runEnd;
    private final JobThreads jobThreads;
    private volatile boolean alive;

    public Operations(
            @Qualifier(NightlyBackupJob.NAME) Job nightlyBackup,
            @Qualifier(ScrubJob.NAME) Job scrub,
            JobOperator operator,
            JobRepository repository,
            Runs runs,
            Sites sites,
            Ledger ledger,
            RunEnd runEnd,
            JobThreads jobThreads) {
        this.nightlyBackup = nightlyBackup;
        this.scrub = scrub;
        this.operator = operator;
        this.repository = repository;
        this.runs = runs;
        this.sites = sites;
        this.ledger = ledger;
        this.runEnd = runEnd;
        this.jobThreads = jobThreads;
    }

    /**
     * Starts the nightly backup and returns while it runs.
     *
     * @param site null: the only one there is
     * @throws Refusal when a run is going on, or there is no such site
     */
    public synchronized Run start(@Nullable String site, String requestedBy) {
        Run run = runs.open(RunKind.NIGHTLY_BACKUP, site(site), requestedBy);
        launch(run);
        return run;
    }

    /**
     * Starts a scrub and returns while it runs. What it was asked for is kept, and is what it goes on with after a crash.
     *
     * @throws Refusal when a run is going on, or there is no such site
     */
    public synchronized Run startScrub(ScrubRequest request, String requestedBy) {
        Run run = runs.openScrub(site(request.site()), request, requestedBy);
        launch(run);
        return run;
    }

    /**
     * Asks a run to stop: what is under way is finished, no more is begun.
     *
     * @throws Refusal when it is not running
     */
    public void stop(long runId, String requestedBy) {
        Run running = runs.find(runId)
                .filter(run -> run.state() == RunState.RUNNING && lastExecution(run) != null)
                .orElseThrow(() -> new Refusal("run", "run %d is not running".formatted(runId)));
        ledger.append(requestedBy, "run.stopping", String.valueOf(runId), Map.of());
        askToStop(running);
    }

    /**
     * Goes on with the run that nobody works on, if there is one: a dead process left it, or the database was away when its
     * job ended. Only the one process that works on this database may call it; at its start, and then from time to time.
     */
    public synchronized void recover() {
        if (jobThreads.idle()) {
            runs.running().ifPresent(this::recover);
        }
    }

    @Override
    public void start() {
        alive = true;
    }

    @Override
    public boolean isRunning() {
        return alive;
    }

    /** Called by Spring before anything a run needs is closed: waits for the job's thread, which still writes after the run. */
    @Override
    public void stop() {
        alive = false;
        runEnd.leave();
        try {
            if (!jobThreads.idle()) {
                runs.running().ifPresent(this::askToStop);
            }
        } finally {
            awaitJob();
        }
    }

    /** Does nothing when the job has ended by itself. */
    private void askToStop(Run run) {
        for (int i = 1; ; i++) {
            JobExecution execution = lastExecution(run);
            if (execution == null || !execution.isRunning()) {
                return;
            }
            try {
                operator.stop(execution);
                return;
            } catch (JobExecutionException ended) {
                LOG.info("run {} had ended before it could be stopped", run.id());
                return;
            } catch (OptimisticLockingFailureException e) {
                // The job wrote its own state between our question and our word: at its begin, or at its end.
                if (i == STOP_TRIES) {
                    throw e;
                }
            }
        }
    }

    private void awaitJob() {
        try {
            long limit = System.nanoTime() + LEAVING_LIMIT.toNanos();
            while (!jobThreads.idle() && System.nanoTime() < limit) {
                Thread.sleep(POLL);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void recover(Run run) {
        JobExecution last = lastExecution(run);
        if (last == null) {
            LOG.info("run {} had not begun; it begins now", run.id());
            launch(run);
            return;
        }
        if (last.getStatus() == BatchStatus.COMPLETED) {
            runs.close(run.id(), RunState.COMPLETE, "");
            return;
        }
        LOG.info("run {} was cut off; it goes on where it was", run.id());
        ledger.append(Ledger.SYSTEM, "run.recovered", String.valueOf(run.id()), Map.of());
        try {
            operator.restart(operator.recover(last));
        } catch (JobExecutionException e) {
            runs.close(run.id(), RunState.FAILED, "could not be gone on with: " + e.getMessage());
        }
    }

    private void launch(Run run) {
        try {
            operator.start(job(run.kind()), parameters(run));
        } catch (JobExecutionException | RuntimeException e) {
            LOG.error("run {} could not be started", run.id(), e);
            runs.close(run.id(), RunState.FAILED, "could not be started: " + e.getMessage());
        }
    }

    private Job job(RunKind kind) {
        return switch (kind) {
            case NIGHTLY_BACKUP -> nightlyBackup;
            case SCRUB -> scrub;
        };
    }

    private Site site(@Nullable String name) {
        if (name != null) {
            return sites.find(name).orElseThrow(() -> new Refusal("site", "there is no site \"%s\"".formatted(name)));
        }
        return sites.only().orElseThrow(() -> new Refusal("site", "there is no site yet; register one first"));
    }

    private @Nullable JobExecution lastExecution(Run run) {
        return repository.getLastJobExecution(run.kind().code(), parameters(run));
    }

    private static JobParameters parameters(Run run) {
        return new JobParametersBuilder()
                .addLong(NightlyBackupJob.RUN, run.id())
                .addLong(NightlyBackupJob.SITE, (long) run.siteId(), false)
                .toJobParameters();
    }
}
