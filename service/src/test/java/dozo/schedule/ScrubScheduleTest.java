package dozo.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.RunningService;
import dozo.db.ActiveService;
import dozo.drill.DrillSettings;
import dozo.drill.Rehearsals;
import dozo.drill.SiteLossDrill;
import dozo.loopback.LoopbackSite;
import dozo.registry.Experiments;
import dozo.registry.SiteSchedules;
import dozo.registry.Sites;
import dozo.run.Forecasts;
import dozo.run.NightTimes;
import dozo.run.Operations;
import dozo.run.Promises;
import dozo.run.ReadingCosts;
import dozo.run.RunTimes;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.run.ScrubRequest;
import dozo.run.ScrubSettings;
import dozo.run.Scrubs;
import dozo.run.SiteHours;
import dozo.run.Timetable;
import dozo.verify.HomeReadings;
import dozo.verify.Readings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.util.unit.DataSize;

/** Scrubs start in their window if there is something to read, and make way for the night. */
class ScrubScheduleTest {

    private static final Duration RUN_LIMIT = Duration.ofMinutes(5);
    private static final String ALWAYS = "00:00-24:00";

    @TempDir
    Path folder;

    private RunningService service;
    private LoopbackSite site;

    private ScrubSchedule schedule;

    /** At a time when a night is due. */
    private NightlySchedule nights;

