package dozo.run;

import dozo.ledger.Ledger;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.ExitStatus;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.JobExecutionException;
import org.springframework.batch.core.job.parameters.JobParameters;
import org.springframework.batch.core.job.parameters.JobParametersBuilder;
import org.springframework.batch.core.launch.JobOperator;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.scope.context.StepSynchronizationManager;
import org.springframework.batch.core.step.StepExecution;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.stereotype.Component;

/** Starts, stops and continues the job of each run. The caller must serialize the calls. */
@Component
record Executions(
        @Qualifier(NightlyBackupJob.NAME) Job nightlyBackup,
        @Qualifier(ScrubJob.NAME) Job scrub,
        @Qualifier(ScrubJob.HOME) Job homeScrub,
        JobOperator operator,
        JobRepository repository,
        Runs runs,
        Scrubs scrubs,
        Ledger ledger,
        JobThreads threads,
        CollectStep collectStep,
        NightFlows flows) {

    /** The job writes its own state twice, so it can conflict with a stop twice. */
    private static final int STOP_TRIES = 3;

    /** How long to wait for a killed process's transactions; after that the next attempt decides. */
    private static final Duration LEFT_LIMIT = Duration.ofSeconds(5);

    private static final Duration LEFT_POLL = Duration.ofMillis(20);

    private static final Logger LOG = LoggerFactory.getLogger(Executions.class);

    boolean idle() {
        return threads.idle();
    }

    void launch(Run run) {
        try {
            operator.start(job(run.kind()), parameters(run));
        } catch (JobExecutionException | RuntimeException e) {
            LOG.error("run {} could not be started", run.id(), e);
            runs.close(run.id(), RunState.FAILED, "could not start: " + e.getMessage());
        }
    }

    /** Continues the job of a run that a dead process left. */
    void recover(Run run) {
        goOn(run, true);
    }

    /** Continues the job of a paused run. */
    void resume(Run run) {
        goOn(run, false);
    }

    /**
     * Asks a run's job to stop, and interrupts its collecting. May be repeated: the job is told once. Does nothing if the
     * job has ended.
     */
    void askToStop(Run run) {
        tellToStop(run);
        flows.stop(run.id());
        collectStep.interrupt();
    }

    private void tellToStop(Run run) {
        for (int i = 1; ; i++) {
            JobExecution execution = last(run);
            if (execution == null || !execution.isRunning() || execution.isStopping()) {
                return;
            }
            try {
                operator.stop(execution);
                return;
            } catch (JobExecutionException ended) {
                LOG.info("run {} had ended before it could be stopped", run.id());
                return;
            } catch (OptimisticLockingFailureException e) {
                // NB: the framework leaves its note in a static map then, and a later step with that number would stop
                // at once.
                StepSynchronizationManager.release();
                // The job wrote its own state between our query and our stop: at its beginning, or at its end.
                if (i == STOP_TRIES) {
                    throw e;
                }
            }
        }
    }

    private void goOn(Run run, boolean cutOff) {
        if (!awaitLeft(run.id())) {
            LOG.warn("run {} waits: the database still has an open transaction of the previous process", run.id());
            return;
        }
        JobExecution last = last(run);
        if (last == null) {
            LOG.info("run {} had not started; it starts now", run.id());
            launch(run);
            return;
        }
        if (last.getStatus() == BatchStatus.COMPLETED) {
            runs.close(run.id(), RunState.COMPLETE, "");
            return;
        }
        LOG.info("run {} was {}; it continues", run.id(), cutOff ? "cut off" : "paused");
        if (cutOff) {
            ledger.append(Ledger.SYSTEM, "run.recovered", String.valueOf(run.id()), Map.of());
        }
        try {
            operator.restart(restartable(last));
        } catch (JobExecutionException e) {
            runs.close(run.id(), RunState.FAILED, "could not continue: " + e.getMessage());
        }
    }

    private boolean awaitLeft(long run) {
        long end = System.nanoTime() + LEFT_LIMIT.toNanos();
        while (!scrubs.isLeft(run)) {
            if (System.nanoTime() >= end) {
                return false;
            }
            LockSupport.parkNanos(LEFT_POLL.toNanos());
        }
        return true;
    }

    /**
     * Returns an execution that may be restarted. If the database was lost within a transaction, the framework does not
     * know how far the execution came, and neither recovers nor restarts it. Dozo's own rows know: what was not
     * committed was not done (ADR 0048).
     */
    private JobExecution restartable(JobExecution last) {
        if (last.getStatus() != BatchStatus.UNKNOWN
                && last.getStepExecutions().stream().noneMatch(step -> step.getStatus() == BatchStatus.UNKNOWN)) {
            return operator.recover(last);
        }
        LocalDateTime end = Objects.requireNonNullElse(last.getEndTime(), last.getCreateTime());
        for (StepExecution step : last.getStepExecutions()) {
            if (step.getStatus() == BatchStatus.UNKNOWN || step.getStatus().isRunning()) {
                step.setStatus(BatchStatus.FAILED);
                step.setExitStatus(ExitStatus.FAILED);
                step.setEndTime(end);
                repository.update(step);
            }
        }
        last.setStatus(BatchStatus.FAILED);
        last.setExitStatus(ExitStatus.FAILED);
        last.setEndTime(end);
        repository.update(last);
        return last;
    }

    private Job job(RunKind kind) {
        return switch (kind) {
            case NIGHTLY_BACKUP, RETRY, CHOSEN, REPLICATION -> nightlyBackup;
            case SCRUB -> scrub;
            case HOME_SCRUB -> homeScrub;
            case REBUILD -> throw new IllegalArgumentException("a rebuild of the catalogue is no job of the service");
        };
    }

    private @Nullable JobExecution last(Run run) {
        return repository.getLastJobExecution(job(run.kind()).getName(), parameters(run));
    }

    static JobParameters parameters(Run run) {
        return new JobParametersBuilder()
                .addLong(NightlyBackupJob.RUN, run.id())
                .addLong(NightlyBackupJob.SITE, (long) run.siteId(), false)
                .toJobParameters();
    }
}
