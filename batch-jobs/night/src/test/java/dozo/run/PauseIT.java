package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.remote.ChildProcess;
import dozo.remote.SilentRelay;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * A paused run begins nothing, in any process, until a user resumes it; then it continues where it was. Takes over a
 * minute: processes are killed and started again, and sites hang until lanes are closed.
 */
class PauseIT extends NightAtSite {

    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final int FILES = 300;
    private static final int SCRUBBED = 12;
    private static final String[] SETTINGS = {
        "dozo.transfer.partitions=2", "dozo.transfer.chunk=2", "dozo.transfer.bundle-entries=5"
    };

    /** The scrub reads a MiB in each of its partitions, and would then wait for minutes. */
    private static final long SLOW = 4_000;

    PauseIT() {
        super(SETTINGS);
    }

    @Test
    void whatIsUnderWayIsFinishedNothingIsBegunAndTheRestIsSentWhenItIsResumed() throws Exception {
        Run run = sendingNight();

        operations().pause(run.id(), "operator");

        Run paused = run(run);
        assertThat(paused.state()).isEqualTo(RunState.PAUSED);
        assertThat(paused.pausedBy()).isEqualTo("operator");
        assertThat(paused.pausedAt()).isAfterOrEqualTo(run.startedAt());
        awaitQuiet(run);
        assertThat(run(run).state()).isEqualTo(RunState.PAUSED);
        long left = night.count("select count(*) from transfer_unit where state = 'PLANNED'");
        assertThat(left).as("left to be sent").isPositive();
        operations().recover();
        assertThat(operations().worksOn(run(run))).isFalse();

        Run resumed = operations().resume(run.id(), "admin");

        assertThat(resumed.state()).isEqualTo(RunState.RUNNING);
        assertThat(resumed.pausedBy()).isNull();
        assertComplete(run);
        assertThat(night.jdbc()
                        .sql("select actor || ' ' || action || ' ' || (detail->>'before') from ledger"
                                + " where action in ('run.paused', 'run.resumed') order by seq")
                        .query((row, n) -> row.getString(1))
                        .list())
                .containsExactly("operator run.paused RUNNING", "admin run.resumed PAUSED");
    }

    /** The framework stores a step first, and then its context; a disk may be full in between. */
    @Test
    void aPartitionWhoseContextWasNotStoredGoesOn() throws Exception {
        Run run = sendingNight();
        operations().pause(run.id(), "operator");
        awaitQuiet(run);
        assertThat(night.jdbc().sql("""
                        update batch_step_execution_context set short_context = (
                            select c.short_context
                            from batch_step_execution_context c join batch_step_execution s using (step_execution_id)
                            where s.step_name = 'checkSite' limit 1)
                        where step_execution_id in (
                            select step_execution_id from batch_step_execution where step_name like 'sendUnits%')
                        """).update()).isPositive();

        operations().resume(run.id(), "operator");

        assertComplete(run);
    }

    @Test
    void pausedAndResumedAgainAndAgainItSendsNothingTwice() throws Exception {
        Run run = sendingNight();
        for (int i = 1; i <= 3; i++) {
            long target = done() + 5;
            Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(5)).until(() -> done() >= target);
            operations().pause(run.id(), "operator");
            operations().resume(run.id(), "operator");
        }

