package dozo.run;

import java.io.IOException;
import java.util.Optional;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.listener.StepExecutionListener;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.Step;
import org.springframework.batch.core.step.StepExecution;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.core.step.builder.TaskletStepBuilder;
import org.springframework.batch.core.step.tasklet.Tasklet;
import org.springframework.batch.infrastructure.item.ExecutionContext;
import org.springframework.batch.infrastructure.repeat.RepeatStatus;
import org.springframework.batch.infrastructure.support.transaction.ResourcelessTransactionManager;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * The job {@code scrub}: check the site, read stored copies again in partitions, examine the bags and Dozo's own files,
 * conclude. A job instance is a run. The remaining work is the order of the queue in Dozo's own tables, so that the next scrub
 * continues after one that was stopped or died.
 */
@Configuration
@EnableConfigurationProperties(ScrubSettings.class)
class ScrubJob {

    static final String NAME = "scrub";

    private static final String AFTER = "after";

    /** Steps that use the site have a transaction of their own for each piece: none is open while they wait for the site. */
    private static final PlatformTransactionManager OWN = new ResourcelessTransactionManager();

    private final JobRepository repository;
    private final PlatformTransactionManager transactions;
    private final ScrubSteps steps;
    private final TransferSettings settings;

    private interface Work {
        boolean more(long run, int site, ExecutionContext context)
                throws IOException, JobInterruptedException, InterruptedException;
    }

    private interface Once {
        void all(long run, int site) throws IOException, JobInterruptedException, InterruptedException;
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
    Job scrubbing(RunEnd runEnd, PaceWatch pace) {
        return new JobBuilder(NAME, repository)
                .listener(runEnd)
                // Ends before the listener above, which closes the engine that it measures.
                .listener(pace)
                // Fails the run before anything is reported missing, if the site cannot be used. A restart repeats it.
                .start(step("checkSiteToRead", once(steps::checkSite), OWN)
                        .allowStartIfComplete(true)
                        .build())
                .next(read())
                .next(step("examine", this::examine, OWN).build())
                .next(step("examineOwn", once(steps::examineOwn), OWN).build())
                .next(step("conclude", once(steps::conclude), transactions).build())
                .build();
    }

    /**
     * Partitions differ only in what they claim: they keep the site and this machine busy at the same time. Each start
     * of the run walks the queue from its beginning: what another partition had claimed and not read is before the
     * position of every partition, and there may be fewer partitions now.
     */
    private Step read() {
        StepExecutionListener fromTheBegin = new StepExecutionListener() {
            @Override
            public void beforeStep(StepExecution step) {
                step.setExecutionContext(new ExecutionContext());
            }
        };
        Step worker = step("readCopies", steps::readNext, OWN)
                .listener(fromTheBegin)
                .allowStartIfComplete(true)
                .build();
        SimpleAsyncTaskExecutor threads = NightlyBackupJob.virtualThreads("read-partition-");
        threads.setConcurrencyLimit(settings.partitions());
        return new StepBuilder("read", repository)
                .partitioner(worker.getName(), NightlyBackupJob.partitions(settings))
                .step(worker)
                .taskExecutor(threads)
                .build();
    }

    private boolean examine(long run, int site, ExecutionContext context)
            throws IOException, JobInterruptedException, InterruptedException {
        Optional<Integer> examined = steps.examineNext(run, site, context.getInt(AFTER, 0));
        examined.ifPresent(experiment -> context.putInt(AFTER, experiment));
        return examined.isPresent();
    }

    private static Work once(Once work) {
        return (run, site, context) -> {
            work.all(run, site);
            return false;
        };
    }

    /** Creates a step whose work is called until there is no more. Its position is in the step's context. */
    private TaskletStepBuilder step(String name, Work work, PlatformTransactionManager in) {
        Tasklet tasklet = (contribution, chunk) -> {
            StepExecution step = contribution.getStepExecution();
            return RepeatStatus.continueIf(
                    work.more(NightlyBackupJob.run(step), NightlyBackupJob.site(step), step.getExecutionContext()));
        };
        return new StepBuilder(name, repository).tasklet(tasklet, in);
    }
}
