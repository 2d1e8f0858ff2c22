package dozo.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.RunningService;
import dozo.loopback.LoopbackSite;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.Sites;
import dozo.run.Forecasts;
import dozo.run.Operations;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.run.SiteHours;
import dozo.run.Timetable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The schedule starts what is due, one at a time, and nothing else. */
class NightlyScheduleTest {

    private static final Duration RUN_LIMIT = Duration.ofMinutes(5);

    @TempDir
    Path folder;

    private RunningService service;
    private LoopbackSite site;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.start(folder.resolve("work"));
        site = LoopbackSite.start(folder.resolve("keys"), folder.resolve("dr"), 0);
    }

    @AfterEach
    void stop() {
        service.close();
        site.close();
    }

    @Test
    void withoutASiteOrExperimentsNothingIsStarted() {
        lookAt(tomorrow());
        service.bean(Sites.class).save("dr", site.address(), "test");
        lookAt(tomorrow());

        assertThat(runs().latest()).isEmpty();
    }

    @Test
    void theFirstNightAfterTheFirstRegistrationStartsARun() throws Exception {
        register();

        lookAt(Instant.now());
        assertThat(runs().latest()).isEmpty();

        lookAt(tomorrow());
        Run run = runs().latest().orElseThrow();
        assertThat(run.requestedBy()).isEqualTo("dozo");
        await().atMost(RUN_LIMIT).until(() -> runs().running().isEmpty());

        // The same night again: its run has already ended.
        lookAt(run.startedAt().plusSeconds(15));
        assertThat(runs().latest().orElseThrow().id()).isEqualTo(run.id());
    }

    @Test
    void aSiteThatComesLaterWaitsForTheNight() throws Exception {
        register();
        jdbc("update experiment set registered_at = now() - interval '3 days'");

        lookAt(Instant.now());
        assertThat(runs().latest())
                .as("the hour has come since the experiment was registered, but not since the site was")
                .isEmpty();

        lookAt(tomorrow());
        assertThat(runs().latest()).isPresent();
        await().atMost(RUN_LIMIT).until(() -> runs().running().isEmpty());
    }

    @Test
    void whileARunIsGoingOnNoneIsStarted() throws Exception {
        register();
        Run running = openNight();

        lookAt(tomorrow());

        assertThat(runs().latest().orElseThrow().id()).isEqualTo(running.id());
    }

    @Test
    void aPausedRunIsLeftAloneAndNoneIsStarted() throws Exception {
        register();
        Run paused = openNight();
        service.bean(Operations.class).pause(paused.id(), "test");

        lookAt(tomorrow());

        assertThat(runs().latest().orElseThrow().id()).isEqualTo(paused.id());
        assertThat(runs().latest().orElseThrow().state()).isEqualTo(RunState.PAUSED);
    }

    @Test
    void aRetryDoesNotStandForANight() throws Exception {
        register();
        Run night = openNight();
        runs().close(night.id(), RunState.COMPLETE, "");
        jdbc("""
                insert into run (kind, site_id, state, requested_by, started_at, ended_at, retry_of)
                select 'retry', site_id, 'COMPLETE', 'test', started_at + interval '1 day', started_at + interval '1 day', run_id
                from run
                """);

        lookAt(night.startedAt().plus(Duration.ofDays(1)));

        assertThat(runs().latest().orElseThrow().kind()).isEqualTo(RunKind.NIGHTLY_BACKUP);
        await().atMost(RUN_LIMIT).until(() -> runs().running().isEmpty());
    }

    @Test
    void scrubsAreNoNightsHoweverManyCameSince() throws Exception {
        register();
        jdbc("update experiment set registered_at = now() - interval '3 days'");
        Run night = openNight();
        runs().close(night.id(), RunState.COMPLETE, "");
        jdbc("""
                insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                select 'scrub', site_id, 'COMPLETE', 'test', started_at + interval '1 second', started_at + interval '2 seconds'
                from run, generate_series(1, 101)
                """);

        lookAt(night.startedAt().plusSeconds(5));

        assertThat(runs().latest().orElseThrow().kind())
                .as("the night was just now")
                .isEqualTo(RunKind.SCRUB);
    }

    @Test
    void aScrubThatCameSinceDoesNotStandForANight() throws Exception {
        register();
        Run night = openNight();
        runs().close(night.id(), RunState.COMPLETE, "");
        jdbc("""
                insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                select 'scrub', site_id, 'COMPLETE', 'test', started_at + interval '1 day', started_at + interval '1 day'
                from run
                """);

        lookAt(night.startedAt().plus(Duration.ofDays(1)));

        Run next = runs().latest().orElseThrow();
        assertThat(next.kind()).isEqualTo(RunKind.NIGHTLY_BACKUP);
        assertThat(next.id()).isGreaterThan(night.id());
        await().atMost(RUN_LIMIT).until(() -> runs().running().isEmpty());
    }

    private void jdbc(String sql) {
        service.bean(JdbcClient.class).sql(sql).update();
    }

    private void register() throws Exception {
        service.bean(Sites.class).save("dr", site.address(), "test");
        service.bean(Projects.class).create("P1", "", "test");
        Path source = Files.createDirectories(folder.resolve("source"));
        Files.writeString(source.resolve("a.txt"), "hello");
        service.bean(Experiments.class).register("P1", "S1", "", source, "test");
    }

    private void lookAt(Instant now) {
        new NightlySchedule(
                        Timetable.of("0 0 1 * * *", "UTC"),
                        service.bean(Operations.class),
                        runs(),
                        service.bean(Sites.class),
                        service.bean(Experiments.class),
                        service.bean(ScrubSchedule.class),
                        service.bean(SiteHours.class),
                        service.bean(Forecasts.class),
                        InstantSource.fixed(now))
                .look();
    }

    private Runs runs() {
        return service.bean(Runs.class);
    }

    private Run openNight() {
        return runs().open(
                        RunKind.NIGHTLY_BACKUP,
                        service.bean(Sites.class).find("dr").orElseThrow(),
                        "test");
    }

    private static Instant tomorrow() {
        return Instant.now().plus(Duration.ofDays(1));
    }
}
