package dozo.run;

import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.run.Runs.RunState;
import java.util.List;
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

    RunEnd(Runs runs, Findings findings, Senders senders) {
        this.runs = runs;
        this.findings = findings;
        this.senders = senders;
    }

    @Override
    public void afterJob(JobExecution execution) {
        long run = java.util.Objects.requireNonNull(execution.getJobParameters().getLong(NightlyBackupJob.RUN));
        senders.close(run);
        BatchStatus status = execution.getStatus();
        if (status == BatchStatus.COMPLETED) {
            runs.close(run, RunState.COMPLETE, "");
        } else if (status == BatchStatus.STOPPED || status == BatchStatus.STOPPING) {
            runs.close(run, RunState.STOPPED, "stopped; the next run goes on where it was");
        } else {
            String reason = execution.getAllFailureExceptions().stream()
                    .map(NightlyBackupJob::reason)
                    .findFirst()
                    .orElse("the job ended as " + status);
            LOG.error("run {} failed: {}", run, reason);
            findings.add(run, List.of(new Finding(null, Problem.SITE_UNUSABLE, null, reason)));
            runs.close(run, RunState.FAILED, reason);
        }
    }
}
