package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.db.LostDatabase;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.remote.RemoteException;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.JobExecutionException;
import org.springframework.batch.core.listener.JobExecutionListener;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.stereotype.Component;

/** Closes a run when its job has ended, however it has. */
@Component
class RunEnd implements JobExecutionListener {

    /** What is said of a run that was stopped. */
    static final String STOPPED = "stopped; the next run continues where this one ended";

    /** A run that ends the database again and again would do so for ever. */
    private static final int LOSSES_MAX = 3;

    private static final Logger LOG = LoggerFactory.getLogger(RunEnd.class);

    private final Runs runs;
    private final Findings findings;
    private final Senders senders;
    private final NightFlows flows;
    private volatile boolean leaving;

    /** The run that lost the database last, and how often. Only the one job's thread has them. */
    private volatile long lost;

    private volatile int losses;

    RunEnd(Runs runs, Findings findings, Senders senders, NightFlows flows) {
        this.runs = runs;
        this.findings = findings;
        this.senders = senders;
        this.flows = flows;
    }

    /** From now on a run that does not complete is cut off by the end of the process: the next start goes on with it. */
    void leave() {
        leaving = true;
    }

    @Override
    public void afterJob(JobExecution execution) {
        long run = requireNonNull(execution.getJobParameters().getLong(NightlyBackupJob.RUN));
        senders.close(run);
        flows.close(run);
        BatchStatus status = execution.getStatus();
        if (status == BatchStatus.COMPLETED) {
            runs.close(run, RunState.COMPLETE, "");
            return;
        }
        Run asked = runs.find(run).orElseThrow();
        boolean paused = asked.state() == RunState.PAUSED;
        if (asked.stops() && (paused || obeyed(execution) || lostDatabase(execution))) {
            runs.close(run, RunState.STOPPED, STOPPED);
        } else if (leaving) {
            LOG.info("run {} is left for the next start to go on with", run);
        } else if (paused) {
            // However it ended: it was asked to, perhaps cut off, and if anything else is wrong it is so when it is
            // resumed.
            LOG.info("run {} is paused; its job is {}", run, status, telling(execution.getAllFailureExceptions()));
        } else if (lostDatabase(execution) && mayGoOn(run)) {
            LOG.warn("run {} lost the database; it continues within a minute", run);
        } else {
            Throwable failure = telling(execution.getAllFailureExceptions());
            RemoteException site = cause(failure, RemoteException.class);
            String reason = reason(failure);
            // Only of a defect does anybody want to know where it was noticed.
            LOG.error("run {} failed: {}", run, reason, site == null ? failure : null);
            Problem problem = site == null ? Problem.RUN_FAILED : Problem.SITE_UNUSABLE;
            findings.add(run, List.of(new Finding(null, problem, null, reason)));
            runs.close(run, RunState.FAILED, reason);
        }
    }

    /**
     * Whether a job ended because it was asked to. The framework's word to stop changes the job's row, over which the job stumbles when it
     * writes its own state at that moment, at its begin most of all.
     */
    private static boolean obeyed(JobExecution execution) {
        return execution.getStatus() == BatchStatus.STOPPED
                || execution.getStatus() == BatchStatus.STOPPING
                || cause(telling(execution.getAllFailureExceptions()), OptimisticLockingFailureException.class) != null;
    }

    /** Whether a job ended because it lost the database: what it left is as what a dead process left. */
    private static boolean lostDatabase(JobExecution execution) {
        return execution.getAllFailureExceptions().stream().anyMatch(LostDatabase::isBehind);
    }

    private boolean mayGoOn(long run) {
        losses = lost == run ? losses + 1 : 1;
        lost = run;
        return losses <= LOSSES_MAX;
    }

    /** The one that says why: the framework adds its own, that a step has failed, in no particular order. */
    private static @Nullable Throwable telling(List<Throwable> failures) {
        Comparator<Throwable> bestFirst = Comparator.comparingInt(failure -> cause(failure, RemoteException.class)
                        != null
                ? 0
                : cause(failure, SQLException.class) != null ? 1 : failure instanceof JobExecutionException ? 3 : 2);
        return failures.stream().min(bestFirst).orElse(null);
    }

    private static String reason(@Nullable Throwable failure) {
        RemoteException site = cause(failure, RemoteException.class);
        if (site != null) {
            return String.valueOf(site.getMessage());
        }
        SQLException database = cause(failure, SQLException.class);
        return database == null
                ? "a defect of Dozo; see the log: " + failure
                : "the database failed: %s; the next run continues where this one ended"
                        .formatted(database.getMessage());
    }

    /** What lies at the bottom of it, however deep the framework has wrapped it. */
    private static <T extends Throwable> @Nullable T cause(@Nullable Throwable failure, Class<T> type) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
        }
        return null;
    }
}
