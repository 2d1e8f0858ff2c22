package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dozo.file.Problem;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.plan.Planner.Limits;
import dozo.remote.HungMount;
import dozo.remote.SlowMount;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.send.Sender;
import dozo.transfer.ClaimedUnits;
import dozo.transfer.ClaimedUnits.Claim;
import dozo.transfer.ClaimedUnits.Result;
import dozo.transfer.ClaimedUnits.Share;
import dozo.transfer.OfferedLooks;
import dozo.transfer.RunWorkers;
import dozo.transfer.TransferUnits.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.transaction.support.TransactionTemplate;

/** Reading sources, sending and settling run concurrently, and a claim is a lease (ADR 0054). */
class NightFlowsIT {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    Path folder;

    private Path root;
    private LoopbackSite site;
    private Night night;

    @BeforeEach
    void start() throws Exception {
        root = Files.createDirectory(folder.resolve("dr"));
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
    }

    @AfterEach
    void stop() throws Exception {
        if (night != null) {
            night.close();
        }
        site.close();
    }

    private void open(String... properties) {
        night = Night.on(site.address(), properties);
    }

    private Path experiment(String code) throws Exception {
        Path source = Files.createDirectory(folder.resolve(code));
        Night.write(source, Map.of("a", code, "sub/b", "more of " + code));
        night.register(code, source);
        return source;
    }

    private long safe() {
        return night.count("select count(*) from protection where entries = entries_safe and not unsettled");
    }

    @Test
    void whatIsSealedIsSentAndSettledWhileOthersAreStillLookedAt() throws Exception {
        open();
        experiment("E1");
        Path hung = experiment("E2");
        experiment("E3");
        Run run;
        try (HungMount _ = new HungMount(hung)) {
            run = night.start();

            Night.until(() -> safe() == 2);
            assertThat(night.get(OfferedLooks.class).isLooked(run.id())).isFalse();
            assertThat(night.find(run).state()).isEqualTo(RunState.RUNNING);
            NightlyBackupIT.assertChecks(root.resolve("p/E1"));
            NightlyBackupIT.assertChecks(root.resolve("p/E3"));
        }
        night.await(run);
    }

    /** An empty folder, further names of a file, and more entries than are kept with others. */
    @Test
    void smallFirstLooksThatCollectAreKeptInOneTransaction() throws Exception {
        open();
        for (int n = 1; n <= 5; n++) {
            experiment("E" + n);
        }
        Files.createLink(folder.resolve("E2/b"), folder.resolve("E2/a"));
        Files.createSymbolicLink(folder.resolve("E3/link"), Path.of("a"));
        Files.createDirectories(folder.resolve("empty/sub"));
        night.register("empty", folder.resolve("empty"));
        Night.writeMany(experiment("many"), 1_100);

        night.assertComplete(night.await(startWithFirstLooksTogether(5)));

        assertThat(night.count("select max(n) from (select count(*) as n from manifest group by xmin::text) as t"))
                .isBetween(5L, 6L);
        assertThat(
                        night.count(
                                "select count(*) from manifest where manifest_no = 1 and entries_new = files + folders + links"))
                .isEqualTo(7);
        assertThat(night.texts("select count(*)::text from ledger where action = 'manifest.sealed'"))
                .containsExactly("7");
        assertThat(safe()).isEqualTo(7);
        NightlyBackupIT.assertSame(folder.resolve("empty"), root.resolve("p/empty/data"));
        for (String code : List.of("E1", "E2", "E3", "E4", "E5", "many")) {
            NightlyBackupIT.assertSame(folder.resolve(code), root.resolve("p/" + code + "/data"));
            NightlyBackupIT.assertChecks(root.resolve("p/" + code));
        }
        assertThat(Files.getAttribute(root.resolve("p/E2/data/b"), "unix:nlink"))
                .isEqualTo(2);
        night.complete();
    }

