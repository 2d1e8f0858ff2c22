package dozo.run;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.builder.FlowBuilder;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.job.flow.Flow;
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
 * The job {@code nightlyBackup}: check the site, erase, collect; then read sources, send in partitions and settle,
 * concurrently; compare, sweep, anchor, record, prune. A job instance is a run; the run's number is the only identifying
 * parameter. Spring Batch manages the steps and which of them a restart repeats. Their progress is in Dozo's own
 * tables, and no reader's state is stored (ADR 0054).
 */
@Configuration
@EnableConfigurationProperties(TransferSettings.class)
class NightlyBackupJob {

    static final String NAME = "nightlyBackup";

    /** The job of a worker process: its share of the same steps. */
    static final String SHARE = "nightlyShare";

    static final String RUN = "run";
    static final String SITE = "site";

    private static final String PARTITION = "partition";

    private final JobRepository repository;
    private final PlatformTransactionManager transactions;
    private final CollectStep collectStep;
    private final NightFlows flows;
    private final Looking looking;
    private final Sending sending;
    private final Settling settling;
    private final NightSteps steps;
    private final Anchors anchors;
    private final Erasing erasing;
    private final Recording recording;
    private final Retention retention;
    private final SiteAhead ahead;
    private final AtSite site;
    private final Replications replications;
    private final SendingWatch watch;
    private final TransferSettings settings;

    NightlyBackupJob(
            JobRepository repository,
            PlatformTransactionManager transactions,
            CollectStep collectStep,
            NightFlows flows,
            Looking looking,
            Sending sending,
            Settling settling,
            NightSteps steps,
            Anchors anchors,
            Erasing erasing,
            Recording recording,
            Retention retention,
            SiteAhead ahead,
            AtSite site,
            Replications replications,
            SendingWatch watch,
            TransferSettings settings) {
        this.repository = repository;
        this.transactions = transactions;
        this.collectStep = collectStep;
        this.flows = flows;
        this.looking = looking;
        this.sending = sending;
        this.settling = settling;
        this.steps = steps;
        this.anchors = anchors;
        this.erasing = erasing;
        this.recording = recording;
        this.retention = retention;
        this.ahead = ahead;
        this.site = site;
        this.replications = replications;
        this.watch = watch;
        this.settings = settings;
    }

    @Bean(NAME)
    Job job(RunEnd runEnd, PaceWatch pace) {
        return new JobBuilder(NAME, repository)
                .listener(runEnd)
                // Ends before the listener above, which closes the engine that it measures.
                .listener(pace)
                .start(new FlowBuilder<Flow>("prepare")
                        .start(checkSite())
                        // First, when nothing reads or sends yet: no experiment is erased while it is copied.
                        .next(erase())
                        .next(collect())
                        .build())
                .next(shared())
                .next(compare())
                .next(flowing("sweep", (flow, step) -> steps.sweep(flow))
                        .allowStartIfComplete(false)
                        .build())
                .next(flowing("anchor", (flow, step) -> anchors.write(flow))
                        .allowStartIfComplete(false)
                        .build())
                // Last, so that the record has the row of the anchor: a rebuilt ledger then contains every anchored
                // row.
                .next(flowing("record", (flow, step) -> {
                            int written = recording.record(flow);
                            erasing.conclude(flow);
                            return written;
                        })
                        .build())
                .next(prune())
                .end()
                .build();
    }

    @Bean(SHARE)
    Job share(ShareEnd end, PaceWatch pace) {
        return new JobBuilder(SHARE, repository)
                .listener(end)
                .listener(pace)
                .start(shared())
                .end()
                .build();
    }

    /** Returns the steps that all workers of a run do at the same time. */
    private Flow shared() {
        return sideBySide(
                whole(flowing("look", (flow, step) -> looking.look(flow))),
                send(),
                whole(flowing("settle", (flow, step) -> settling.settle(flow))));
    }

    private Flow sideBySide(Step... steps) {
        SimpleAsyncTaskExecutor threads = virtualThreads("flow-");
        threads.setTaskDecorator(flow -> LogFields.inherited(flows.watched(flow)));
        return new FlowBuilder<Flow>("sideBySide")
                .split(threads)
                .add(Arrays.stream(steps)
                        .map(step -> new FlowBuilder<Flow>(step.getName() + "Flow")
                                .start(step)
                                .build())
                        .toArray(Flow[]::new))
                .build();
    }