        assertComplete(run);
    }

    @Test
    void aPausedRunOutlivesTheProcessAndIsNotGoneOnWithByTheNext() throws Exception {
        Run run = sendingNight();
        operations().pause(run.id(), "operator");
        awaitQuiet(run);
        long sent = done();
        night.close();
        night = new Night(database, site.address(), SETTINGS);

        operations().recover();

        assertThat(run(run).state()).isEqualTo(RunState.PAUSED);
        assertThat(run(run).pausedBy()).isEqualTo("operator");
        assertThat(operations().worksOn(run(run))).isFalse();
        assertThat(done()).isEqualTo(sent);
        operations().resume(run.id(), "operator");
        assertComplete(run);
    }

    @Test
    void killedWhileItFinishesWhatIsUnderWayItStaysPaused() throws Exception {
        makeFiles(FILES);
        night.register("E1", source);
        Run run;
        try (ChildProcess child =
                NightProcess.start(256, folder.resolve("child.log"), site.address(), database, SETTINGS)) {
            Awaitility.await()
                    .atMost(LIMIT)
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> done() >= 5 || !child.isAlive());
            run = night.get(Runs.class).latest().orElseThrow();
            night.get(Runs.class).pause(run.id(), "operator");
            assertThat(child.isAlive()).as("killed before it had heard of it").isTrue();
        }
        assertThat(night.count("select count(*) from transfer_unit where state = 'PLANNED'"))
                .isPositive();

        operations().recover();

        assertThat(run(run).state()).isEqualTo(RunState.PAUSED);
        assertThat(operations().worksOn(run(run))).isFalse();
        operations().resume(run.id(), "operator");
        assertComplete(run);
    }

    @Test
    void whatTakesTooLongLosesItsLanesAndIsSentAgainWhenItIsResumed() throws Exception {
        try (SilentRelay relay = new SilentRelay(site.address())) {
            night.close();
            night = new Night(database, relay.address(), SETTINGS);
            makeFiles(3);
            byte[] large = new byte[80 << 20];
            new SplittableRandom(3).nextBytes(large);
            Files.write(source.resolve("large"), large);
            night.register("E1", source);
            Run run = operations().start("dr", "test");
            Awaitility.await()
                    .atMost(LIMIT)
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> night.get(Runs.class).progress(run.id()).bytesMoved() > 4 << 20);
            relay.dropWhatIsConnected();
            operations().pause(run.id(), "operator");
            operations().recover();
            assertThat(operations().worksOn(run(run)))
                    .as("a minute is not over yet")
                    .isTrue();
            assertThatThrownBy(() -> operations().resume(run.id(), "operator", Duration.ZERO))
                    .isInstanceOf(Refusal.class)
                    .hasMessageContaining("try again");

            long begin = System.nanoTime();
            operations().recover(Duration.ZERO);
            awaitQuiet(run);

            assertThat(Duration.ofNanos(System.nanoTime() - begin))
                    .as("sooner than anybody notices that the lanes are dead")
                    .isLessThan(Duration.ofSeconds(15));
            assertThat(run(run).state()).isEqualTo(RunState.PAUSED);
            assertThat(night.findings(run)).isEmpty();
            operations().resume(run.id(), "operator");
            assertComplete(run);
        }
    }

    @Test
    void aPausedRunIsStoppedAtOnce() throws Exception {
        Run run = sendingNight();
        operations().pause(run.id(), "operator");
        awaitQuiet(run);

        operations().stop(run.id(), "operator");

        assertThat(run(run).state()).isEqualTo(RunState.STOPPED);
        assertThat(run(run).pausedBy()).isNull();
        night.complete();
        assertThat(night.coverage().safe()).isTrue();
    }

    @Test
    void oneThatStillFinishesWhatIsUnderWayIsStoppedTooAndNeitherPausedNorResumedMeanwhile() throws Exception {
        Night.write(source, Map.of("a", "1"));
        night.register("E1", source);
        Run run;
        try (Connection held = night.get(DataSource.class).getConnection();
                Statement lock = held.createStatement()) {
            held.setAutoCommit(false);
            lock.execute("lock table manifest");
            run = operations().start("dr", "test");
            awaitHeld();
            operations().pause(run.id(), "operator");
            operations().stop(run.id(), "operator");
            assertThatThrownBy(() -> operations().resume(run.id(), "operator"))
                    .isInstanceOf(Refusal.class)
                    .hasMessageContaining("is stopping");
            held.rollback();
        }

        assertThat(night.await(run.id()).state()).isEqualTo(RunState.STOPPED);
        night.complete();
    }

    /** Waits until the run is blocked by a lock, so that it cannot end in the meantime. */
    private void awaitHeld() {
        night.awaitHeldUp("relation = 'manifest'::regclass");
    }

    @Test
    void aRunThatIsBeingStoppedIsNotPaused() throws Exception {
        Night.write(source, Map.of("a", "1"));
        night.register("E1", source);
        Run run;
        try (Connection held = night.get(DataSource.class).getConnection();
                Statement lock = held.createStatement()) {
            held.setAutoCommit(false);
            lock.execute("lock table manifest");
            run = operations().start("dr", "test");
            awaitHeld();
            operations().stop(run.id(), "operator");
            assertThatThrownBy(() -> operations().pause(run.id(), "operator"))
                    .isInstanceOf(Refusal.class)
                    .hasMessageContaining("is stopping");
            held.rollback();
        }

        assertThat(night.await(run.id()).state()).isEqualTo(RunState.STOPPED);
    }

    @Test
    void whatIsNotSoIsRefusedAndSaysWhatIs() throws Exception {
        Run run = opened();
        assertThatThrownBy(() -> operations().resume(run.id(), "test"))
                .isInstanceOf(Refusal.class)
                .hasMessage("run %d is not paused", run.id());
        operations().pause(run.id(), "operator");

        assertThatThrownBy(() -> operations().pause(run.id(), "test"))
                .isInstanceOf(Refusal.class)
                .hasMessageStartingWith("run %d was paused by operator at".formatted(run.id()));
        assertThatThrownBy(() -> operations().start("dr", "test"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("was paused by operator")
                .hasMessageContaining("resume it or stop it first");
        assertThatThrownBy(() -> operations().startScrub(request(0), "test"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("resume it or stop it first");
        assertThat(night.get(Runs.class).running()).isEmpty();
        assertThat(night.get(Runs.class).goingOn()).isPresent();

        operations().stop(run.id(), "test");
        assertThatThrownBy(() -> operations().pause(run.id(), "test"))
                .isInstanceOf(Refusal.class)
                .hasMessage("run %d is not running", run.id());
        assertThatThrownBy(() -> operations().resume(run.id(), "test")).isInstanceOf(Refusal.class);
        assertThatThrownBy(() -> operations().pause(999, "test"))
                .isInstanceOf(Refusal.class)
                .hasMessage("run 999 does not exist");
    }

    @Test
    void oneThatNobodyHasBegunYetIsBegunWhenItIsResumed() throws Exception {
        Night.write(source, Map.of("a", "1"));
        night.register("E1", source);
        Run run = opened();
        operations().pause(run.id(), "operator");
        operations().recover();
        assertThat(run(run).state()).isEqualTo(RunState.PAUSED);

        operations().resume(run.id(), "operator");

        assertThat(night.await(run.id()).state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void aPausedScrubReadsTheRestWhenItIsResumed() throws Exception {
        Run scrub = scrub(2 << 20);
        operations().pause(scrub.id(), "operator");
        awaitQuiet(scrub);
        assertThat(night.count("select count(*) from reading")).isBetween(1L, SCRUBBED - 1L);

        operations().resume(scrub.id(), "operator");

        assertThat(night.await(scrub.id()).state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.count("select count(*) from reading")).isEqualTo(SCRUBBED);
    }

    @Test
    void aPausedScrubMakesWayForANight() throws Exception {
        Run scrub = scrub(SLOW);
        operations().pause(scrub.id(), "operator");
        awaitQuiet(scrub);

        Run started = operations().start("dr", "test");

        assertThat(run(scrub).state()).isEqualTo(RunState.STOPPED);
        assertThat(night.await(started.id()).state()).isEqualTo(RunState.COMPLETE);
    }

    /** A night that has sent some units and has many left. */
    private Run sendingNight() throws IOException {
        makeFiles(FILES);
        night.register("E1", source);
        Run run = operations().start("dr", "test");
        Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(5)).until(() -> done() >= 5);
        return run;
    }

    /** A scrub that has read some copies, and waits for its budget before it reads others. */
    private Run scrub(long bytesPerSecond) throws IOException {
        for (int i = 0; i < SCRUBBED; i++) {
            Files.write(source.resolve("file" + i), new byte[1 << 20]);
        }
        night.register("E1", source);
        night.run();
        Run scrub = operations().startScrub(request(bytesPerSecond), "test");
        Awaitility.await()
                .atMost(LIMIT)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> night.count("select count(*) from reading") > 0);
        return scrub;
    }

    private Run opened() {
        return night.get(Runs.class)
                .open(RunKind.NIGHTLY_BACKUP, night.get(Sites.class).find("dr").orElseThrow(), "test");
    }

    private void makeFiles(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            Files.writeString(source.resolve("file" + i), "content " + i);
        }
    }

    private void assertComplete(Run run) throws Exception {
        Run ended = night.await(run.id());
        assertThat(night.findings(ended)).isEmpty();
        assertThat(ended.state()).as(ended.message()).isEqualTo(RunState.COMPLETE);
        assertThat(night.coverage().safe()).isTrue();
        assertThat(
                        night.count(
                                "select count(*) from receipt r join receipt s on r.unit_id = s.unit_id and r.receipt_id < s.receipt_id"))
                .as("units proven twice")
                .isZero();
        NightlyBackupIT.assertSame(source, root.resolve("p/E1/data"));
        NightlyBackupIT.assertChecks(root.resolve("p/E1"));
    }

    /** Waits until no work of a run is under way. */
    private void awaitQuiet(Run run) {
        Awaitility.await().atMost(LIMIT).until(() -> !operations().worksOn(run(run)));
    }

    private long done() {
        return night.count("select count(*) from transfer_unit where state = 'VERIFIED'");
    }

    private Run run(Run run) {
        return night.get(Runs.class).find(run.id()).orElseThrow();
    }

    private Operations operations() {
        return night.get(Operations.class);
    }

    private static ScrubRequest request(long bytesPerSecond) {
        return new ScrubRequest(null, Duration.ofDays(1), true, bytesPerSecond, null, false);
    }
}