    @Test
    void firstLooksThatCannotBeKeptTogetherAreKeptAlone() throws Exception {
        open();
        for (int n = 1; n <= 4; n++) {
            experiment("E" + n);
        }
        night.update("""
                create sequence refused;
                create function refuse() returns trigger language plpgsql as $$
                begin
                    if (select count(*) from fresh) > 1 then
                        perform nextval('refused');
                        raise exception 'planted: several at once';
                    end if;
                    return null;
                end $$;
                create trigger refuse after insert on manifest referencing new table as fresh
                for each statement execute function refuse();
                """);

        night.assertComplete(night.await(startWithFirstLooksTogether(3)));

        assertThat(night.count("select case when is_called then last_value else 0 end from refused"))
                .isPositive();
        assertThat(safe()).isEqualTo(4);
    }

    /** Starts a run in which at least this many first looks wait to be kept, because another one is being kept. */
    private Run startWithFirstLooksTogether(int count) throws Exception {
        return night.whileHolding("lock table manifest in share mode", () -> {
            Run run = night.start();
            night.awaitHeldUp("relation = 'manifest'::regclass");
            Night.until(() -> Thread.getAllStackTraces().values().stream()
                            .filter(stack -> Stream.of(stack)
                                    .anyMatch(frame -> frame.getMethodName().equals("isPlanned")))
                            .count()
                    >= count);
            return run;
        });
    }

    @Test
    void aSourceThatHangsCostsItsOwnExperimentAndNothingElse() throws Exception {
        open("dozo.ingest.patience=3s", "dozo.ingest.looks=1");
        Path hung = experiment("E1");
        experiment("E2");
        try (HungMount _ = new HungMount(hung)) {
            Run run = night.run();

            assertThat(run.state()).isEqualTo(RunState.FINDINGS);
            night.assertOnly(run, Problem.UNREADABLE, "has not answered for 3 s");
            assertThat(safe()).isEqualTo(1);
        }
        night.complete();
        assertThat(safe()).isEqualTo(2);
    }

    @Test
    void aRunThatWaitsForASourceThatHangsCanBeStopped() throws Exception {
        open();
        Path hung = experiment("E1");
        try (HungMount _ = new HungMount(hung)) {
            Run run = night.start();
            Night.until(() -> Thread.getAllStackTraces().keySet().stream()
                    .anyMatch(thread -> thread.getName().equals("look-1")));
            night.operations().stop(run.id(), "test");

            assertThat(night.await(run).state()).isEqualTo(RunState.STOPPED);
        }
    }

    /** NB: the lock on the units keeps the run from ending, that on the workers its flows from beginning. */
    @Test
    void aRunThatIsStoppedWhileItsFlowsBeginIsAskedAgain() throws Exception {
        open();
        experiment("E1");
        Operations operations = night.operations();
        try (Connection held = night.get(DataSource.class).getConnection();
                Statement statement = held.createStatement()) {
            held.setAutoCommit(false);
            statement.execute("lock table transfer_unit in share mode");
            Savepoint unitsOnly = held.setSavepoint();
            statement.execute("lock table run_worker in share mode");
            Run run = operations.start("dr", "test");
            night.awaitHeldUp("relation = 'run_worker'::regclass");
            operations.stop(run.id(), "test");
            held.rollback(unitsOnly);
            NightFlow flow = flow(run);

            operations.recover();

            assertThat(flow.ends()).isTrue();
            held.rollback();
            assertThat(night.await(run).state()).isEqualTo(RunState.STOPPED);
        }
    }

