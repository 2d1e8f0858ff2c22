package dozo.run;

import static java.util.Objects.requireNonNull;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.builder.FlowBuilder;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.job.flow.Flow;
import org.springframework.batch.core.partition.Partitioner;
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

/**
 * The job {@code nightlyBackup}: check the site, erase, collect; then read sources, send in partitions and settle,
 * concurrently; compare, sweep, anchor, record, prune, check origins. A job instance is a run; the run's number is the only identifying
 * parameter. Spring Batch manages the steps and which of them a restart repeats. Their progress is in Dozo's own
 * tables, and no reader's state is stored (ADR 0054).
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(TransferSettings.class)
record NightlyBackupJob(
        JobRepository repository,
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

    static final String NAME = "nightlyBackup";

    /** The job of a worker process: its share of the same steps. */
    static final String SHARE = "nightlyShare";

    static final String RUN = "run";
    static final String SITE = "site";

    private static final String PARTITION = "partition";

    @Bean(NAME)
    Job job(RunEnd runEnd, PaceWatch pace) {
        return new JobBuilder(NAME, repository)
                .listener(runEnd)
                // Ends before the listener above, which closes the engine that it measures.
                .listener(pace)
                .start(new FlowBuilder<Flow>("prepare")
                        .start(checkSite())
                        // First, when nothing reads or sends yet: no experiment is erased while it is copied. Not
                        // repeated
                        // by a restart, because then the run may have begun to copy what is due by now.
                        .next(alone("erase", erasing::erase).build())
                        .next(new StepBuilder("collect", repository)
                                .tasklet(collectStep, new ResourcelessTransactionManager())
                                .build())
                        .build())
                .next(shared())
                .next(alone("compare", flow -> steps.compare(flow.run(), flow.site()))
                        .build())
                .next(flowing("sweep", (flow, _) -> steps.sweep(flow))
                        .allowStartIfComplete(false)
                        .build())
                .next(flowing("anchor", (flow, _) -> anchors.write(flow))
                        .allowStartIfComplete(false)
                        .build())
                // Last, so that the record has the row of the anchor: a rebuilt ledger then contains every anchored
                // row.
                .next(flowing("record", (flow, _) -> {
                            int written = recording.record(flow);
                            erasing.conclude(flow);
                            return written;
                        })
                        .build())
                .next(alone("prune", flow -> retention.prune(() -> !flow.ends()))
                        .build())
                // Last, because nothing waits for it.
                .next(new StepBuilder("checkOrigins", repository)
                        .tasklet(collectStep::check, new ResourcelessTransactionManager())
                        .build())
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
        SimpleAsyncTaskExecutor threads = virtualThreads("flow-");
        threads.setTaskDecorator(flow -> LogFields.inherited(flows.watched(flow)));
        return new FlowBuilder<Flow>("sideBySide")
                .split(threads)
                .add(Stream.of(
                                whole(flowing("look", (flow, _) -> looking.look(flow))),
                                send(),
                                whole(flowing("settle", (flow, _) -> settling.settle(flow))))
                        .map(step -> new FlowBuilder<Flow>(step.getName() + "Flow")
                                .start(step)
                                .build())
                        .toArray(Flow[]::new))
                .build();
    }

    /** Fails the run before anything else if a site cannot be used. A restart repeats it. */
    private Step checkSite() {
        return alone(
                        "checkSite",
                        flow -> site.first(flow, sender -> {
                            replications.connect(flow.run());
                            ahead.look(flow.run(), sender.reader());
                            return null;
                        }))
                .allowStartIfComplete(true)
                .build();
    }

    /**
     * A partition is a sender of its own, and not the owner of its units: it claims those planned for it first, then any. A
     * restart begins all partitions again, also those that had nothing left.
     */
    private Step send() {
        Step worker = flowing("sendUnits", (flow, step) -> sending.send(flow, partition(step)))
                .build();
        return new StepBuilder("send", repository)
                .listener(watch)
                .listener(flows)
                .partitioner(worker.getName(), partitions(settings))
                .step(worker)
                .taskExecutor(virtualThreads("send-partition-"))
                .build();
    }

    /** Returns partitions that differ only in their numbers: what each does is claimed, so their contexts are empty. */
    static Partitioner partitions(TransferSettings settings) {
        return _ -> IntStream.range(0, settings.partitions())
                .boxed()
                .collect(Collectors.toMap(number -> PARTITION + number, _ -> new ExecutionContext()));
    }

    /**
     * Returns the number of a partition from its step's name. NB: the framework stores the context of a step after the step, so a
     * run that lost the database in between has steps without one.
     */
    private static int partition(StepExecution step) {
        String name = step.getStepName();
        return Integer.parseInt(name.substring(name.lastIndexOf(PARTITION) + PARTITION.length()));
    }

    /** The work of a step, in its own transactions: none is open while it waits for a site. */
    interface Work {
        void of(NightFlow flow) throws Exception;
    }

    private interface Flowing {
        /** Returns how much it was. */
        int work(NightFlow flow, StepExecution step) throws Exception;
    }

    /** Creates a step that runs while no other one does, and that no worker joins. */
    static TaskletStepBuilder alone(JobRepository repository, NightFlows flows, String name, Work work) {
        Tasklet tasklet = (contribution, chunk) -> {
            StepExecution step = contribution.getStepExecution();
            work.of(flows.early(run(step), site(step)));
            return RepeatStatus.FINISHED;
        };
        return new StepBuilder(name, repository).tasklet(tasklet, new ResourcelessTransactionManager());
    }

    private TaskletStepBuilder alone(String name, Work work) {
        return alone(repository, flows, name, work);
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
        return run(step.getJobExecution());
    }

    static long run(JobExecution job) {
        return requireNonNull(job.getJobParameters().getLong(RUN));
    }

    static int site(StepExecution step) {
        return Math.toIntExact(requireNonNull(step.getJobParameters().getLong(SITE)));
    }

    static SimpleAsyncTaskExecutor virtualThreads(String prefix) {
        SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor(prefix);
        executor.setVirtualThreads(true);
        executor.setTaskDecorator(LogFields::inherited);
        return executor;
    }
}
