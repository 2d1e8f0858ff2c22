package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dozo.RunningService;
import dozo.db.Campaign;
import dozo.db.LostDatabase;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import dozo.remote.Tmpfs;
import dozo.run.Operations;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The service's embedded server is killed with SIGKILL: while idle, and while a night sends. Takes over a minute: the
 * service needs its time to notice and to recover.
 */
@StartsServices(5)
class KilledDatabaseIT {

    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int FILES = 1_000;

    /** Upper bound of the random number of verified units after which the server is killed. */
    private static final int UNITS_BEFORE_MAX = 40;

    private static final int BACKENDS = Campaign.times(2);

    @TempDir
    Path folder;

    @BeforeEach
    void unpack() throws IOException {
        TestDatabase.unpacked(folder.resolve("work/postgres"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aNightThatLosesItsServerGoesOnAndTheNextOneIsComplete(boolean wholeFamily) throws Exception {
        Path source = Files.createDirectory(folder.resolve("source"));
        try (RunningService service = start();
                CapturedLog log = new CapturedLog();
                LoopbackSite site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0)) {
            // Idle first, so that the night uses connections of the earlier server.
            kill(wholeFamily);
            awaitAnswers(service, log, 1);

            register(service, site, source);
            addFiles(source, 1);
            Run night = nightUnderWay(service);
            kill(wholeFamily);
            awaitAnswers(service, log, 2);
            long committed = verified(service);
            assertGoesOn(service, night);
            assertThat(committed).isLessThan(units(service));
            assertAllIsSafe(service, source);
            assertThat(log.events())
                    .noneSatisfy(event -> assertThat(event.getThrowableProxy()).isNotNull());
            assertThat(log.count("the database does not answer")).isEqualTo(2);
            assertThat(log.count("the database answers again")).isEqualTo(2);
        }
    }

    /** When one of its processes dies, the server ends all connections and recovers by itself. */
    @Tag(Campaign.TAG)
    @Test
    void nightsOfWhichAProcessOfTheServerIsKilledGoOn() throws Exception {
        Path source = Files.createDirectory(folder.resolve("source"));
        Random random = new Random();
        try (RunningService service = start();
                LoopbackSite site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0)) {
            register(service, site, source);
            for (int number = 1; number <= BACKENDS; number++) {
                addFiles(source, number);
                Run night = nightUnderWay(service);
                List<ProcessHandle> processes = server().children().toList();
                processes.get(random.nextInt(processes.size())).destroyForcibly();
                assertGoesOn(service, night);
            }
            assertAllIsSafe(service, source);
        }
    }

    private static void register(RunningService service, LoopbackSite site, Path source) throws IOException {
        service.saveSite("dr", site.address());
        service.createExperiment("P1", "S1", source);
    }

    /** Returns a night at a random moment before everything is verified. */
    private static Run nightUnderWay(RunningService service) {
        long before = verified(service) + new Random().nextInt(UNITS_BEFORE_MAX + 1);
        Run night = service.bean(Operations.class).start("dr", "test");
        await().atMost(LIMIT).pollInterval(Duration.ofMillis(5)).until(() -> verified(service) >= before);
        return night;
    }

    private static void assertGoesOn(RunningService service, Run night) {
        Run ended = ended(service, night);
        System.out.printf("killed: run %d ended %s %s%n", ended.id(), ended.state(), ended.message());
        assertThat(ended.state()).isEqualTo(RunState.COMPLETE);
        assertThat(recovered(service, night))
                .as("by the same path as after a dead process")
                .isEqualTo(1);
    }

    private void assertAllIsSafe(RunningService service, Path source) throws IOException {
        Run next = ended(service, service.bean(Operations.class).start("dr", "test"));
        assertThat(next.state()).isEqualTo(RunState.COMPLETE);
        service.get("/api/v1/coverage").has("/totals/safe", true);
        try (Stream<Path> files = Files.list(source)) {
            assertThat(files.toList())
                    .allSatisfy(
                            file -> assertThat(folder.resolve("dr/P1/S1/data").resolve(file.getFileName()))
                                    .hasSameBinaryContentAs(file));
        }
    }

    @Test
    void aNightWhoseDiskIsFullWaitsForSpaceAndGoesOn() throws Exception {
        Path source = Files.createDirectory(folder.resolve("source"));
        Path work = folder.resolve("work");
        try (Tmpfs disk = new Tmpfs(work, "size=2g")) {
            TestDatabase.unpacked(work.resolve("postgres"));
            try (RunningService service = start();
                    CapturedLog log = new CapturedLog();
                    LoopbackSite site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0)) {
                register(service, site, source);
                addFiles(source, 1);
                Run night = nightUnderWay(service);

                disk.remount("size=" + (used(work) + 50_000_000));
                await().atMost(LIMIT).until(() -> log.count("the disk of " + data() + " is full") == 1);
                service.with(null).get("/actuator/health").expect(503);
                assertThat(service.get("/api/v1/health").expect(503).string("/detail"))
                        .contains("the disk of the database is full");

                disk.remount("size=2g");
                awaitAnswers(service, log, 1);
                assertThat(ended(service, night).state()).isEqualTo(RunState.COMPLETE);
                assertAllIsSafe(service, source);
            }

            disk.remount("size=" + (used(work) + 50_000_000));
            assertThatThrownBy(this::start).hasStackTraceContaining("the disk of " + data() + " is full");
        }
    }

