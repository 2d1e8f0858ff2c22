package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.send.Stay;
import dozo.transfer.TransferUnits;
import dozo.transfer.TransferUnits.Claim;
import dozo.transfer.TransferUnits.Result;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.batch.core.configuration.annotation.StepScope;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.partition.Partitioner;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.Step;
import org.springframework.batch.core.step.StepExecution;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.core.step.tasklet.Tasklet;
import org.springframework.batch.infrastructure.item.ExecutionContext;
import org.springframework.batch.infrastructure.item.ItemProcessor;
import org.springframework.batch.infrastructure.item.ItemWriter;
import org.springframework.batch.infrastructure.repeat.RepeatStatus;
import org.springframework.batch.infrastructure.support.transaction.ResourcelessTransactionManager;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * The job {@code nightlyBackup}: check the site, collect, ingest, plan, send in partitions, settle, compare, sweep, anchor. A job
 * instance is a run; its number is the only parameter that identifies it. All progress is in our own tables, so a restart
 * asks them what is left and keeps no reader's state.
 */
@Configuration
@EnableConfigurationProperties(TransferSettings.class)
class NightlyBackupJob {

    static final String NAME = "nightlyBackup";
    static final String RUN = "run";
    static final String SITE = "site";

    private static final String AFTER = "after";
    private static final String PARTITION = "partition";

    private final JobRepository repository;
    private final PlatformTransactionManager transactions;
    private final CollectStep collectStep;
    private final NightSteps steps;
    private final Anchors anchors;
    private final Senders senders;
    private final SendingWatch watch;
    private final TransferSettings settings;

    NightlyBackupJob(
            JobRepository repository,
            PlatformTransactionManager transactions,
            CollectStep collectStep,
            NightSteps steps,
            Anchors anchors,
            Senders senders,
            SendingWatch watch,
            TransferSettings settings) {
        this.repository = repository;
        this.transactions = transactions;
        this.collectStep = collectStep;
        this.steps = steps;
        this.anchors = anchors;
        this.senders = senders;
        this.watch = watch;
        this.settings = settings;
    }

    @Bean(NAME)
    Job job(RunEnd runEnd, ClaimReader toSend, ItemWriter<Result> recorder) {
        return new JobBuilder(NAME, repository)
                .listener(runEnd)
                .start(checkSite())
                .next(collect())
                .next(eachExperiment("ingest", (run, site, after) -> steps.ingestNext(run, after)))
                .next(plan())
                .next(send(toSend, recorder))
                .next(eachExperiment("settle", (run, site, after) -> steps.settleNext(run, site, after)))
                .next(compare())
                .next(tasklet("sweep", (run, site) -> steps.sweep(run, site)))
                .next(tasklet("anchor", anchors::write))
                .build();
    }

    /** Fails the run before anything else is done when the site cannot be used. Done again at a restart. */
    private Step checkSite() {
        return new StepBuilder("checkSite", repository)
                .tasklet(
                        (contribution, chunk) -> {
                            senders.of(run(contribution.getStepExecution()), site(contribution.getStepExecution()));
                            return RepeatStatus.FINISHED;
                        },
                        transactions)
                .allowStartIfComplete(true)
                .build();
    }

    /** Bytes come while no transaction is open: what it does in the database, it does in transactions of its own. */
    private Step collect() {
        return new StepBuilder("collect", repository)
                .tasklet(collectStep, new ResourcelessTransactionManager())
                .build();
    }

    private Step plan() {
        return tasklet("plan", (run, site) -> steps.plan(run, site));
    }

    private Step compare() {
        return tasklet("compare", (run, site) -> steps.compare(run, site));
    }

    private Step send(ClaimReader reader, ItemWriter<Result> recorder) {
        Step worker = new StepBuilder("sendUnits", repository)
                .<Claim, Result>chunk(settings.chunk())
                .transactionManager(transactions)
                .reader(reader)
                .processor(sending())
                .writer(recorder)
                .taskExecutor(virtualThreads("send-unit-"))
                .build();
        return new StepBuilder("send", repository)
                .listener(watch)
                .partitioner(worker.getName(), partitioner(null))
                .step(worker)
                .taskExecutor(atMost(settings.partitions(), virtualThreads("send-partition-")))
                .build();
    }

    /** Which partitions a run has is asked when the step begins, so at a restart it is asked again: the rows are the same. */
    @Bean
    @StepScope
    Partitioner partitioner(@Value("#{jobParameters['run']}") @Nullable Long run) {
        return gridSize -> {
            Map<String, ExecutionContext> partitions = new HashMap<>();
            for (int i = 0; i < steps.partitions(requireNonNull(run)); i++) {
                ExecutionContext context = new ExecutionContext();
                context.putInt(PARTITION, i);
                partitions.put(PARTITION + i, context);
            }
            return partitions;
        };
    }

    @Bean
    @StepScope
    ClaimReader toSend(
            Runs runs,
            TransferUnits units,
            @Value("#{jobParameters['run']}") long run,
            @Value("#{stepExecutionContext['partition']}") int partition) {
        return new ClaimReader(runs, units, run, partition);
    }

    /** Sends while no statement runs: the engine knows no database. */
    private ItemProcessor<Claim, Result> sending() {
        return claim -> {
            var sender = senders.of(claim.runId(), claim.siteId());
            return new Result(claim, sender.send(claim.route(), claim.unit(), claim.proven()), sender.method());
        };
    }

    @Bean
    @StepScope
    ItemWriter<Result> recorder(TransferUnits units, @Value("#{jobParameters['run']}") long run) {
        String worker = worker();
        return results -> {
            try (Stay _ = senders.recording(run, results.size())) {
                results.forEach(result -> units.record(result, worker));
            }
        };
    }

    private interface OneExperiment {
        Optional<Integer> after(long run, int site, int after) throws IOException, InterruptedException;
    }

    private interface Once {
        void of(long run, int site) throws IOException, InterruptedException;
    }

    private Step tasklet(String name, Once work) {
        return new StepBuilder(name, repository)
                .tasklet(
                        (contribution, chunk) -> {
                            work.of(run(contribution.getStepExecution()), site(contribution.getStepExecution()));
                            return RepeatStatus.FINISHED;
                        },
                        transactions)
                .build();
    }

    /** A step that does one experiment a transaction, and at a restart goes on after the last one. */
    private Step eachExperiment(String name, OneExperiment work) {
        Tasklet tasklet = (contribution, chunk) -> {
            StepExecution step = contribution.getStepExecution();
            ExecutionContext context = step.getExecutionContext();
            Optional<Integer> done = work.after(run(step), site(step), context.getInt(AFTER, 0));
            done.ifPresent(id -> {
                context.putInt(AFTER, id);
                contribution.incrementWriteCount(1);
            });
            return RepeatStatus.continueIf(done.isPresent());
        };
        return new StepBuilder(name, repository).tasklet(tasklet, transactions).build();
    }

    static long run(StepExecution step) {
        return requireNonNull(step.getJobParameters().getLong(RUN));
    }

    private static int site(StepExecution step) {
        return Math.toIntExact(requireNonNull(step.getJobParameters().getLong(SITE)));
    }

    private static SimpleAsyncTaskExecutor virtualThreads(String prefix) {
        SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor(prefix);
        executor.setVirtualThreads(true);
        return executor;
    }

    /** Each partition holds a connection: units taken over from a run with more of them wait their turn. */
    private static SimpleAsyncTaskExecutor atMost(int partitions, SimpleAsyncTaskExecutor executor) {
        executor.setConcurrencyLimit(partitions);
        return executor;
    }

    private static String worker() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown host";
        }
    }
}
