package dozo.run;

import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.remote.RemoteException;
import dozo.run.Runs.RunState;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.listener.JobExecutionListener;
import org.springframework.stereotype.Component;

/** Closes a run when its job has ended, however it has. */
@Component
class RunEnd implements JobExecutionListener {

    private static final Logger LOG = LoggerFactory.getLogger(RunEnd.class);

    private final Runs runs;
    private final Findings findings;
    private final Senders senders;
    private volatile boolean leaving;

    RunEnd(Runs runs, Findings findings, Senders senders) {
        this.runs = runs;
        this.findings = findings;
        this.senders = senders;
    }

    /** From now on a run that does not complete is cut off by the end of the process: the next start goes on with it. */
    void leave() {
        leaving = true;
    }

    @Override
    public void afterJob(JobExecution execution) {
        long run = java.util.Objects.requireNonNull(execution.getJobParameters().getLong(NightlyBackupJob.RUN));
        senders.close(run);
        BatchStatus status = execution.getStatus();
        if (status == BatchStatus.COMPLETED) {
            runs.close(run, RunState.COMPLETE, "");
        } else if (leaving) {
            LOG.info("run {} is left for the next start to go on with", run);
        } else if (status == BatchStatus.STOPPED || status == BatchStatus.STOPPING) {
            runs.close(run, RunState.STOPPED, "stopped; the next run goes on where it was");
        } else {
            Throwable failure =
                    execution.getAllFailureExceptions().stream().findFirst().orElse(null);
            RemoteException site = siteFailure(failure);
            String reason = site == null ? "a defect of Dozo: " + failure : String.valueOf(site.getMessage());
            // Only of a defect does anybody want to know where it was noticed.
            LOG.error("run {} failed: {}", run, reason, site == null ? failure : null);
            findings.add(run, List.of(new Finding(null, Problem.SITE_UNUSABLE, null, reason)));
            runs.close(run, RunState.FAILED, reason);
        }
    }

    /** What the site said, however deep the framework has wrapped it. */
    private static @Nullable RemoteException siteFailure(@Nullable Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof RemoteException site) {
                return site;
            }
        }
        return null;
    }
}
