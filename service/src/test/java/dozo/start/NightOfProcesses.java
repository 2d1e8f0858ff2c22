package dozo.start;

import static java.time.ZoneOffset.UTC;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.loopback.LoopbackSite;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.SiteTimetables;
import dozo.registry.Sites;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A night of real processes with one database and one site. It has been due for days, so a service starts it at once, and
 * lasts long enough for anything, until {@link #fast}.
 */
abstract class NightOfProcesses {

    static final Duration LIMIT = Duration.ofMinutes(10);

    /** Far from now, whatever the time zone of the processes is: no other night may begin meanwhile. */
    static final String OTHER_TIME =
            "0 0 %d * * *".formatted((LocalTime.now(UTC).getHour() + 12) % 24);

    private static final int UNIT_FILES = 5;

    /** Units in flight of one process: in two partitions up to 2 each. */
    static final int IN_FLIGHT_MAX = 2 * 2;

    @TempDir
    Path folder;

    final HikariDataSource database = TestDatabase.fresh();
    final JdbcClient jdbc = JdbcClient.create(database);
    final Random random = new Random(2080);

    /** Of all processes. */
    final Map<String, String> settings = new HashMap<>(Map.of(
            "DOZO_DB_URL",
            database.getJdbcUrl(),
            "DOZO_DB_USER",
            String.valueOf(database.getUsername()),
            "DOZO_DB_PASSWORD",
            String.valueOf(database.getPassword()),
            "DOZO_TRANSFER_BUNDLE_ENTRIES",
            String.valueOf(UNIT_FILES),
            "DOZO_TRANSFER_PARTITIONS",
            "2",
            "DOZO_TRANSFER_CHUNK",
            "2",
            "DOZO_SCHEDULE_CRON",
            OTHER_TIME,
            "DOZO_SCRUB_WINDOW",
            "-"));

    private final int experiments;
    private final int files;
    private final Map<String, Process> running = new HashMap<>();
    private final List<Process> started = new ArrayList<>();
    private LoopbackSite site;

    /** A night of so many experiments, with so many files each. */
    NightOfProcesses(int experiments, int files) {
        this.experiments = experiments;
        this.files = files;
    }

    @BeforeEach
    void register() throws Exception {
        site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0);
        Ledger ledger = new Ledger(jdbc, InstantSource.system());
        Sites sites = new Sites(jdbc, ledger, InstantSource.system());
        Projects projects = new Projects(jdbc, ledger, InstantSource.system());
        Experiments registered = new Experiments(jdbc, projects, ledger, InstantSource.system());
        sites.save("dr", site.address(), "test");
        projects.create("P1", "", "test");
        for (int i = 0; i < experiments; i++) {
            Path source = Files.createDirectories(source(i));
            for (int j = 0; j < files; j++) {
                byte[] content = new byte[1 + random.nextInt(20_000)];
                random.nextBytes(content);
                Files.write(source.resolve("image" + j), content);
            }
            registered.register("P1", "S" + i, "", source, "test");
        }
        new SiteTimetables(jdbc, sites, ledger).set("dr", List.of("daily 00:00-24:00 20kB/s"), "test");
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
    }

    Path source(int experiment) {
        return folder.resolve("source/S" + experiment);
    }

    Path copy(int experiment) {
        return folder.resolve("dr/P1/S" + experiment + "/data");
    }

    /** Starts a service with further settings, and these folders before its class path. */
    Process serve(String name, Map<String, String> more, Path... before) throws IOException {
        Map<String, String> all = new HashMap<>(settings);
        all.put("DOZO_SERVICE_NAME", name);
        all.putAll(more);
        Files.deleteIfExists(output(name));
        // All services have the same keys.
        return keep(name, ServeProcess.start(folder.resolve("work"), output(name), all, List.of(before)));
    }

    /** Starts a worker, behind the words of another program if there are any. */
    Process worker(String name, String... before) throws IOException {
        return keep(name, ServeProcess.startWorker(List.of(before), folder.resolve(name), output(name), settings));
    }

    private Process keep(String name, Process process) {
        running.put(name, process);
        started.add(process);
        return process;
    }

    Process process(String name) {
        return requireNonNull(running.get(name));
    }

    void kill(String name) throws InterruptedException {
        process(name).destroyForcibly().waitFor();
    }

    /** Stops a process as a service manager does. */
    void stop(String name) throws InterruptedException {
        process(name).destroy();
        assertThat(process(name).waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    private Path output(String name) {
        return folder.resolve("output-" + name);
    }

    String said(String name) throws IOException {
        return Files.readString(output(name));
    }

    void awaitSaid(String name, String words) {
        awaitSaid(name, words, 1);
    }

    void awaitSaid(String name, String words, int times) {
        await().atMost(LIMIT)
                .failFast("it has ended", () -> !process(name).isAlive())
                .until(() -> said(name).split(Pattern.quote(words), -1).length > times);
    }

    /** Waits until this is true, and prints how long it took: a loaded machine may need longer. */
    void awaitCount(String what, String sql, long expected) {
        long began = System.nanoTime();
        await().atMost(LIMIT).until(() -> count(sql) == expected);
        System.out.printf(
                "%s after %d s%n",
                what, Duration.ofNanos(System.nanoTime() - began).toSeconds());
    }

    void awaitUnits(long verified) {
        await().atMost(LIMIT).until(() -> units() >= verified);
    }

    long units() {
        return count("select count(*) from transfer_unit where state = 'VERIFIED'");
    }

    int recoveries() {
        return (int) count("select count(*) from ledger where action = 'run.recovered'");
    }

    /** Takes the limit of the site away. */
    void fast() {
        jdbc.sql("delete from site_timetable").update();
    }

    void assertUnderWay() {
        assertThat(count("select count(*) from run where ended_at is null"))
                .as("in the middle")
                .isEqualTo(1);
    }

    /**
     * Ends the night, and asserts that there was one run, complete, of which every file is at the site and was recorded
     * once.
     */
    void assertEndsWhole(int recoveries, long sentAgainMax) throws IOException {
        awaitEnd();
        assertWhole(recoveries, sentAgainMax);
    }

    void awaitEnd() {
        fast();
        await().atMost(LIMIT).until(() -> count("select count(*) from run where ended_at is null") == 0);
    }

    void assertWhole(int recoveries, long sentAgainMax) throws IOException {
        assertThat(jdbc.sql("select state from run").query(String.class).list()).containsExactly("COMPLETE");
        assertThat(count("select count(*) from ledger where action = 'run.started'"))
                .isEqualTo(1);
        assertThat(count("select count(*) from ledger where action = 'run.ended'"))
                .isEqualTo(1);
        assertThat(recoveries()).isEqualTo(recoveries);
        assertThat(count("select count(*) from transfer_unit where state <> 'VERIFIED'"))
                .isZero();
        assertThat(count("select count(*) from transfer_unit")).isEqualTo((long) experiments * files / UNIT_FILES);
        assertThat(count("select count(distinct unit_id) from receipt"))
                .isEqualTo(count("select count(*) from receipt"))
                .isEqualTo(count("select count(*) from transfer_unit"));
        assertThat(count("select count(*) from transfer_unit where attempts > 1 and not for_service"))
                .as("only what was in flight")
                .isLessThanOrEqualTo(sentAgainMax);
        for (int i = 0; i < experiments; i++) {
            Path copy = copy(i);
            try (Stream<Path> all = Files.list(source(i))) {
                assertThat(all.toList())
                        .hasSize(files)
                        .allSatisfy(file ->
                                assertThat(copy.resolve(file.getFileName())).hasSameBinaryContentAs(file));
            }
        }
        assertThat(folder.resolve("dr/.dozo/versions")).doesNotExist();
        assertThat(count("select (select count(*) from offered_look) + (select count(*) from settling)"))
                .isZero();
    }

    /** Returns everything below a folder with its time, size and inode: a file that is sent again has another one. */
    static Map<String, String> tree(Path top) throws IOException {
        Map<String, String> tree = new TreeMap<>();
        try (Stream<Path> all = Files.walk(top)) {
            for (Path each : all.toList()) {
                BasicFileAttributes facts = Files.readAttributes(each, BasicFileAttributes.class);
                tree.put(
                        each.toString(),
                        facts.isDirectory()
                                ? "folder"
                                : facts.lastModifiedTime() + " " + facts.size() + " " + facts.fileKey());
            }
        }
        return tree;
    }

    long count(String sql) {
        return jdbc.sql(sql).query((row, n) -> row.getLong(1)).single();
    }
}