    @Test
    void aFileThatHangsWhileItIsReadCostsItsOwnExperimentAndNothingElse() throws Exception {
        open("dozo.ingest.patience=3s");
        experiment("E1");
        Path source = Files.createDirectory(folder.resolve("E2"));
        Path shown = shown();
        experiment("E3");
        try (SlowMount mount = new SlowMount(shown, source, Duration.ZERO)) {
            night.register("E2", source);
            mount.hangLater();

            Run run = night.run();

            assertThat(run.state()).isEqualTo(RunState.FINDINGS);
            assertThat(mount.hanging()).as("still in the kernel").isPositive();
            assertThat(night.findings(run)).singleElement().satisfies(finding -> {
                assertThat(finding.experiment()).isEqualTo("p/E2");
                assertThat(finding.reason()).isEqualTo(Problem.UNREADABLE);
                assertThat(finding.message()).contains("the source has not answered for 3 s");
            });
            assertThat(safe()).isEqualTo(2);
            assertThat(root.resolve("p/E2/data/small")).hasContent("small");
            assertThat(root.resolve("p/E2/data/hung")).doesNotExist();
            NightlyBackupIT.assertChecks(root.resolve("p/E1"));
            NightlyBackupIT.assertChecks(root.resolve("p/E3"));

            mount.comeBack();
            night.complete();
            assertThat(safe()).isEqualTo(3);
            NightlyBackupIT.assertChecks(root.resolve("p/E2"));
        }
    }

    @Test
    void aSourceThatHangsWhileItIsReadIsOneFindingWhateverItHas() throws Exception {
        open("dozo.ingest.patience=4s", "dozo.transfer.bundle-entries=10", "dozo.transfer.chunk=1");
        Path source = Files.createDirectory(folder.resolve("E1"));
        Path shown = Files.createDirectory(folder.resolve("shown"));
        for (int n = 0; n < 150; n++) {
            Files.writeString(shown.resolve("f" + n), "x".repeat(300_000 + n));
        }
        try (SlowMount mount = new SlowMount(shown, source, Duration.ZERO)) {
            night.register("E1", source);
            mount.dieLater();

            Run run = night.run();

            assertThat(mount.hanging()).isLessThanOrEqualTo(64);
            assertThat(run.state()).isEqualTo(RunState.FINDINGS);
            night.assertOnly(run, Problem.UNREADABLE, "check its file server");
            mount.comeBack();
            night.complete();
        }
    }

    @Test
    void unitsThatWaitForTheirSourceLeaveTheirPlacesToOthers() throws Exception {
        open(
                "dozo.ingest.looks=1",
                "dozo.transfer.partitions=1",
                "dozo.transfer.chunk=2",
                "dozo.transfer.bundle-entries=1");
        Path source = Files.createDirectory(folder.resolve("E1"));
        Path shown = Files.createDirectory(folder.resolve("shown"));
        for (int n = 0; n < 8; n++) {
            Files.writeString(shown.resolve("f" + n), "x".repeat(300_000 + n));
        }
        try (SlowMount mount = new SlowMount(shown, source, Duration.ZERO)) {
            night.register("E1", source);
            experiment("E2");
            mount.hangLater();
            Run run = night.start();

            Night.until(() -> safe() == 1);
            assertThat(mount.hanging()).isEqualTo(2);
            mount.comeBack();
            assertThat(night.await(run).state()).isEqualTo(RunState.COMPLETE);
            assertThat(safe()).isEqualTo(2);
        }
    }

    @Test
    void aRunWhoseSourceHangsWhileItIsReadCanBeStopped() throws Exception {
        open();
        Path source = Files.createDirectory(folder.resolve("E1"));
        Path shown = shown();
        try (SlowMount mount = new SlowMount(shown, source, Duration.ZERO)) {
            Run run = hangingAtReading(mount, source);

            night.operations().stop(run.id(), "test");

            assertThat(night.await(run).state()).isEqualTo(RunState.STOPPED);
            assertThat(night.findings(run)).isEmpty();
            assertThat(mount.hanging()).isPositive();
        }
    }

    @Test
    void aRunWhoseSourceHangsWhileItIsReadCanBePausedAndGoesOnWithIt() throws Exception {
        open();
        Path source = Files.createDirectory(folder.resolve("E1"));
        Path shown = shown();
        try (SlowMount mount = new SlowMount(shown, source, Duration.ZERO)) {
            Run run = hangingAtReading(mount, source);
            pause(run);
            assertThat(night.find(run).state()).isEqualTo(RunState.PAUSED);

            mount.comeBack();
            night.operations().resume(run.id(), "test");

            assertThat(night.await(run).state()).isEqualTo(RunState.COMPLETE);
            assertThat(safe()).isEqualTo(1);
        }
    }

