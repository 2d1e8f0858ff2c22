package dozo.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.RunningService;
import dozo.ShiftedClock;
import dozo.db.ActiveService;
import dozo.ledger.Ledger;
import dozo.ledger.Verification;
import dozo.loopback.LoopbackSite;
import dozo.registry.Experiments;
import dozo.registry.Part;
import dozo.registry.SiteSchedules;
import dozo.registry.SiteTimetables;
import dozo.registry.Sites;
import dozo.run.Forecasts;
import dozo.run.NightTimes;
import dozo.run.Operations;
import dozo.run.RunTimes;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.run.SiteHours;
import dozo.run.Timetable;
import dozo.verify.LedgerVerification;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The schedule starts what is due, one at a time, and nothing else. */
class NightlyScheduleTest {

    private static final Duration RUN_LIMIT = Duration.ofMinutes(5);

    @TempDir
    Path folder;

    private RunningService service;
    private LoopbackSite site;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0);
    }

    @AfterEach
    void stop() {
        service.close();
        site.close();
    }

    @Test
    void withoutASiteOrExperimentsNothingIsStarted() {
        lookAt(tomorrow());
        service.saveSite("dr", site.address());
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
        ended();

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
        ended();
    }

    @Test
    void whileARunIsGoingOnNoneIsStarted() throws Exception {
        register();
        Run running = service.openRun();

        lookAt(tomorrow());

        assertThat(runs().latest().orElseThrow().id()).isEqualTo(running.id());
    }

    @Test
    void aPausedRunIsLeftAloneAndNoneIsStarted() throws Exception {
        register();
        Run paused = service.openRun();
        service.bean(Operations.class).pause(paused.id(), "test");

        lookAt(tomorrow());

        assertThat(runs().latest().orElseThrow().id()).isEqualTo(paused.id());
        assertThat(runs().latest().orElseThrow().state()).isEqualTo(RunState.PAUSED);
    }

    @Test
    void aRetryDoesNotStandForANight() throws Exception {
        register();
        Run night = service.openRun();
        runs().close(night.id(), RunState.COMPLETE, "");
        jdbc("""
                insert into run (kind, site_id, state, requested_by, started_at, ended_at, retry_of)
                select 'retry', site_id, 'COMPLETE', 'test', started_at + interval '1 day', started_at + interval '1 day', run_id
                from run
                """);

        lookAt(night.startedAt().plus(Duration.ofDays(1)));

        assertThat(runs().latest().orElseThrow().kind()).isEqualTo(RunKind.NIGHTLY_BACKUP);
        ended();
    }

    @Test
    void scrubsAreNoNightsHoweverManyCameSince() throws Exception {
        register();
        jdbc("update experiment set registered_at = now() - interval '3 days'");
        Run night = service.openRun();
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
        Run night = service.openRun();
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
        ended();
    }

    @Test
    void aSiteHasItsOwnNightsAndNotThoseOfTheSetting() throws Exception {
        reads("2036-01-05T12:00:00Z");
        register();
        schedule("0 0 20 * * *");

        lookAt("2036-01-05T19:59:59Z");
        assertThat(runs().latest()).as("not before eight").isEmpty();
        lookAt("2036-01-05T20:00:00Z");
        assertThat(ended().part()).isEqualTo(Part.WHOLE);

        lookAt("2036-01-06T01:00:00Z");
        assertThat(count()).as("one o'clock is the setting's").isEqualTo(1);
    }

    @Test
    void missedNightsAreCaughtUpOnceHoweverManyTheyWere() throws Exception {
        reads("2036-01-05T12:00:00Z");
        register();
        schedule("0 0 20 * * *", "0 0 8 * * *");

        lookAt("2036-01-09T03:00:00Z");
        ended();
        lookAt("2036-01-09T03:00:15Z");
        assertThat(count()).isEqualTo(1);

        lookAt("2036-01-09T08:00:00Z");
        ended();
        assertThat(count()).isEqualTo(2);
    }

    @Test
    void whatWasDueBeforeAScheduleWasSetWasNotMissed() throws Exception {
        reads("2036-01-05T12:00:00Z");
        register();
        nightAt("2036-01-05T20:00:00Z", RunState.COMPLETE);
        reads("2036-01-06T12:00:00Z");
        schedule("0 0 9 * * *");

        lookAt("2036-01-06T12:00:15Z");
        assertThat(count()).isEqualTo(1);
        lookAt("2036-01-07T09:00:00Z");
        ended();
        assertThat(count()).isEqualTo(2);
    }

    @Test
    void aProjectsRunSendsOnlyItsExperimentsAndStandsForNoNight() throws Exception {
        reads("2036-01-05T09:00:00Z");
        register();
        registerOther();
        schedule("project P2: 0 0 12 * * *", "0 0 20 * * *");

        lookAt("2036-01-05T12:00:00Z");
        assertThat(ended().part()).isEqualTo(Part.ofProject("P2"));
        assertThat(folder.resolve("dr/P2/S2/data/a.txt")).exists();
        assertThat(folder.resolve("dr/P1")).doesNotExist();

        lookAt("2036-01-05T20:00:00Z");
        assertThat(ended().part()).isEqualTo(Part.WHOLE);
        assertThat(folder.resolve("dr/P1/S1/data/a.txt")).exists();
    }

    @Test
    void twoThatAreDueAtOnceRunOneAfterTheOther() throws Exception {
        reads("2036-01-05T09:00:00Z");
        register();
        registerOther();
        schedule("project P1: 0 0 12 * * *", "project P2: 0 0 11 * * *");

        Instant noon = Instant.parse("2036-01-05T12:00:00Z");
        lookAt(noon);
        assertThat(ended().part()).as("due for longer").isEqualTo(Part.ofProject("P2"));
        lookAt(noon);
        assertThat(ended().part()).isEqualTo(Part.ofProject("P1"));
        lookAt(noon.plusSeconds(15));
        assertThat(count()).isEqualTo(2);
    }

    @Test
    void aNightOfAllHasThePartsToo() throws Exception {
        reads("2036-01-05T09:00:00Z");
        register();
        schedule("project P1: 0 0 12 * * *", "0 0 20 * * *");

        lookAt("2036-01-05T21:00:00Z");
        assertThat(ended().part()).isEqualTo(Part.WHOLE);
        lookAt("2036-01-05T21:10:00Z");
        assertThat(count()).isEqualTo(1);
    }

    @Test
    void aClockThatIsSetBackStartsNothingTwice() throws Exception {
        reads("2036-01-05T09:00:00Z");
        register();
        schedule("0 0 20 * * *", "project P1: 0 0 12 * * *");
        lookAt("2036-01-05T20:00:00Z");
        ended();

        for (String earlier : List.of(
                "2036-01-05T19:00:00Z", "2036-01-05T19:59:59Z", "2036-01-05T20:00:00Z", "2036-01-05T18:00:15Z")) {
            lookAt(earlier);
        }

        assertThat(count()).isEqualTo(1);
    }

    @Test
    void aNightOfAClockThatWasAYearAheadDelaysNoNight() throws Exception {
        reads("2036-01-05T09:00:00Z");
        register();
        schedule("0 0 20 * * *");
        nightAt("2036-01-05T20:00:00Z", RunState.COMPLETE);
        nightAt("2037-01-06T20:00:00Z", RunState.COMPLETE);

        lookAt("2036-01-06T19:59:45Z");
        assertThat(count()).as("tonight is not over").isEqualTo(2);
        lookAt("2036-01-06T20:00:00Z");
        ended();
        lookAt("2036-01-06T20:00:15Z");
        assertThat(count()).isEqualTo(3);
        lookAt("2036-01-07T20:00:00Z");
        ended();
        assertThat(count()).isEqualTo(4);
    }

    @Test
    void aNightOfAClockThatWasSixHoursAheadSkipsNoNight() throws Exception {
        reads("2036-01-05T09:00:00Z");
        register();
        schedule("0 0 20 * * *");
        nightAt("2036-01-05T20:00:00Z", RunState.COMPLETE);
        nightAt("2036-01-06T20:00:00Z", RunState.COMPLETE);

        lookAt("2036-01-06T14:10:00Z");
        lookAt("2036-01-06T14:10:15Z");
        assertThat(count()).as("tonight is not over").isEqualTo(2);
        assertThat(service.count("select count(*) from ledger where action = 'run.distrusted'"))
                .as("once")
                .isEqualTo(1);
        lookAt("2036-01-06T20:00:15Z");
        ended();
        assertThat(count()).isEqualTo(3);
        lookAt("2036-01-06T20:00:30Z");
        assertThat(count()).isEqualTo(3);
        assertThat(service.bean(RunTimes.class).ahead(Instant.parse("2036-01-06T20:00:30Z")))
                .isEmpty();
    }

    @Test
    void whatWasSetWhileTheClockWasAYearAheadDelaysNoNight() throws Exception {
        reads("2037-01-05T09:00:00Z");
        register();
        schedule("0 0 20 * * *");

        lookAt("2036-01-05T09:00:00Z");
        ended();
        assertThat(count()).isEqualTo(1);
    }

    @Test
    void aRunThatEndsAfterTheClockWasSetBackEndsAtItsStart() throws Exception {
        register();
        reads("2037-01-05T20:00:00Z");
        Run run = service.openRun();

        reads("2036-01-05T20:00:00Z");
        runs().close(run.id(), RunState.COMPLETE, "");

        assertThat(runs().latest().orElseThrow().endedAt()).isEqualTo(run.startedAt());
    }

    @Test
    void aVerificationOfAClockThatWasAheadDelaysNoOther() {
        Instant now = Instant.now();
        Ledger ledger = service.bean(Ledger.class);
        ledger.verified(verified(now.plus(Duration.ofDays(365)), Verification.BROKEN));

        schedule(ledger, now).look();

        await().atMost(RUN_LIMIT)
                .until(() -> ledger.lastVerification().orElseThrow().beganAt().isBefore(now.plusSeconds(3600)));
    }

    @Test
    void theLedgerIsVerifiedAgainWhenARunHasWrittenAnAnchorAfterAnIncompleteVerification() {
        Instant now = Instant.now();
        Ledger ledger = service.bean(Ledger.class);
        Instant before = ledger.now().minusSeconds(60);
        ledger.verified(verified(before, Verification.INCOMPLETE));
        LedgerSchedule schedule = schedule(ledger, now);
        assertThat(schedule.isDue()).as("there is nothing new to prove").isFalse();

        ledger.append("dozo", "ledger.anchored", "dr", Map.of("seq", 1, "hash", "ab"));

        assertThat(schedule.isDue()).isTrue();
        ledger.verified(verified(before, "INTACT"));
        assertThat(schedule.isDue()).as("a complete one waits").isFalse();
        assertThat(schedule(ledger, now.plus(Duration.ofHours(13))).isDue())
                .as("it was before the night")
                .isTrue();
        ledger.verified(verified(ledger.now(), "INTACT"));
        assertThat(schedule(ledger, now.plus(Duration.ofHours(13))).isDue())
                .as("no anchor since")
                .isFalse();
        assertThat(schedule(ledger, now.plus(Duration.ofHours(25))).isDue())
                .as("once a day anyway")
                .isTrue();
    }

    private static Verification verified(Instant at, String verdict) {
        return new Verification(at, verdict, 1, verdict.equals(Verification.BROKEN) ? 1 : 0, null, List.of());
    }

    private LedgerSchedule schedule(Ledger ledger, Instant now) {
        return new LedgerSchedule(
                ledger,
                service.bean(LedgerVerification.class),
                InstantSource.fixed(now),
                service.bean(ActiveService.class));
    }

    @Test
    void theChangeToDaylightSavingTimeLosesNoNightAndRepeatsNone() throws Exception {
        reads("2036-01-01T00:00:00Z");
        register();
        schedule("0 30 2 * * *");
        // Half past two does not exist on 30 March, and is there twice on 26 October.
        nightAt("2036-03-29T01:30:00Z", RunState.COMPLETE);
        assertThat(startsIn("Europe/Zurich", "2036-03-30T00:59:59Z")).isFalse();
        assertThat(startsIn("Europe/Zurich", "2036-03-31T00:30:00Z")).isTrue();

        nightAt("2036-10-26T00:30:00Z", RunState.COMPLETE);
        assertThat(startsIn("Europe/Zurich", "2036-10-26T01:30:15Z")).isFalse();
        assertThat(startsIn("Europe/Zurich", "2036-10-27T01:30:00Z")).isTrue();
    }

    @Test
    void aSiteThatIsAwayForThreeNightsGetsOneRunWhenItIsBack() throws Exception {
        reads("2036-01-05T09:00:00Z");
        register();
        schedule("0 0 20 * * *");
        for (String night : List.of("2036-01-05", "2036-01-06", "2036-01-07")) {
            nightAt(night + "T20:00:00Z", RunState.FAILED);
            lookAt(night + "T23:00:00Z");
        }
        assertThat(count())
                .as("a night that failed is not repeated before the next")
                .isEqualTo(3);

        lookAt("2036-01-08T20:00:00Z");
        assertThat(ended().state()).isEqualTo(RunState.COMPLETE);
        lookAt("2036-01-08T20:30:00Z");
        assertThat(count()).isEqualTo(4);
    }

    @Test
    void aSiteThatIsClosedGetsItsNightWhenItOpens() throws Exception {
        reads("2036-01-05T09:00:00Z");
        register();
        service.bean(SiteTimetables.class).set("dr", List.of("MON,TUE,WED 00:00-24:00 closed"), "test");
        schedule("0 0 20 * * *");

        lookAt("2036-01-08T20:00:00Z");
        assertThat(runs().latest()).isEmpty();

        service.bean(SiteTimetables.class).set("dr", List.of(), "test");
        lookAt("2036-01-08T20:00:15Z");
        ended();
        assertThat(count()).isEqualTo(1);
    }

    @Test
    void aNightThatNeverEndsDelaysTheOthersWhichThenComeOnce() throws Exception {
        reads("2036-01-05T09:00:00Z");
        register();
        registerOther();
        schedule("project P1: 0 0 11 * * *", "project P2: 0 0 12 * * *");
        reads("2036-01-05T10:00:00Z");
        Run endless = service.openRun();
        service.bean(Operations.class).pause(endless.id(), "test");
        jdbc("update run set part_project_id = (select project_id from project where code = 'P1')");

        for (String later : List.of("2036-01-05T12:00:00Z", "2036-01-06T12:00:00Z", "2036-01-07T13:00:00Z")) {
            lookAt(later);
        }
        assertThat(count()).isEqualTo(1);

        runs().close(endless.id(), RunState.STOPPED, "");
        lookAt("2036-01-07T13:00:00Z");
        assertThat(ended().part()).isEqualTo(Part.ofProject("P1"));
        lookAt("2036-01-07T13:00:15Z");
        assertThat(ended().part()).isEqualTo(Part.ofProject("P2"));
        lookAt("2036-01-07T13:00:30Z");
        assertThat(count()).isEqualTo(3);
    }

    @Test
    void aSiteWithManyRunsStarvesNoOther() throws Exception {
        reads("2036-01-05T09:00:00Z");
        register();
        service.saveSite("other", site.address());
        schedule("0 0 20 * * *");
        jdbc("update site_schedule set cron = '* * * * * *'");
        jdbc("update site set updated_at = '2036-01-04T09:00:00Z'");
        jdbc("update experiment set registered_at = '2036-01-04T09:00:00Z'");

        lookAt("2036-01-05T12:00:00Z");

        assertThat(ended().site()).as("due since one o'clock").isEqualTo("other");
    }

    private void schedule(String... schedules) {
        assertThat(service.bean(SiteSchedules.class).set("dr", List.of(schedules), "test"))
                .isPresent();
    }

    /** Sets the service's clock. */
    private void reads(String moment) {
        service.bean(ShiftedClock.class).reads(Instant.parse(moment));
    }

    /** A night of the past. */
    private void nightAt(String moment, RunState state) {
        reads(moment);
        runs().close(service.openRun().id(), state, "");
    }

    private boolean startsIn(String zone, String moment) {
        long before = count();
        lookAt(Instant.parse(moment), zone);
        ended();
        return count() > before;
    }

    /** Returns the last run when it has ended. */
    private Run ended() {
        await().atMost(RUN_LIMIT).until(() -> runs().running().isEmpty());
        return runs().latest().orElseThrow();
    }

    private long count() {
        return service.count("select count(*) from run where kind = 'nightlyBackup'");
    }

    private void registerOther() throws Exception {
        register("P2", "S2", "other");
    }

    private void jdbc(String sql) {
        service.jdbc().sql(sql).update();
    }

    private void register() throws Exception {
        service.saveSite("dr", site.address());
        register("P1", "S1", "source");
    }

    private void register(String project, String code, String name) throws Exception {
        Path source = Files.createDirectories(folder.resolve(name));
        Files.writeString(source.resolve("a.txt"), "hello");
        service.createExperiment(project, code, source);
    }

    private void lookAt(String now) {
        lookAt(Instant.parse(now));
    }

    private void lookAt(Instant now) {
        lookAt(now, "UTC");
    }

    private void lookAt(Instant now, String zone) {
        service.bean(ShiftedClock.class).reads(now);
        new NightlySchedule(
                        new NightTimes(Timetable.of("0 0 1 * * *", zone), service.bean(SiteSchedules.class)),
                        service.bean(Operations.class),
                        runs(),
                        service.bean(RunTimes.class),
                        service.bean(Sites.class),
                        service.bean(Experiments.class),
                        service.bean(ScrubSchedule.class),
                        service.bean(SiteHours.class),
                        service.bean(Forecasts.class),
                        service.bean(ActiveService.class),
                        service.bean(InstantSource.class))
                .look();
    }

    private Runs runs() {
        return service.bean(Runs.class);
    }

    private static Instant tomorrow() {
        return Instant.now().plus(Duration.ofDays(1));
    }
}
