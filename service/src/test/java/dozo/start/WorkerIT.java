package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.RunningService;
import dozo.broker.RabbitBroker;
import dozo.db.Campaign;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.SiteTimetables;
import dozo.registry.Sites;
import dozo.remote.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Real worker processes with a real broker: they share a night, and it ends whole whatever happens to them (ADR 0080). */
class WorkerIT {

    private static final Duration LIMIT = Duration.ofMinutes(10);

    /** Rounds of what can happen in one night. */
    private static final int ROUNDS = Campaign.times(1);

    private static final int EXPERIMENTS = 12;
    private static final int FILES = 25 * ROUNDS;

    /** The night lasts long enough for anything, until the limit is taken away. */
    private static final List<String> SLOW = List.of("daily 00:00-24:00 20kB/s");

    /** Units of 5 files and, in two partitions, up to 2 in flight each. */
    private static final Map<String, String> SETTINGS = Map.of(
            "DOZO_INGEST_LOOKS", "1",
            "DOZO_TRANSFER_BUNDLE_ENTRIES", "5",
            "DOZO_TRANSFER_PARTITIONS", "2",
            "DOZO_TRANSFER_CHUNK", "2");

    private static final int IN_FLIGHT_MAX = 2 * 2;

    @TempDir
    Path folder;