    /** Fails the run before anything else if a site cannot be used. A restart repeats it. */
    private Step checkSite() {
        return new StepBuilder("checkSite", repository)
                .tasklet(
                        (contribution, chunk) -> {
                            StepExecution step = contribution.getStepExecution();
                            site.first(flows.early(run(step), site(step)), sender -> {
                                replications.connect(run(step));
                                ahead.look(run(step), sender.reader());
                                return null;
                            });
                            return RepeatStatus.FINISHED;
                        },
                        new ResourcelessTransactionManager())
                .allowStartIfComplete(true)
                .build();
    }

    /** Not repeated by a restart, because then the run may have begun to copy what is due by now. */
    private Step erase() {
        return new StepBuilder("erase", repository)
                .tasklet(
                        (contribution, chunk) -> {
                            StepExecution step = contribution.getStepExecution();
                            contribution.incrementWriteCount(erasing.erase(flows.early(run(step), site(step))));
                            return RepeatStatus.FINISHED;
                        },
                        new ResourcelessTransactionManager())
                .build();
    }

    /** No transaction is open while bytes arrive; the step uses its own transactions for the database. */
    private Step collect() {
        return new StepBuilder("collect", repository)
                .tasklet(collectStep, new ResourcelessTransactionManager())
                .build();
    }

    /**
     * A restart begins all partitions again, also those that had nothing left: each sends what is left, no matter which
     * partition it belonged to.
     */
    private Step send() {
        Step worker = flowing("sendUnits", (flow, step) -> sending.send(flow, partition(step)))
                .build();
        return new StepBuilder("send", repository)
                .listener(watch)
                .listener(flows)
                .partitioner(
                        worker.getName(),
                        _ -> IntStream.range(0, settings.partitions())
                                .boxed()
                                .collect(Collectors.toMap(number -> PARTITION + number, _ -> new ExecutionContext())))
                .step(worker)
                .taskExecutor(virtualThreads("send-partition-"))
                .build();
    }

    /**
     * Returns the number of a partition from its step's name. NB: the framework stores the context of a step after the step, so a
     * run that lost the database in between has steps without one.
     */
    private static int partition(StepExecution step) {
        String name = step.getStepName();
        return Integer.parseInt(name.substring(name.lastIndexOf(PARTITION) + PARTITION.length()));
    }

    /** Deletes in its own transactions; a failure of it does not fail the night. */
    private Step prune() {
        return new StepBuilder("prune", repository)
                .tasklet(
                        (contribution, chunk) -> {
                            StepExecution step = contribution.getStepExecution();
                            retention.prune(() -> !step.isTerminateOnly());
                            return RepeatStatus.FINISHED;
                        },
                        new ResourcelessTransactionManager())
                .build();
    }

    private Step compare() {
        return new StepBuilder("compare", repository)
                .tasklet(
                        (contribution, chunk) -> {
                            StepExecution step = contribution.getStepExecution();
                            steps.compare(run(step), site(step));
                            return RepeatStatus.FINISHED;
                        },
                        transactions)
                .build();
    }

    private interface Flowing {
        /** Does the complete work in its own transactions, and returns how much it was. */
        int work(NightFlow flow, StepExecution step) throws Exception;
    }

    /** Creates a step of a flow. If it cannot continue, the others begin nothing more; if another cannot, it ends. */
    private TaskletStepBuilder flowing(String name, Flowing work) {
        Tasklet tasklet = (contribution, chunk) -> {
            StepExecution step = contribution.getStepExecution();
            NightFlow flow = flows.of(run(step), site(step));
            flow.requireLease();
            flow.check();
            try {
                contribution.incrementWriteCount(work.work(flow, step));
            } catch (Exception e) {
                flow.stop();
                throw e;
            }
            flow.check();
            return RepeatStatus.FINISHED;
        };
        return new StepBuilder(name, repository)
                .tasklet(tasklet, new ResourcelessTransactionManager())
                .allowStartIfComplete(true);
    }

    /** Creates a step that is a complete flow. */
    private Step whole(TaskletStepBuilder step) {
        return step.listener(flows).build();
    }

    static long run(StepExecution step) {
        return requireNonNull(step.getJobParameters().getLong(RUN));
    }

    static int site(StepExecution step) {
        return Math.toIntExact(requireNonNull(step.getJobParameters().getLong(SITE)));
    }

    private static SimpleAsyncTaskExecutor virtualThreads(String prefix) {
        SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor(prefix);
        executor.setVirtualThreads(true);
        executor.setTaskDecorator(LogFields::inherited);
        return executor;
    }
}
