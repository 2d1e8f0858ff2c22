package dozo.run;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.listener.JobExecutionListener;
import org.springframework.stereotype.Component;

/** Leaves a run when the share of this worker process has ended, in whatever way. The run belongs to the service. */
@Component
record ShareEnd(Senders senders, NightFlows flows) implements JobExecutionListener {

    private static final Logger LOG = LoggerFactory.getLogger(ShareEnd.class);

    @Override
    public void afterJob(JobExecution execution) {
        long run = NightlyBackupJob.run(execution);
        String why = reason(execution, run);
        senders.close(run);
        flows.close(run);
        if (execution.getStatus() == BatchStatus.COMPLETED) {
            LOG.info("left run {}: nothing is left to do", run);
        } else {
            LOG.warn("left run {} before its end: {}", run, why);
        }
    }

    /** Returns why a share that is not complete has ended, for people. */
    String reason(JobExecution execution, long run) {
        if (flows.isFenced(run)) {
            return "its lease had expired, and others have taken over its work";
        }
        Throwable failure = RunEnd.telling(execution.getAllFailureExceptions());
        return failure == null ? "it was paused or stopped" : RunEnd.reason(failure);
    }
}