    private final HikariDataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Random random = new Random(2080);
    private final Map<String, Process> running = new HashMap<>();
    private final List<Process> started = new ArrayList<>();
    private LoopbackSite site;
    private RabbitBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new RabbitBroker(Files.createDirectory(folder.resolve("broker")));
        site = LoopbackSite.start(folder.resolve("keys"), folder.resolve("dr"), 0);
        try (RunningService service = RunningService.start(folder.resolve("first"), database, Map.of())) {
            service.bean(Sites.class).save("dr", site.address(), "test");
            service.bean(Projects.class).create("P1", "", "test");
            for (int i = 0; i < EXPERIMENTS; i++) {
                Path source = Files.createDirectories(source(i));
                for (int j = 0; j < FILES; j++) {
                    byte[] content = new byte[1 + random.nextInt(20_000)];
                    random.nextBytes(content);
                    Files.write(source.resolve("image" + j), content);
                }
                service.bean(Experiments.class).register("P1", "S" + i, "", source, "test");
            }
            service.bean(SiteTimetables.class).set("dr", SLOW, "test");
        }
        // The night has been due for days: the service starts it at once.
        Timestamp longAgo = Timestamp.from(Instant.now().minus(Duration.ofDays(3)));
        jdbc.sql("update experiment set registered_at = :then")
                .param("then", longAgo)
                .update();
        jdbc.sql("update site set updated_at = :then").param("then", longAgo).update();
    }

    @AfterEach
    void end() throws Exception {
        for (Process process : started) {
            process.destroyForcibly().waitFor();
        }
        site.close();
        broker.close();
    }

    private Path source(int experiment) {
        return folder.resolve("source").resolve("S" + experiment);
    }

    @Tag(Campaign.TAG)
    @Test
    void aNightEndsWholeWhateverHappensToItsWorkers() throws Exception {
        worker("one", List.of());
        worker("two", List.of());
        awaitSaid("one", "waits for work", 1);
        awaitSaid("two", "waits for work", 1);
        serve();
        awaitWorkers(2);
        int lost = 0;
        for (int round = 1; round <= ROUNDS; round++) {
            awaitUnits(units() + 1 + random.nextInt(3));
            long replaced = replaced();
            kill("one");
            worker("one", List.of());
            awaitReplaced("one", replaced);
            lost++;
            awaitUnits(units() + 1 + random.nextInt(3));
            broker.kill();
            awaitUnits(units() + 1);
            ChildProcess.signal(process("two").toHandle(), "STOP");
            awaitReplaced("two", replaced + 1);
            ChildProcess.signal(process("two").toHandle(), "CONT");
            lost++;
            awaitSaid("two", "others have taken over the work of worker", round);
            broker.restart();
            awaitUnits(units() + 1);
            kill("service");
            serve();
            lost++;
            awaitUnits(units() + 1);
        }
        fast();

        awaitEnd();
        assertWhole(lost);
        assertThat(count("select count(*) from ledger where action = 'run.recovered'"))
                .isEqualTo(ROUNDS);
        System.out.printf(
                "%d kills and %d hangs of workers, %d deaths of the broker, %d of the service, one night%n",
                ROUNDS, ROUNDS, ROUNDS, ROUNDS);
    }

    @Test
    void aWorkerThatDoesNotSeeASourceLeavesItToTheService() throws Exception {
        String hide = "mount -t tmpfs none %s && exec \"$@\"".formatted(source(0));
        worker("one", List.of("unshare", "--mount", "sh", "-c", hide, "sh"));
        awaitSaid("one", "waits for work", 1);
        serve();
        await().atMost(LIMIT)
                .until(() -> count("select coalesce(sum(entries_proven), 0) from run_worker where joined") > 0);
        fast();

        awaitEnd();
        assertWhole(0);
        assertThat(count("select count(*) from finding")).isZero();
        awaitSaid("one", "left run", 1);
    }

    @Test
    void aWorkerThatIsStoppedFinishesItsUnitsAndLeaves() throws Exception {
        worker("one", List.of());
        awaitSaid("one", "waits for work", 1);
        serve();
        awaitWorkers(1);
        awaitUnits(1);

        process("one").destroy();
        assertThat(process("one").waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(count("select count(*) from run_worker where joined and not ended"))
                .isZero();
        fast();
        awaitEnd();
        assertWhole(0);
    }

    @Test
    void whatAWorkerLacksIsToldInOneSentence() throws Exception {
        Map<String, String> none = new HashMap<>(SETTINGS);
        Process alone = ServeProcess.startWorker(List.of(), folder.resolve("w"), output("alone"), none);
        started.add(alone);
        assertThat(alone.waitFor()).isEqualTo(StartFailure.CONFIGURATION);
        assertThat(said("alone"))
                .contains("dozo: dozo.db.url (DOZO_DB_URL) is missing: a worker needs the database of its service");

        jdbc.sql(
                        "update flyway_schema_history set version = '1' where version = (select max(version) from flyway_schema_history)")
                .update();
        Map<String, String> other = new HashMap<>(settings());
        other.put("DOZO_DB_START_WAIT", "1s");
        Process misfit = ServeProcess.startWorker(List.of(), folder.resolve("w"), output("misfit"), other);
        started.add(misfit);
        assertThat(misfit.waitFor()).isEqualTo(StartFailure.UNAVAILABLE);
        assertThat(said("misfit")).contains("one of another version: start the service first");
    }

    private Map<String, String> settings() {
        Map<String, String> settings = new HashMap<>(SETTINGS);
        settings.putAll(Map.of(
                "DOZO_DB_URL", database.getJdbcUrl(),
                "DOZO_DB_USER", String.valueOf(database.getUsername()),
                "DOZO_DB_PASSWORD", String.valueOf(database.getPassword()),
                "DOZO_BROKER_URL", broker.url()));
        return settings;
    }

    private void serve() throws IOException {
        Map<String, String> settings = settings();
        settings.putAll(
                Map.of("DOZO_SCHEDULE_CRON", "0 0 1 * * *", "DOZO_SCRUB_WINDOW", "-", "DOZO_SERVICE_NAME", "service"));
        keep("service", ServeProcess.start(folder.resolve("service"), output("service"), settings));
        awaitSaid("service", "Dozo listens at", 1);
    }

    private void worker(String name, List<String> before) throws IOException {
        keep(name, ServeProcess.startWorker(before, folder.resolve(name), output(name), settings()));
    }

    private void keep(String name, Process process) {
        running.put(name, process);
        started.add(process);
    }

    private Process process(String name) {
        return java.util.Objects.requireNonNull(running.get(name));
    }

    private void kill(String name) throws InterruptedException {
        process(name).destroyForcibly().waitFor();
    }

    private Path output(String name) {
        return folder.resolve("output-" + name);
    }

    private String said(String name) throws IOException {
        return Files.readString(output(name));
    }

    private void awaitSaid(String name, String words, int times) {
        await().atMost(LIMIT)
                .failFast("it has ended", () -> !process(name).isAlive())
                .until(() -> said(name).split(java.util.regex.Pattern.quote(words), -1).length > times);
    }

    private void awaitWorkers(int number) {
        await().atMost(LIMIT)
                .until(() -> count("select count(*) from run_worker where joined and not ended") == number);
    }

    /** Waits until others have taken over from one more worker, and prints how long it took: a loaded machine may need longer. */
    private void awaitReplaced(String name, long before) {
        long began = System.nanoTime();
        await().atMost(LIMIT).until(() -> replaced() == before + 1);
        System.out.printf(
                "%s was replaced after %d s%n",
                name, Duration.ofNanos(System.nanoTime() - began).toSeconds());
    }

    private long replaced() {
        return count("select count(*) from run_worker where joined and ended");
    }

    private void awaitUnits(long verified) {
        await().atMost(LIMIT).pollInterval(Duration.ofMillis(10)).until(() -> units() >= verified);
    }

    private long units() {
        return count("select count(*) from transfer_unit where state = 'VERIFIED'");
    }

    private void fast() {
        jdbc.sql("delete from site_timetable").update();
    }

    private void awaitEnd() {
        await().atMost(LIMIT).until(() -> count("select count(*) from run where ended_at is null") == 0);
    }

    /** Asserts that there was one run, complete, of which every file is at the site and was recorded once. */
    private void assertWhole(int lost) throws IOException {
        assertThat(jdbc.sql("select state from run").query(String.class).list()).containsExactly("COMPLETE");
        assertThat(count("select count(*) from transfer_unit where state <> 'VERIFIED'"))
                .isZero();
        assertThat(count("select count(*) from transfer_unit")).isEqualTo(EXPERIMENTS * FILES / 5);
        assertThat(count("select count(*) from receipt")).isEqualTo(count("select count(*) from transfer_unit"));
        assertThat(count("select count(*) from transfer_unit where attempts > 1 and not for_service"))
                .as("only what was in flight")
                .isLessThanOrEqualTo((long) lost * IN_FLIGHT_MAX);
        for (int i = 0; i < EXPERIMENTS; i++) {
            Path copy = folder.resolve("dr/P1/S" + i + "/data");
            try (Stream<Path> files = Files.list(source(i))) {
                assertThat(files.toList())
                        .hasSize(FILES)
                        .allSatisfy(file ->
                                assertThat(copy.resolve(file.getFileName())).hasSameBinaryContentAs(file));
            }
        }
        assertThat(folder.resolve("dr/.dozo/versions")).doesNotExist();
        assertThat(count("select count(*) from offered_look")).isZero();
        assertThat(count("select count(*) from settling")).isZero();
    }

    private long count(String sql) {
        return jdbc.sql(sql).query((row, n) -> row.getLong(1)).single();
    }
}
