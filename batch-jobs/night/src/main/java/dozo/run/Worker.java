package dozo.run;

import dozo.transfer.RunWorkers;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.JobExecutionException;
import org.springframework.batch.core.job.parameters.JobParametersBuilder;
import org.springframework.batch.core.launch.JobOperator;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;

/**
 * A worker process: joins the run that the service works on, does its share, leaves, and waits for the next one (ADR 0080).
 * It looks when a notice arrives, and from time to time without one.
 */
@Component
public class Worker {

    /** How long a run without a notice waits for this worker. */
    private static final Duration POLL = Duration.ofSeconds(15);

    /** After a failure, so that a site or source that cannot be used here is not tried all the time. */
    private static final Duration PAUSE = Duration.ofSeconds(5);

    /** How long the current units may take when the process ends. */
    private static final Duration LEAVING_LIMIT = Duration.ofSeconds(25);

    private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

    private final Job share;
    private final JobOperator operator;
    private final JobThreads threads;
    private final Runs runs;
    private final RunWorkers workers;
    private final NightFlows flows;
    private final Semaphore noticed = new Semaphore(0);
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean leaving;
    private String told = "";

    Worker(
            @Qualifier(NightlyBackupJob.SHARE) Job share,
            JobOperator operator,
            JobThreads threads,
            Runs runs,
            RunWorkers workers,
            NightFlows flows,
            Notices notices) {
        this.share = share;
        this.operator = operator;
        this.threads = threads;
        this.runs = runs;
        this.workers = workers;
        this.flows = flows;
        notices.onEach(_ -> noticed.release());
    }

    /** Works until {@link #leave}. */
    public void work() throws InterruptedException {
        try {
            while (!leaving) {
                workOnce();
                var _ = noticed.tryAcquire(POLL.toMillis(), TimeUnit.MILLISECONDS);
                noticed.drainPermits();
            }
        } finally {
            ended.countDown();
        }
    }

    /** Asks this worker to finish what it has begun and to begin no more, and waits for that, within a limit. */
    public void leave() {
        leaving = true;
        noticed.release();
        flows.stopAll();
        try {
            if (!ended.await(LEAVING_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn("not all that was begun has ended; others will send it again");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void workOnce() throws InterruptedException {
        try {
            long run = workers.open();
            if (run == 0) {
                String other = workers.otherVersion();
                say(other.isEmpty() ? "" : "the service has version %s; install it here too".formatted(other));
                return;
            }
            say("");
            share(run);
        } catch (DataAccessException e) {
            say("the database does not answer: " + e.getMessage());
        } catch (JobExecutionException | RuntimeException e) {
            LOG.error("a share of a run failed; it is tried again", e);
        }
    }

    private void share(long run) throws JobExecutionException, InterruptedException {
        LOG.info("joins run {}", run);
        var _ = operator.start(
                share,
                new JobParametersBuilder(Executions.parameters(runs.find(run).orElseThrow()))
                        .addString("share", UUID.randomUUID().toString())
                        .toJobParameters());
        while (!threads.idle()) {
            Thread.sleep(NightFlow.NAP);
            if (leaving) {
                flows.stopAll();
            }
        }
        var _ = ended.await(leaving ? 0 : PAUSE.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Logs a state once. */
    private void say(String state) {
        if (!state.equals(told) && !state.isEmpty()) {
            LOG.warn("{}", state);
        }
        told = state;
    }
}
