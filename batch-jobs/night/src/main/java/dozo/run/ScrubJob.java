package dozo.run;

import dozo.run.NightlyBackupJob.Work;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.Step;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.core.step.builder.TaskletStepBuilder;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * The job {@code scrub}: check the site, read stored copies again in partitions, challenge the site, examine the bags and Dozo's own files, conclude.
 * The job {@code homeScrub}: read sources again, conclude. A job instance is a run. The remaining work is the order of the queue in
 * Dozo's own tables, so that the next scrub continues after one that was stopped or died.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(ScrubSettings.class)
record ScrubJob(
        JobRepository repository,
        NightFlows flows,
        ScrubSteps steps,
        Challenging challenging,
        HomeScrubSteps home,
        TransferSettings settings) {

    static final String NAME = "scrub";
    static final String HOME = "homeScrub";

    @Bean(NAME)
    Job scrubbing(RunEnd runEnd, PaceWatch pace) {
        return new JobBuilder(NAME, repository)
                .listener(runEnd)
                // Ends before the listener above, which closes the engine that it measures.
                .listener(pace)
                // Fails the run before anything is reported missing, if the site cannot be used. A restart repeats it.
                .start(step("checkSiteToRead", steps::checkSite)
                        .allowStartIfComplete(true)
                        .build())
                .next(read())
                .next(step("challenge", challenging::challenge).build())
                .next(step("examine", steps::examine).build())
                .next(step("examineOwn", steps::examineOwn).build())
                .next(step("conclude", steps::conclude).build())
                .build();
    }

    @Bean(HOME)
    Job scrubbingHome(RunEnd runEnd, PaceWatch pace) {
        return new JobBuilder(HOME, repository)
                .listener(runEnd)
                .listener(pace)
                .start(step("readHome", home::read).build())
                .next(step("concludeHome", home::conclude).build())
                .build();
    }

    /** Partitions differ only in what they claim: they keep the site and this machine busy at the same time. */
    private Step read() {
        Step worker = step("readCopies", steps::read).allowStartIfComplete(true).build();
        SimpleAsyncTaskExecutor threads = NightlyBackupJob.virtualThreads("read-partition-");
        threads.setConcurrencyLimit(settings.partitions());
        return new StepBuilder("read", repository)
                .partitioner(worker.getName(), NightlyBackupJob.partitions(settings))
                .step(worker)
                .taskExecutor(threads)
                .build();
    }

    private TaskletStepBuilder step(String name, Work work) {
        return NightlyBackupJob.alone(repository, flows, name, work);
    }
}