    @Test
    void unitsAreClaimedByTheirWeight() throws Exception {
        open("dozo.transfer.partitions=1");
        for (int i = 0; i < 20; i++) {
            experiment("E" + i);
        }
        ClaimedUnits units = night.get(ClaimedUnits.class);
        Run run = night.open();
        NightFlow flow = flow(run);
        night.get(Looking.class).look(flow);
        Limits tiny = new Limits(1_000_000, 1_000, 1_000_000);

        assertThat(units.claim(run.id(), flow.worker(), 0, new Share(3, 1, tiny), Set.of()))
                .hasSize(3)
                .allSatisfy(claim -> assertThat(claim.weight(tiny)).isEqualTo(1 / 16.0));
        assertThat(units.claim(run.id(), flow.worker(), 0, new Share(100, 1, new Limits(1, 1, 1)), Set.of()))
                .as("one full unit")
                .hasSize(1)
                .allSatisfy(
                        claim -> assertThat(claim.weight(new Limits(1, 1, 1))).isEqualTo(1));
        assertThat(units.claim(run.id(), flow.worker(), 0, new Share(100, 1, tiny), Set.of()))
                .as("as many tiny ones as weigh as much as a full one, or all that are left")
                .hasSize(16);
        assertThat(units.claim(run.id(), flow.worker(), 0, new Share(100, 1, tiny), Set.of()))
                .isEmpty();
    }

    @Test
    void claimingAsksNoSource() throws Exception {
        open();
        Path hung = experiment("E1");
        ClaimedUnits units = night.get(ClaimedUnits.class);
        Run run = night.open();
        NightFlow flow = flow(run);
        night.get(Looking.class).look(flow);

        try (HungMount _ = new HungMount(hung)) {
            assertTimeoutPreemptively(
                    LIMIT,
                    () -> assertThat(units.claim(run.id(), flow.worker(), 0, 10))
                            .hasSize(1));
        }
        night.get(NightFlows.class).close(run.id());
    }

    /** Returns the content of a mount on which a small file can be read and a larger one hangs. */
    private Path shown() throws Exception {
        Path shown = Files.createDirectory(folder.resolve("shown"));
        Night.write(shown, Map.of("small", "small", "hung", "h".repeat(300_000)));
        return shown;
    }

    /** A run whose first experiment is safe and whose next one hangs; it is paused, and the source responds again. */
    private Run pausedWhileHanging(Path hung) throws Exception {
        try (HungMount _ = new HungMount(hung)) {
            Run run = night.start();
            Night.until(() -> safe() == 1);
            pause(run);
            return run;
        }
    }

    private void pause(Run run) {
        night.operations().pause(run.id(), "test");
        night.awaitIdle();
    }

    /** A run of one experiment that hangs while it reads a file. */
    private Run hangingAtReading(SlowMount mount, Path source) throws IOException {
        night.register("E1", source);
        mount.hangLater();
        Run run = night.start();
        Night.until(() -> mount.hanging() > 0);
        return run;
    }

    @Test
    void aRunThatIsGoneOnWithLooksAtTheRestAndPlansNothingTwice() throws Exception {
        open("dozo.ingest.looks=1");
        experiment("E1");
        Path hung = experiment("E2");
        experiment("E3");
        Run run = pausedWhileHanging(hung);
        night.operations().resume(run.id(), "test");

        assertThat(night.await(run).state()).isEqualTo(RunState.COMPLETE);
        assertThat(safe()).isEqualTo(3);
        assertThat(night.count("select count(*) from transfer_unit")).isEqualTo(3);
        assertThat(night.count("select max(attempts) from transfer_unit")).isEqualTo(1);
    }

