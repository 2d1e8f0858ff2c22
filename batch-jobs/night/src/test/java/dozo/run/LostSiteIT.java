package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Trees;
import dozo.file.Problem;
import dozo.loopback.LoopbackSite;
import dozo.registry.Sites;
import dozo.remote.SilentRelay;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A site that is lost in a step before or after the sending is waited for, too. */
class LostSiteIT extends NightAtSite {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    /** More than a login takes, and less than the check of a site. */
    private static final long WITHIN_CHECK_BYTES = 64 << 10;

    /** Then the link is well again. */
    private static final int RESETS = 12;

    LostSiteIT() {
        super("dozo.transfer.outage=1h");
    }

    @BeforeEach
    void register() throws Exception {
        register(Map.of("a", "1", "sub/b", "2"));
    }

    @Test
    void aConnectionThatIsCutDuringTheCheckFailsNoNight() throws Exception {
        try (SilentRelay relay = new SilentRelay(site.address())) {
            night.get(Sites.class).save("dr", relay.address(), "test");
            boolean[] cut = {false};
            relay.cutAfter(WITHIN_CHECK_BYTES, () -> cut[0] = true);

            night.complete();

            assertThat(cut[0]).isTrue();
            assertThat(night.get(Runs.class).latest().orElseThrow().message()).isEmpty();
            NightlyBackupIT.assertChecks(bag);
        }
    }

    @Test
    void aSiteThatIsLostDuringTheCheckAndStaysAwayIsWaitedFor() throws Exception {
        try (SilentRelay relay = new SilentRelay(site.address())) {
            night.get(Sites.class).save("dr", relay.address(), "test");
            relay.cutAfter(WITHIN_CHECK_BYTES, site::close);
            Run run = night.start();
            awaitWaiting(run);

            comesBack();

            assertComplete(run);
        }
    }

    @Test
    void aRunThatWaitsDuringTheCheckCanBeStopped() throws Exception {
        try (SilentRelay relay = new SilentRelay(site.address())) {
            night.get(Sites.class).save("dr", relay.address(), "test");
            relay.cutAfter(WITHIN_CHECK_BYTES, site::close);
            Run run = night.start();
            awaitWaiting(run);

            night.operations().stop(run.id(), "test");

            assertThat(night.await(run).state()).isEqualTo(RunState.STOPPED);
        }
    }

    @Test
    void aLinkThatIsResetAgainAndAgainFailsNoNight() throws Exception {
        writeMany();
        Random random = new Random(7);
        try (SilentRelay relay = new SilentRelay(site.address())) {
            night.get(Sites.class).save("dr", relay.address(), "test");
            relay.resetAfter(() -> relay.resets() < RESETS ? random.nextInt(60, 150) : 0);

            night.complete();

            assertThat(relay.resets()).isPositive();
            NightlyBackupIT.assertChecks(bag);
        }
    }

    @Test
    void aLinkThatIsResetForLongerThanTheLimitEndsTheNightAsUnreachable() throws Exception {
        writeMany();
        try (SilentRelay relay = new SilentRelay(site.address());
                Night impatient = new Night(database, relay.address(), "dozo.transfer.outage=3s")) {
            Run run = impatient.startAndHoldUpBefore("collect", () -> relay.resetAfter(() -> 5));
            Run ended = impatient.await(run);

            assertThat(ended.state()).isEqualTo(RunState.FAILED);
            impatient.assertOnly(ended, Problem.SITE_UNREACHABLE);
        }
    }

    /** Enough for many units at once. */
    private void writeMany() throws IOException {
        for (int i = 0; i < 60; i++) {
            Files.write(source.resolve("file" + i), Trees.random(300_000, i));
        }
    }

    @Test
    void aSiteThatDoesNotAnswerAtTheBeginningFailsTheRunAtOnce() {
        site.close();

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.FAILED);
        night.assertOnly(run, Problem.SITE_UNREACHABLE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sweep", "anchor", "record"})
    void aSiteThatIsLostAfterEverythingIsSentIsWaitedForWithoutAnOpenTransaction(String step) throws Exception {
        Run run = night.startAndHoldUpBefore(step, site::close);
        awaitWaiting(run);
        assertNoOpenTransaction();

        comesBack();

        assertComplete(run);
    }

    @Test
    void aLinkThatIsResetAgainAndAgainFailsNoScrub() throws Exception {
        writeMany();
        Random random = new Random(7);
        try (SilentRelay relay = new SilentRelay(site.address())) {
            night.get(Sites.class).save("dr", relay.address(), "test");
            night.complete();
            relay.resetAfter(() -> relay.resets() < RESETS ? random.nextInt(20, 60) : 0);

            Run scrub = night.await(night.startScrub(0).id());

            assertThat(relay.resets()).isPositive();
            night.assertComplete(scrub);
            assertThat(night.count("select count(*) from reading"))
                    .isEqualTo(night.count("select count(*) from receipt"));
        }
    }

    @Test
    void aLinkThatIsResetForLongerThanTheLimitEndsTheScrubAsUnreachable() throws Exception {
        writeMany();
        try (SilentRelay relay = new SilentRelay(site.address());
                Night impatient = new Night(database, relay.address(), "dozo.transfer.outage=3s")) {
            impatient.complete();
            relay.resetAfter(() -> 5);

            Run ended = impatient.await(impatient.startScrub(0).id());

            assertThat(ended.state()).isEqualTo(RunState.FAILED);
            impatient.assertOnly(ended, Problem.SITE_UNREACHABLE);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"read", "examine", "examineOwn"})
    void aScrubWaitsForASiteThatIsLostWithoutAnOpenTransaction(String step) throws Exception {
        night.complete();
        Run run = night.startAndHoldUpBefore(step, () -> night.startScrub(0), site::close);
        awaitWaiting(run);
        assertNoOpenTransaction();

        comesBack();

        assertComplete(run);
    }

    @Test
    void aScrubThatWaitsCanBeStopped() throws Exception {
        night.complete();
        Run run = night.startAndHoldUpBefore("read", () -> night.startScrub(0), site::close);
        awaitWaiting(run);

        night.operations().stop(run.id(), "test");

        assertThat(night.await(run).state()).isEqualTo(RunState.STOPPED);
    }

    /** Waits for the end of one that is open for a moment: a look whether the site is back, for example. */
    private void assertNoOpenTransaction() {
        Night.until(() -> night.count("""
                select count(*) from pg_stat_activity
                where datname = current_database() and state like 'idle in transaction%'
                """) == 0);
    }

    private void awaitWaiting(Run run) {
        Run waiting = Awaitility.await()
                .atMost(LIMIT)
                .until(
                        () -> night.find(run),
                        now -> !now.goesOn() || now.message().startsWith("waiting for site dr since "));
        assertThat(waiting.goesOn()).as(waiting.message()).isTrue();
    }

    private void comesBack() throws Exception {
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, site.address().port());
    }

    private void assertComplete(Run run) throws Exception {
        Run end = night.await(run);
        night.assertComplete(end);
        assertThat(end.message()).isEmpty();
        NightlyBackupIT.assertChecks(bag);
    }
}
