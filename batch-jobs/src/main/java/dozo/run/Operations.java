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
import java.util.Optional;
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

    /** How long a night waits for a scrub that makes way: what that has under way may be 1 GiB or a range. */
    private static final Duration MAKE_WAY_LIMIT = Duration.ofSeconds(60);

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

    /** The scrub that was asked to make way: once is enough. Guarded by this. */
    private long makingWay;

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
     * Starts the nightly backup and returns while it runs. A night has priority: a scrub that is going on is asked to stop, and
     * waited for at most a minute.
     *
     * @param site null: the only one there is
     * @throws Refusal when a night is going on, a scrub has not ended in that time, or there is no such site
     */
    public Run start(@Nullable String site, String requestedBy) {
        return start(site, requestedBy, MAKE_WAY_LIMIT);
    }

    Run start(@Nullable String name, String requestedBy, Duration limit) {
        Site site = site(name);
        long end = System.nanoTime() + limit.toNanos();
        while (true) {
            Optional<Run> started = startUnlessScrubbing(site, requestedBy);
            if (started.isPresent()) {
                return started.get();
            }
            // Not under the lock: whoever else asks meanwhile is told that a night is going on, once it is.
            pauseUntil(end);
        }
    }

    /**
     * Starts a scrub and returns while it runs; it stops nothing. What it was asked for is kept, and is what it goes on with after
     * a crash.
     *
     * @throws Refusal when a run is going on, or there is no such site
     */
    public synchronized Run startScrub(ScrubRequest request, String requestedBy) {
        Run run = runs.openScrub(site(request.site()), request, requestedBy);
        launch(run);
        return run;
    }

    /**
     * Asks a run to stop: what is under way is finished, no more is begun. One that nobody works on has ended with that. Only the
     * one process that works on this database may call it.
     *
     * @throws Refusal when it is not running
     */
    public synchronized void stop(long runId, String requestedBy) {
        Run running = runs.find(runId)
                .filter(run -> run.state() == RunState.RUNNING)
                .orElseThrow(() -> new Refusal("run", "run %d is not running".formatted(runId)));
        ledger.append(requestedBy, "run.stopping", String.valueOf(runId), Map.of());
        if (jobThreads.idle()) {
            // A dead process left it, and it was not gone on with yet: there is nothing to wait for.
            runs.close(runId, RunState.STOPPED, RunEnd.STOPPED);
        } else {
            askToStop(running);
        }
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

    /** Empty: a scrub is going on, and was asked to stop. The lock lets no other run of this process come in between. */
    private synchronized Optional<Run> startUnlessScrubbing(Site site, String requestedBy) {
        Optional<Run> scrub = runs.running().filter(run -> run.kind() == RunKind.SCRUB);
        if (scrub.isPresent()) {
            makeWay(scrub.get(), requestedBy);
            return Optional.empty();
        }
        Run run = runs.open(RunKind.NIGHTLY_BACKUP, site, requestedBy);
        launch(run);
        return Optional.of(run);
    }

    private void makeWay(Run scrub, String requestedBy) {
        if (!alive) {
            // What is going on is left for the next start, which must find it as it is.
            throw new Refusal("run", "the service is being stopped");
        }
        if (scrub.id() == makingWay && !jobThreads.idle()) {
            return;
        }
        try {
            stop(scrub.id(), requestedBy);
            makingWay = scrub.id();
            LOG.info("scrub {} was asked to stop for a nightly backup", scrub.id());
        } catch (Refusal ended) {
            LOG.info("scrub {} had ended before it could be stopped", scrub.id());
        }
    }

    private static void pauseUntil(long end) {
        if (System.nanoTime() >= end) {
            throw new Refusal(
                    "run", "a scrub was asked to stop and has not ended yet: it finishes what it reads; ask again");
        }
        try {
            Thread.sleep(POLL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Refusal("run", "interrupted while a scrub was to end");
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
        // Whoever goes on has not heard that it is to make way.
        makingWay = 0;
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