    @Test
    void whatChangesBeforeARunIsGoneOnWithIsSentByIt() throws Exception {
        open("dozo.ingest.looks=1");
        Path first = experiment("E1");
        Path hung = experiment("E2");
        Run run = pausedWhileHanging(hung);
        night.update("update run set looked_after = 0");
        Night.write(first, Map.of("a", "other content", "new", "file"));
        night.operations().resume(run.id(), "test");

        assertThat(night.await(run).state()).isEqualTo(RunState.COMPLETE);
        assertThat(safe()).isEqualTo(2);
        assertThat(root.resolve("p/E1/data/a")).hasContent("other content");
        Bagit.assertValid(root.resolve("p/E1"));
    }

    @Test
    void aSiteThatIsAwayForAWhileIsWaitedForAndTheRunSaysSo() throws Exception {
        open("dozo.transfer.outage=2m");
        Run run = losesItsSite();
        int port = site.address().port();

        Awaitility.await()
                .atMost(LIMIT)
                .until(() -> message(run), message -> message.startsWith("waiting for site dr since "));
        assertThat(night.find(run).state()).isEqualTo(RunState.RUNNING);
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, port);

        assertThat(night.await(run).state()).isEqualTo(RunState.COMPLETE);
        assertThat(message(run)).isEmpty();
        assertThat(safe()).isEqualTo(1);
        NightlyBackupIT.assertChecks(root.resolve("p/E1"));
    }

    @Test
    void aSiteThatIsAwayForLongerFailsTheRun() throws Exception {
        open("dozo.transfer.outage=1s");
        Run run = losesItsSite();

        assertThat(night.await(run).state()).isEqualTo(RunState.FAILED);
        night.assertOnly(run, Problem.SITE_UNREACHABLE);
        assertThat(message(run)).doesNotContain("waiting");
    }

    @Test
    void aRunThatWaitsForItsSiteCanBeStopped() throws Exception {
        open("dozo.transfer.outage=1h");
        Run run = losesItsSite();
        Awaitility.await().atMost(LIMIT).until(() -> message(run), message -> message.startsWith("waiting"));

        night.operations().stop(run.id(), "test");

        assertThat(night.await(run).state()).isEqualTo(RunState.STOPPED);
    }

    @Test
    void aRunThatIsPausedWhileItWaitsForItsSiteWaitsNoMore() throws Exception {
        open("dozo.transfer.outage=1h");
        Run run = losesItsSite();
        Awaitility.await().atMost(LIMIT).until(() -> message(run), message -> message.startsWith("waiting"));

        night.operations().pause(run.id(), "test");
        night.awaitIdle();

        assertThat(night.find(run).state()).isEqualTo(RunState.PAUSED);
        assertThat(message(run)).isEmpty();
    }

    @Test
    void whatADeadProcessSaidItWaitsForIsNotSaidOfWhoGoesOn() throws Exception {
        open();
        experiment("E1");
        Run run = night.open();
        night.get(Runs.class).say(run.id(), "waiting for site dr since yesterday");

        night.get(NightFlows.class).of(run.id(), run.siteId());

        assertThat(message(run)).isEmpty();
        night.get(NightFlows.class).close(run.id());
    }

    /** A run whose site is away when it has something to send. */
    private Run losesItsSite() throws Exception {
        Path shown = Files.createDirectory(folder.resolve("shown"));
        Night.write(shown, Map.of("a", "1", "sub/b", "2"));
        Path source = Files.createDirectory(folder.resolve("E1"));
        try (SlowMount mount = new SlowMount(shown, source, Duration.ZERO)) {
            night.register("E1", source);
            mount.hang();
            Run run = night.start();
            Night.until(() -> mount.hanging() > 0);
            site.close();
            mount.comeBack();
            Night.until(() -> night.count("select count(*) from transfer_unit") == 1);
            return run;
        } finally {
            Night.write(source, Map.of("a", "1", "sub/b", "2"));
            for (String path : List.of("a", "sub/b", "sub")) {
                Files.setLastModifiedTime(source.resolve(path), Files.getLastModifiedTime(shown.resolve(path)));
            }
        }
    }

    private NightFlow flow(Run run) {
        return night.get(NightFlows.class).of(run.id(), run.siteId());
    }

    private String message(Run run) {
        return night.find(run).message();
    }

    @Test
    void anUnchangedNightWritesNothingOfItsExperiments() throws Exception {
        open();
        experiment("E1");
        night.complete();
        long before = night.count("select pg_current_xact_id()::text::bigint");
        long temporary = temporaryTables();

        night.complete();

        for (String table :
                List.of("entry", "directory", "manifest", "receipt", "protection", "transfer_unit", "tag_file")) {
            assertThat(night.count("select count(*) from %s where xmin::text::bigint > %d".formatted(table, before)))
                    .as(table)
                    .isZero();
        }
        assertThat(temporaryTables()).isEqualTo(temporary);
    }

    private long temporaryTables() {
        return night.count("select count(*) from pg_class where relpersistence = 't'");
    }

    @Test
    void whatAWorkerReportsOfAUnitThatAnotherHasTakenOverIsNotTaken() throws Exception {
        open();
        experiment("E1");
        ClaimedUnits units = night.get(ClaimedUnits.class);
        RunWorkers workers = night.get(RunWorkers.class);
        Run run = night.open();
        NightFlow flow = flow(run);
        night.get(Looking.class).look(flow);
        Claim cutOff = units.claim(run.id(), flow.worker(), 0, 10).getFirst();
        assertThat(units.claim(run.id(), flow.worker(), 1, 10)).isEmpty();

        long other = workers.enlist(run.id(), "elsewhere", true);
        workers.takeOver(run.id(), other);
        assertThat(units.claim(run.id(), flow.worker(), 1, 10))
                .as("its lease is not over")
                .isEmpty();
        night.jdbc()
                .sql("update run_worker set lease_until = now() - interval '1 s' where worker_id = :worker")
                .param("worker", flow.worker())
                .update();
        workers.takeOver(run.id(), flow.worker());
        assertThat(units.claim(run.id(), other, 1, 10))
                .as("nobody frees what is its own")
                .isEmpty();
        workers.takeOver(run.id(), other);
        Claim taken = units.claim(run.id(), other, 1, 10).getFirst();
        assertThat(taken.unitId()).isEqualTo(cutOff.unitId());
        assertThat(other).isGreaterThan(flow.worker());

        record(cutOff, flow.worker(), run);
        assertThat(night.count("select count(*) from receipt")).isZero();
        record(taken, other, run);
        assertThat(night.count("select count(*) from receipt where worker = 'where'"))
                .isEqualTo(1);
        record(taken, other, run);
        assertThat(night.count("select count(*) from receipt")).isEqualTo(1);

        night.get(Senders.class).close(run.id());
        night.get(NightFlows.class).close(run.id());
        night.get(Runs.class).close(run.id(), RunState.FAILED, "cut off");
        night.complete();
    }

    @Test
    void whatIsVerifiedOfAUnitThatFailsIsInTheProgress() throws Exception {
        open();
        Path source = experiment("E1");
        Run run = night.open();
        NightFlow flow = flow(run);
        night.get(Looking.class).look(flow);
        Claim claim = night.get(ClaimedUnits.class)
                .claim(run.id(), flow.worker(), 0, 10)
                .getFirst();
        Files.delete(source.resolve("a"));

        record(claim, flow.worker(), run);

        Progress progress = night.get(Runs.class).progress(Sight.EVERYTHING, run.id());
        assertThat(progress.unitsFailed()).isEqualTo(1);
        assertThat(progress.bytesDone()).isEqualTo("more of E1".length());
        assertThat(progress.percent()).isEqualTo(83);
    }

    private void record(Claim claim, long worker, Run run) throws Exception {
        Sender sender = night.get(Senders.class).of(run.id(), run.siteId());
        Result result = new Result(claim, sender.send(claim.route(), claim.unit()), sender.method());
        night.get(TransactionTemplate.class)
                .executeWithoutResult(_ -> night.get(ClaimedUnits.class).record(List.of(result), worker, "where"));
    }
}
