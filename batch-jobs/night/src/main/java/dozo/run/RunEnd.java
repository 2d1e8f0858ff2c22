package dozo.run;

import static dozo.ledger.Failure.cause;

import dozo.db.LostDatabase;
import dozo.file.Problem;
import dozo.ledger.Failure;
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
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.batch.core.listener.JobExecutionListener;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.stereotype.Component;

/** Closes a run when its job has ended, in whatever way. */
@Component
class RunEnd implements JobExecutionListener {

    static final String STOPPED = "stopped; the next run continues where this one ended";

    /** How often a run may lose the database; otherwise a run that crashes the database would repeat for ever. */
    private static final int LOSSES_MAX = 3;

    private static final Logger LOG = LoggerFactory.getLogger(RunEnd.class);

    private final Runs runs;
    private final Findings findings;
    private final Senders senders;
    private final Replications replications;
    private final NightFlows flows;
    private volatile boolean leaving;

    /** The run that last lost the database, and how often. Only the thread of the one job uses them. */
    private volatile long lost;

    private volatile int losses;

    RunEnd(Runs runs, Findings findings, Senders senders, Replications replications, NightFlows flows) {
        this.runs = runs;
        this.findings = findings;
        this.senders = senders;
        this.replications = replications;
        this.flows = flows;
    }

    /**
     * Leaves a run that does not complete from now on as interrupted by the end of the process: the next start
     * continues it.
     */
    void leave() {
        leaving = true;
    }

    @Override
    public void afterJob(JobExecution execution) {
        long run = NightlyBackupJob.run(execution);
        senders.close(run);
        replications.close(run);
        flows.close(run);
        BatchStatus status = execution.getStatus();
        if (status == BatchStatus.COMPLETED) {
            runs.close(run, RunState.COMPLETE, "");
            return;
        }
        Run asked = runs.find(run).orElseThrow();
        boolean paused = asked.state() == RunState.PAUSED;
        if (asked.stops() && (paused || obeyed(execution) || lostDatabase(execution))) {
            flows.dismiss(run);
            runs.close(run, RunState.STOPPED, STOPPED);
        } else if (leaving) {
            LOG.info("run {} will continue at the next start", run);
        } else if (paused) {
            // Its end was requested, perhaps forced. Any other problem will show again after the resume.
            LOG.info("run {} is paused; its job is {}", run, status, telling(execution.getAllFailureExceptions()));
        } else if (lostDatabase(execution) && mayGoOn(run)) {
            LOG.warn("run {} lost the database; it continues within a minute", run);
        } else {
            Throwable failure = telling(execution.getAllFailureExceptions());
            RemoteException site = cause(failure, RemoteException.class);
            String reason = reason(failure);
            // The stack trace matters only for a defect.
            LOG.error("run {} failed: {}", run, reason, site == null ? failure : null);
            findings.add(run, new Finding(null, problem(site), reason));
            flows.dismiss(run);
            runs.close(run, RunState.FAILED, reason);
        }
    }

    private static Problem problem(@Nullable RemoteException site) {
        return site == null
                ? Problem.RUN_FAILED
                : switch (site.reason()) {
                    case UNREACHABLE, LOST, STUCK -> Problem.SITE_UNREACHABLE;
                    case HOST_KEY -> Problem.SITE_KEY_CHANGED;
                    case FULL -> Problem.SITE_FULL;
                    default -> Problem.SITE_UNUSABLE;
                };
    }

    /**
     * Returns whether a job ended because it was asked to. The framework's request to stop changes the job's row. The
     * job fails if it writes its own state at that moment, most likely at its beginning.
     */
    private static boolean obeyed(JobExecution execution) {
        return execution.getStatus() == BatchStatus.STOPPED
                || execution.getStatus() == BatchStatus.STOPPING
                || cause(telling(execution.getAllFailureExceptions()), OptimisticLockingFailureException.class) != null;
    }

    /** Returns whether a job ended because it lost the database: what it left is like what a dead process left. */
    private static boolean lostDatabase(JobExecution execution) {
        return execution.getAllFailureExceptions().stream().anyMatch(LostDatabase::isBehind);
    }

    private boolean mayGoOn(long run) {
        losses = lost == run ? losses + 1 : 1;
        lost = run;
        return losses <= LOSSES_MAX;
    }

    /**
     * Returns the failure that gives the reason. The framework adds its own, that a step has failed, in no particular
     * order.
     */
    static @Nullable Throwable telling(List<Throwable> failures) {
        Comparator<Throwable> bestFirst = Comparator.comparingInt(failure -> cause(failure, RemoteException.class)
                        != null
                ? 0
                : cause(failure, SQLException.class) != null ? 1 : failure instanceof JobExecutionException ? 3 : 2);
        return failures.stream().min(bestFirst).orElse(null);
    }

    static String reason(@Nullable Throwable failure) {
        RemoteException site = cause(failure, RemoteException.class);
        if (site != null) {
            return String.valueOf(site.getMessage());
        }
        String next = "the next run continues where this one ended";
        return failure instanceof JobInterruptedException
                ? "the work was interrupted; " + next
                : Failure.reason(failure, next);
    }
}
