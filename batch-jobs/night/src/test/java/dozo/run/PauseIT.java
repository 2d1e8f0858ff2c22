package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Trees;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.remote.ChildProcess;
import dozo.remote.SilentRelay;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * A paused run begins nothing, in any process, until a user resumes it; then it continues where it was. Takes over a
 * minute: processes are killed and started again, and sites hang until lanes are closed.
 */
class PauseIT extends NightAtSite {

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

        night.operations().pause(run.id(), "operator");

        Run paused = night.find(run);
        assertThat(paused.state()).isEqualTo(RunState.PAUSED);
        assertThat(paused.pausedBy()).isEqualTo("operator");
        assertThat(paused.pausedAt()).isAfterOrEqualTo(run.startedAt());
        awaitQuiet(run);
        assertThat(night.find(run).state()).isEqualTo(RunState.PAUSED);
        long left = night.count("select count(*) from transfer_unit where state = 'PLANNED'");
        assertThat(left).as("left to be sent").isPositive();
        night.operations().recover();
        assertThat(night.operations().worksOn(night.find(run))).isFalse();

        Run resumed = night.operations().resume(run.id(), "admin");

        assertThat(resumed.state()).isEqualTo(RunState.RUNNING);
        assertThat(resumed.pausedBy()).isNull();
        assertComplete(run);
        assertThat(night.texts("select actor || ' ' || action || ' ' || (detail->>'before') from ledger"
                        + " where action in ('run.paused', 'run.resumed') order by seq"))
                .containsExactly("operator run.paused RUNNING", "admin run.resumed PAUSED");
    }

    /** The framework stores a step first, and then its context; a disk may be full in between. */
    @Test
    void aPartitionWhoseContextWasNotStoredGoesOn() throws Exception {
        Run run = sendingNight();
        night.operations().pause(run.id(), "operator");
        awaitQuiet(run);
        assertThat(night.update("""
                        update batch_step_execution_context set short_context = (
                            select c.short_context
                            from batch_step_execution_context c join batch_step_execution s using (step_execution_id)
                            where s.step_name = 'checkSite' limit 1)
                        where step_execution_id in (
                            select step_execution_id from batch_step_execution where step_name like 'sendUnits%')
                        """)).isPositive();

        night.operations().resume(run.id(), "operator");

        assertComplete(run);
    }

    @Test
    void pausedAndResumedAgainAndAgainItSendsNothingTwice() throws Exception {
        Run run = sendingNight();
        for (int i = 1; i <= 3; i++) {
            long target = done() + 5;
            Night.until(() -> done() >= target);
            night.operations().pause(run.id(), "operator");
            night.operations().resume(run.id(), "operator");
        }

        assertComplete(run);
    }

    @Test
    void aPausedRunOutlivesTheProcessAndIsNotGoneOnWithByTheNext() throws Exception {
        Run run = sendingNight();
        night.operations().pause(run.id(), "operator");
        awaitQuiet(run);
        long sent = done();
        restart(SETTINGS);

        night.operations().recover();

        assertThat(night.find(run).state()).isEqualTo(RunState.PAUSED);
        assertThat(night.find(run).pausedBy()).isEqualTo("operator");
        assertThat(night.operations().worksOn(night.find(run))).isFalse();
        assertThat(done()).isEqualTo(sent);
        night.operations().resume(run.id(), "operator");
        assertComplete(run);
    }

    @Test
    void killedWhileItFinishesWhatIsUnderWayItStaysPaused() throws Exception {
        Night.writeMany(source, FILES);
        night.register("E1", source);
        Run run;
        try (ChildProcess child =
                NightProcess.start(256, folder.resolve("child.log"), site.address(), database, SETTINGS)) {
            child.awaitInWork(() -> done() >= 5);
            run = night.get(Runs.class).latest().orElseThrow();
            night.get(Runs.class).pause(run.id(), "operator");
            assertThat(child.isAlive()).as("killed before it had heard of it").isTrue();
        }
        assertThat(night.count("select count(*) from transfer_unit where state = 'PLANNED'"))
                .isPositive();

        night.operations().recover();

        assertThat(night.find(run).state()).isEqualTo(RunState.PAUSED);
        assertThat(night.operations().worksOn(night.find(run))).isFalse();
        night.operations().resume(run.id(), "operator");
        assertComplete(run);
    }

    @Test
    void whatTakesTooLongLosesItsLanesAndIsSentAgainWhenItIsResumed() throws Exception {
        try (SilentRelay relay = new SilentRelay(site.address())) {
            night.close();
            night = new Night(database, relay.address(), SETTINGS);
            Night.writeMany(source, 3);
            Files.write(source.resolve("large"), Trees.random(80 << 20));
            night.register("E1", source);
            Run run = night.start();
            Night.until(() ->
                    night.get(Runs.class).progress(Sight.EVERYTHING, run.id()).bytesMoved() > 4 << 20);
            relay.dropWhatIsConnected();
            night.operations().pause(run.id(), "operator");
            night.operations().recover();
            assertThat(night.operations().worksOn(night.find(run)))
                    .as("a minute is not over yet")
                    .isTrue();
            assertThatThrownBy(() -> night.operations().resume(run.id(), "operator", Duration.ZERO))
                    .isInstanceOf(Refusal.class)
                    .hasMessageContaining("try again");

            long begin = System.nanoTime();
            night.operations().recover(Duration.ZERO);
            awaitQuiet(run);

            assertThat(Duration.ofNanos(System.nanoTime() - begin))
                    .as("sooner than anybody notices that the lanes are dead")
                    .isLessThan(Duration.ofSeconds(15));
            assertThat(night.find(run).state()).isEqualTo(RunState.PAUSED);
            assertThat(night.findings(run)).isEmpty();
            night.operations().resume(run.id(), "operator");
            assertComplete(run);
        }
    }

    @Test
    void aPausedRunIsStoppedAtOnce() throws Exception {
        Run run = sendingNight();
        night.operations().pause(run.id(), "operator");
        awaitQuiet(run);

        night.operations().stop(run.id(), "operator");

        assertThat(night.find(run).state()).isEqualTo(RunState.STOPPED);
        assertThat(night.find(run).pausedBy()).isNull();
        night.complete();
        assertThat(night.coverage().safe()).isTrue();
    }

    @Test
    void oneThatStillFinishesWhatIsUnderWayIsStoppedTooAndNeitherPausedNorResumedMeanwhile() throws Exception {
        register(Map.of("a", "1"));
        Run run = night.whileHolding("lock table manifest", () -> {
            Run held = night.start();
            awaitHeld();
            night.operations().pause(held.id(), "operator");
            night.operations().stop(held.id(), "operator");
            assertThatThrownBy(() -> night.operations().resume(held.id(), "operator"))
                    .isInstanceOf(Refusal.class)
                    .hasMessageContaining("is stopping");
            return held;
        });

        assertThat(night.await(run).state()).isEqualTo(RunState.STOPPED);
        night.complete();
    }

    /** Waits until the run is blocked by a lock, so that it cannot end in the meantime. */
    private void awaitHeld() {
        night.awaitHeldUp("relation = 'manifest'::regclass");
    }

    @Test
    void aRunThatIsBeingStoppedIsNotPaused() throws Exception {
        register(Map.of("a", "1"));
        Run run = night.whileHolding("lock table manifest", () -> {
            Run held = night.start();
            awaitHeld();
            night.operations().stop(held.id(), "operator");
            assertThatThrownBy(() -> night.operations().pause(held.id(), "operator"))
                    .isInstanceOf(Refusal.class)
                    .hasMessageContaining("is stopping");
            return held;
        });

        assertThat(night.await(run).state()).isEqualTo(RunState.STOPPED);
    }

    @Test
    void whatIsNotSoIsRefusedAndSaysWhatIs() throws Exception {
        Run run = night.open();
        assertThatThrownBy(() -> night.operations().resume(run.id(), "test"))
                .isInstanceOf(Refusal.class)
                .hasMessage("run %d is not paused", run.id());
        night.operations().pause(run.id(), "operator");

        assertThatThrownBy(() -> night.operations().pause(run.id(), "test"))
                .isInstanceOf(Refusal.class)
                .hasMessageStartingWith("run %d was paused by operator at".formatted(run.id()));
        assertThatThrownBy(() -> night.start())
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("was paused by operator")
                .hasMessageContaining("resume it or stop it first");
        assertThatThrownBy(() -> night.startScrub(0))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("resume it or stop it first");
        assertThat(night.get(Runs.class).running()).isEmpty();
        assertThat(night.get(Runs.class).goingOn()).isPresent();

        night.operations().stop(run.id(), "test");
        assertThatThrownBy(() -> night.operations().pause(run.id(), "test"))
                .isInstanceOf(Refusal.class)
                .hasMessage("run %d is not running", run.id());
        assertThatThrownBy(() -> night.operations().resume(run.id(), "test")).isInstanceOf(Refusal.class);
        assertThatThrownBy(() -> night.operations().pause(999, "test"))
                .isInstanceOf(Refusal.class)
                .hasMessage("run 999 does not exist");
    }

    @Test
    void oneThatNobodyHasBegunYetIsBegunWhenItIsResumed() throws Exception {
        register(Map.of("a", "1"));
        Run run = night.open();
        night.operations().pause(run.id(), "operator");
        night.operations().recover();
        assertThat(night.find(run).state()).isEqualTo(RunState.PAUSED);

        night.operations().resume(run.id(), "operator");

        assertThat(night.await(run).state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void aPausedScrubReadsTheRestWhenItIsResumed() throws Exception {
        Run scrub = scrub(2 << 20);
        night.operations().pause(scrub.id(), "operator");
        awaitQuiet(scrub);
        assertThat(night.count("select count(*) from reading")).isBetween(1L, SCRUBBED - 1L);

        night.operations().resume(scrub.id(), "operator");

        assertThat(night.await(scrub).state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.count("select count(*) from reading")).isEqualTo(SCRUBBED);
    }

    @Test
    void aPausedScrubMakesWayForANight() throws Exception {
        Run scrub = scrub(SLOW);
        night.operations().pause(scrub.id(), "operator");
        awaitQuiet(scrub);

        Run started = night.start();

        assertThat(night.find(scrub).state()).isEqualTo(RunState.STOPPED);
        assertThat(night.await(started).state()).isEqualTo(RunState.COMPLETE);
    }

    /** A night that has sent some units and has many left. */
    private Run sendingNight() throws IOException {
        Night.writeMany(source, FILES);
        night.register("E1", source);
        Run run = night.start();
        Night.until(() -> done() >= 5);
        return run;
    }

    /** A scrub that has read some copies, and waits for its budget before it reads others. */
    private Run scrub(long bytesPerSecond) throws IOException {
        for (int i = 0; i < SCRUBBED; i++) {
            Files.write(source.resolve("file" + i), new byte[1 << 20]);
        }
        night.register("E1", source);
        night.run();
        Run scrub = night.startScrub(bytesPerSecond);
        Night.until(() -> night.count("select count(*) from reading") > 0);
        return scrub;
    }

    private void assertComplete(Run run) throws Exception {
        night.assertComplete(night.await(run));
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
        Night.until(() -> !night.operations().worksOn(night.find(run)));
    }

    private long done() {
        return night.count("select count(*) from transfer_unit where state = 'VERIFIED'");
    }
}