    private static long used(Path file) throws IOException {
        FileStore store = Files.getFileStore(file);
        return store.getTotalSpace() - store.getUsableSpace();
    }

    @Test
    void aServiceWhoseServerDoesNotStartAgainEndsForItsManager() throws Exception {
        Path output = folder.resolve("output");
        Process service = ServeProcess.start(folder.resolve("work"), output, Map.of());
        try {
            await().atMost(LIMIT)
                    .until(() -> !service.isAlive() || Files.readString(output).contains("log in as admin"));
            Files.move(data().resolve("global"), data().resolve("gone"));
            kill(true);

            assertThat(service.waitFor(LIMIT)).isTrue();
            String said = Files.readString(output);
            assertThat(service.exitValue()).as(said).isEqualTo(69);
            assertThat(said)
                    .containsOnlyOnce("could not be restarted (5 attempts)")
                    .contains("pg_control");
        } finally {
            service.destroyForcibly();
        }
    }

    private RunningService start() {
        return RunningService.start(
                folder.resolve("work"),
                TestDatabase.fresh(),
                Map.of(
                        "dozo.db.url",
                        "",
                        "dozo.db.user",
                        "",
                        "dozo.db.password",
                        "",
                        "dozo.transfer.bundle-entries",
                        "5",
                        RunningService.CLOCK,
                        "on"));
    }

    private Path data() {
        return folder.resolve("work/postgres/data");
    }

    private ProcessHandle server() throws IOException {
        return ProcessHandle.of(Long.parseLong(
                        Files.readAllLines(data().resolve("postmaster.pid")).getFirst()))
                .orElseThrow();
    }

    private void kill(boolean wholeFamily) throws IOException {
        ProcessHandle server = server();
        List<ProcessHandle> family = server.descendants().toList();
        server.destroyForcibly();
        if (wholeFamily) {
            family.forEach(ProcessHandle::destroyForcibly);
        }
    }

    private static void awaitAnswers(RunningService service, CapturedLog log, int time) {
        await().atMost(LIMIT).until(() -> log.count("the database answers again") == time);
        await().atMost(LIMIT)
                .until(() -> service.with(null).get("/actuator/health").status() == 200);
    }

    private static Run ended(RunningService service, Run run) {
        await().atMost(LIMIT)
                .ignoreExceptionsMatching(LostDatabase::isBehind)
                .until(() -> !service.run(run.id()).goesOn());
        return service.run(run.id());
    }

    private static long verified(RunningService service) {
        return service.count("select count(*) from transfer_unit where state = 'VERIFIED'");
    }

    private static long units(RunningService service) {
        return service.count("select count(*) from transfer_unit");
    }

    private static long recovered(RunningService service, Run run) {
        return service.count(
                "select count(*) from ledger where action = 'run.recovered' and subject = '%d'".formatted(run.id()));
    }

    private static void addFiles(Path source, int night) throws IOException {
        Random random = new Random(night);
        for (int i = 0; i < FILES; i++) {
            byte[] content = new byte[random.nextInt(20_000)];
            random.nextBytes(content);
            Files.write(source.resolve("image" + night + "-" + i), content);
        }
    }
}
