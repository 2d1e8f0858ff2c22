package dozo.run;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.listener.StepExecutionListener;
import org.springframework.batch.core.partition.Partitioner;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.Step;
import org.springframework.batch.core.step.StepExecution;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.core.step.tasklet.Tasklet;
import org.springframework.batch.infrastructure.item.ExecutionContext;
import org.springframework.batch.infrastructure.repeat.RepeatStatus;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * The job {@code scrub}: check the site, read stored copies again in partitions, examine the bags, conclude. A job instance is a
 * run. What is left to do is the queue's order in our own tables, so one that was stopped, or died, is gone on with by the next.
 */
@Configuration
@EnableConfigurationProperties(ScrubSettings.class)
class ScrubJob {

    static final String NAME = "scrub";

    private static final String AFTER = "after";

    private final JobRepository repository;
    private final PlatformTransactionManager transactions;
    private final ScrubSteps steps;
    private final TransferSettings settings;

    private interface Work {
        boolean more(long run, int site, ExecutionContext context) throws IOException, InterruptedException;
    }

    ScrubJob(
            JobRepository repository,
            PlatformTransactionManager transactions,
            ScrubSteps steps,
            TransferSettings settings) {
        this.repository = repository;
        this.transactions = transactions;
        this.steps = steps;
        this.settings = settings;
    }

    @Bean(NAME)
    Job scrubbing(RunEnd runEnd) {
        return new JobBuilder(NAME, repository)
                .listener(runEnd)
                .start(checkSite())
                .next(read())
                .next(examine())
                .next(conclude())
                .build();
    }

    /** Fails the run before anything is called missing when the site cannot be used. Done again at a restart. */
    private Step checkSite() {
        return new StepBuilder("checkSiteToRead", repository)
                .tasklet(
                        repeating((run, site, context) -> {
                            steps.checkSite(run, site);
                            return false;
                        }),
                        transactions)
                .allowStartIfComplete(true)
                .build();
    }

    /**
     * Partitions differ in nothing but what they claim: they keep the site and us busy at the same time. Each life of the run goes
     * through the queue from its begin: what another partition had claimed and did not read lies behind everybody's place in it, and
     * there may be fewer partitions now.
     */
    private Step read() {
        StepExecutionListener fromTheBegin = new StepExecutionListener() {
            @Override
            public void beforeStep(StepExecution step) {
                step.setExecutionContext(new ExecutionContext());
            }
        };
        Step worker = new StepBuilder("readCopies", repository)
                .listener(fromTheBegin)
                .tasklet(repeating(steps::readNext), transactions)
                .allowStartIfComplete(true)
                .build();
        Partitioner partitioner = gridSize -> {
            Map<String, ExecutionContext> partitions = new HashMap<>();
            for (int i = 0; i < settings.partitions(); i++) {
                partitions.put("partition" + i, new ExecutionContext());
            }
            return partitions;
        };
        SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("read-partition-");
        threads.setVirtualThreads(true);
        threads.setConcurrencyLimit(settings.partitions());
        return new StepBuilder("read", repository)
                .partitioner(worker.getName(), partitioner)
                .step(worker)
                .taskExecutor(threads)
                .build();
    }

    private Step examine() {
        return new StepBuilder("examine", repository)
                .tasklet(
                        repeating((run, site, context) -> {
                            Optional<Integer> examined = steps.examineNext(run, site, context.getInt(AFTER, 0));
                            examined.ifPresent(experiment -> context.putInt(AFTER, experiment));
                            return examined.isPresent();
                        }),
                        transactions)
                .build();
    }

    private Step conclude() {
        return new StepBuilder("conclude", repository)
                .tasklet(
                        repeating((run, site, context) -> {
                            steps.conclude(run, site);
                            return false;
                        }),
                        transactions)
                .build();
    }

    /** A tasklet whose every call is a transaction; where it is is kept in its step's context. */
    private static Tasklet repeating(Work work) {
        return (contribution, chunk) -> {
            StepExecution step = contribution.getStepExecution();
            long run = requireNonNull(step.getJobParameters().getLong(NightlyBackupJob.RUN));
            int site = Math.toIntExact(requireNonNull(step.getJobParameters().getLong(NightlyBackupJob.SITE)));
            return RepeatStatus.continueIf(work.more(run, site, step.getExecutionContext()));
        };
    }
}