    @BeforeEach
    void startAndBackUp() throws Exception {
        service = RunningService.shared();
        site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0);
        service.saveSite("dr", site.address());
        Path source = Files.createDirectories(folder.resolve("source"));
        Files.writeString(source.resolve("a.txt"), "hello");
        service.createExperiment("P1", "S1", source);
        night();
        schedule = schedule(ALWAYS, Instant.now());
        nights = new NightlySchedule(
                new NightTimes(Timetable.of("0 0 1 * * *", "UTC"), service.bean(SiteSchedules.class)),
                service.bean(Operations.class),
                service.bean(Runs.class),
                service.bean(RunTimes.class),
                service.bean(Sites.class),
                service.bean(Experiments.class),
                schedule,
                service.bean(SiteHours.class),
                service.bean(Forecasts.class),
                service.bean(ActiveService.class),
                InstantSource.fixed(Instant.now().plus(Duration.ofDays(1))));
    }

    @AfterEach
    void stop() {
        service.close();
        site.close();
    }

    @Test
    void whatWasReadLatelyIsLeftAlone() {
        schedule.look();

        assertThat(latest().kind()).isEqualTo(RunKind.NIGHTLY_BACKUP);
    }

    @Test
    void whatIsDueIsReadOnceInItsWindowAndAgainAfterANight() {
        age(Duration.ofDays(80));

        schedule.look();

        Run scrub = latest();
        assertThat(scrub.kind()).isEqualTo(RunKind.SCRUB);
        assertThat(scrub.requestedBy()).isEqualTo("dozo");
        assertThat(service.bean(Scrubs.class).find(scrub.id()).orElseThrow()).satisfies(asked -> {
            assertThat(asked.maxAge()).isEqualTo(Duration.ofDays(90));
            assertThat(asked.everything()).as("nobody knows what reading costs").isTrue();
            assertThat(asked.until())
                    .isEqualTo(Instant.now().truncatedTo(ChronoUnit.DAYS).plus(1, ChronoUnit.DAYS));
            assertThat(asked.bytesPerSecond()).isEqualTo(200 << 20);
        });
        awaitEnd();
        age(Duration.ofDays(80));
        schedule.look();
        assertThat(latest().id()).as("once in a window").isEqualTo(scrub.id());

        night();
        age(Duration.ofDays(80));
        schedule.look();
        assertThat(latest().kind()).isEqualTo(RunKind.SCRUB);
        assertThat(latest().id()).isGreaterThan(scrub.id());
        awaitEnd();
    }

    @Test
    void theSourcesAreReadOnceInAWindowIfSomethingIsDueThere() {
        schedule.look();
        assertThat(latest().kind()).as("nothing is due").isEqualTo(RunKind.NIGHTLY_BACKUP);
        schedule = schedule(ALWAYS, Instant.now());
        sql("update home_reading set last_read_at = last_read_at - interval '300 days'");

        schedule.look();

        Run scrub = latest();
        assertThat(scrub.kind()).isEqualTo(RunKind.HOME_SCRUB);
        awaitEnd();
        assertThat(service.run(scrub.id()).state()).isEqualTo(RunState.COMPLETE);
        assertThat(service.bean(Scrubs.class).find(scrub.id()).orElseThrow()).satisfies(asked -> {
            assertThat(asked.maxAge()).isEqualTo(Duration.ofDays(365));
            assertThat(asked.copiesRead()).isEqualTo(1);
        });
        sql("update home_reading set last_read_at = last_read_at - interval '300 days'");
        schedule.look();
        assertThat(latest().id()).as("once in a window").isEqualTo(scrub.id());
    }

    @Test
    void whatAClockThatWasAYearAheadReadIsReadWhenItWouldHaveBeen() {
        age(Duration.ofDays(80));
        schedule.look();
        awaitEnd();
        sql("update run set started_at = started_at + interval '1 year' where run_id = " + latest().id());
        age(Duration.ofDays(-365));
        // The evidence of the reading is of a right clock, so that one counts.
        schedule(ALWAYS, Instant.now()).look();
        assertThat(oldestRead()).isBetween(Instant.now().minusSeconds(3600), Instant.now());

        age(Duration.ofDays(80));
        Run ahead = latest();
        schedule(ALWAYS, Instant.now()).look();
        assertThat(latest().id())
                .as("its start does not stand for this window's")
                .isGreaterThan(ahead.id());
        awaitEnd();
    }

    @Test
    void aReadingOfWhichNoTimeIsRightCountsAsNow() {
        age(Duration.ofDays(-365));

        assertThat(service.bean(Readings.class).distrust(1, Instant.EPOCH, Instant.EPOCH.plusSeconds(1)))
                .isEqualTo(1);

        assertThat(oldestRead()).isEqualTo(Instant.EPOCH.plusSeconds(1));
    }

    @Test
    void drillsAreRequestedOnceAtTheirTimeAndMadeUpForAfterTheStart() {
        assertThat(drillsAfter("-", Duration.ofDays(400))).isZero();
        assertThat(drillsAfter("0 0 12 * * *", Duration.ZERO)).isZero();

        assertThat(drillsAfter("0 0 12 * * *", Duration.ofDays(1))).isEqualTo(1);
        assertThat(drillsAfter("0 0 12 * * *", Duration.ZERO))
                .as("it was now, so it is not due again")
                .isEqualTo(1);
        service.jdbc()
                .sql("update restore set requested_at = now() + interval '2 years'")
                .update();
        assertThat(drillsAfter("0 0 12 * * *", Duration.ofDays(100)))
                .as("a clock that was set back delays nothing")
                .isEqualTo(2);
    }

    /** Returns the number of drills after the schedule has looked some time from now, when all have ended. */
    private long drillsAfter(String cron, Duration later) {
        JdbcClient jdbc = service.jdbc();
        Instant now = Instant.now().plus(later);
        drills(cron, "-", () -> now).look();
        await().atMost(RUN_LIMIT)
                .until(() -> jdbc.sql("select count(*) from restore where ended_at is null")
                                .query(Long.class)
                                .single()
                        == 0);
        // As long ago as to be due again.
        jdbc.sql("update restore set ended_at = now() - interval '60 days'").update();
        return jdbc.sql("select count(*) from drill").query(Long.class).single();
    }

    private DrillSchedule drills(String cron, String siteCron, InstantSource clock) {
        return new DrillSchedule(
                new DrillSettings(cron, 90, DataSize.ofGigabytes(10), "", siteCron, 0, Duration.ZERO),
                service.bean(Rehearsals.class),
                service.bean(SiteLossDrill.class),
                service.bean(Experiments.class),
                service.bean(ActiveService.class),
                clock,
                ZoneOffset.UTC);
    }

    @Test
    void eachSiteIsDrilledOnceAMonthWithoutTheKey() {
        String ofDozo = "select count(*) from site_drill where requested_by = 'dozo' and not keyed";
        long before = service.count(ofDozo);
        AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-11-20T00:00:00Z"));
        DrillSchedule never = drills("-", "-", now::get);
        DrillSchedule monthly = drills("-", "0 0 13 1 * *", now::get);
        monthly.lookAtSites();
        now.set(Instant.parse("2026-12-01T12:59:00Z"));
        monthly.lookAtSites();
        assertThat(service.count(ofDozo)).isEqualTo(before);

        now.set(Instant.parse("2026-12-01T13:00:00Z"));
        never.lookAtSites();
        monthly.lookAtSites();
        monthly.lookAtSites();
        assertThat(service.count(ofDozo)).isEqualTo(before + 1);
        await().atMost(RUN_LIMIT)
                .until(() -> service.count("select count(*) from site_drill where ended_at is null") == 0);
    }

    @Test
    void whereItIsKnownWhatReadingCostsOnlyWhatIsDueIsRead() {
        Run measured = service.bean(Runs.class)
                .openScrub(service.dr(), new ScrubRequest("dr", Duration.ofDays(90), true, 0, null, true), "test");
        service.jdbc().sql("""
                        update scrub set copies_read = 1000, bytes_read = 1000000000, seconds_busy = 100 * partitions
                        where run_id = :run
                        """).param("run", measured.id()).update();
        service.bean(Runs.class).close(measured.id(), RunState.COMPLETE, "");
        night();
        age(Duration.ofDays(71));
        schedule(ALWAYS, Instant.now()).look();
        assertThat(latest().kind()).as("not due yet").isEqualTo(RunKind.NIGHTLY_BACKUP);

        age(Duration.ofDays(73));
        schedule(ALWAYS, Instant.now()).look();

        assertThat(service.bean(Scrubs.class).find(latest().id()).orElseThrow().everything())
                .isFalse();
        awaitEnd();
    }

    @Test
    void outsideItsWindowAndWithoutOneNothingIsStarted() {
        age(Duration.ofDays(100));

        schedule("20:00-06:00", Instant.parse("2026-11-21T12:00:00Z")).look();
        schedule("-", Instant.now()).look();

        assertThat(latest().kind()).isEqualTo(RunKind.NIGHTLY_BACKUP);
    }

    @Test
    void aNightThatIsDueComesBeforeAScrub() {
        age(Duration.ofDays(80));
        Run before = latest();

        nights.look();

        assertThat(latest().kind()).isEqualTo(RunKind.NIGHTLY_BACKUP);
        assertThat(latest().id()).isGreaterThan(before.id());
        awaitEnd();
    }

    @Test
    void aScrubMakesWayForANightThatIsDue() {
        Run scrub = service.bean(Runs.class)
                .openScrub(service.dr(), new ScrubRequest("dr", Duration.ofDays(90), true, 0, null, false), "test");

        await().atMost(RUN_LIMIT).until(() -> {
            nights.look();
            return latest().kind() == RunKind.NIGHTLY_BACKUP;
        });

        assertThat(service.run(scrub.id()).state()).isIn(RunState.STOPPED, RunState.COMPLETE);
        awaitEnd();
    }

    private ScrubSchedule schedule(String window, Instant now) {
        return new ScrubSchedule(
                new ScrubSettings(
                        Duration.ofDays(90), Duration.ofDays(365), 25, window, DataSize.ofMegabytes(200), true, 688),
                service.bean(Operations.class),
                service.bean(Runs.class),
                service.bean(RunTimes.class),
                service.bean(Sites.class),
                service.bean(Promises.class),
                service.bean(ReadingCosts.class),
                service.bean(HomeReadings.class),
                service.bean(SiteHours.class),
                InstantSource.fixed(now),
                ZoneOffset.UTC);
    }

    private void night() {
        service.bean(Operations.class).start("dr", "test");
        awaitEnd();
    }

    private void awaitEnd() {
        await().atMost(RUN_LIMIT).until(() -> service.bean(Runs.class).running().isEmpty());
    }

    private Instant oldestRead() {
        return service.bean(Promises.class).at(1).oldestReadAt();
    }

    private void sql(String sql) {
        service.jdbc().sql(sql).update();
    }

    private void age(Duration age) {
        service.jdbc()
                .sql("update stored set last_read_at = now() - make_interval(secs => :seconds)")
                .param("seconds", age.toSeconds())
                .update();
    }

    private Run latest() {
        return service.bean(Runs.class).latest().orElseThrow();
    }
}
