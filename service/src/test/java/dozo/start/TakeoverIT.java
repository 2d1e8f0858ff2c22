package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.RunningService;
import dozo.db.Campaign;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.SiteTimetables;
import dozo.registry.Sites;
import dozo.remote.ChildProcess;
import dozo.remote.Ports;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The active service dies, hangs or is cut off in the middle of a night. Another one takes over within a minute, ends the
 * night, and nothing is done twice; the former one stands by when it is back.
 */
class TakeoverIT {

    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int UNITS_BEFORE = 3;

    /** Deaths of the active service in one night. */
    private static final int DEATHS = Campaign.times(2);

    /** So many that the night does not end between two deaths: a service needs half a minute to start and to take over. */
    private static final int FILES = 300 * DEATHS;

    /** The night lasts long enough for anything, until the limit is taken away. */
    private static final List<String> SLOW = List.of("daily 00:00-24:00 20kB/s");

    /** Units of 5 files and, in two partitions, up to 2 in flight each. */
    private static final Map<String, String> SETTINGS = Map.of(
            "DOZO_TRANSFER_BUNDLE_ENTRIES", "5",
            "DOZO_TRANSFER_PARTITIONS", "2",
            "DOZO_TRANSFER_CHUNK", "2",
            "DOZO_SCHEDULE_CRON", "0 0 1 * * *",
            "DOZO_SCRUB_WINDOW", "-");

    private static final int IN_FLIGHT_MAX = 2 * 2;

    @TempDir
    Path folder;

    private final HikariDataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final List<Process> started = new ArrayList<>();
    private final Map<String, Integer> ports = new HashMap<>();
    private LoopbackSite site;
    private Path source;

    /** Registers an experiment that has been due for days. */
    @BeforeEach
    void register() throws Exception {
        site = LoopbackSite.start(folder.resolve("keys"), folder.resolve("dr"), 0);
        source = Files.createDirectory(folder.resolve("source"));
        Random random = new Random(2081);
        for (int i = 0; i < FILES; i++) {
            byte[] content = new byte[1 + random.nextInt(20_000)];
            random.nextBytes(content);
            Files.write(source.resolve("image" + i), content);
        }
        try (RunningService service = RunningService.start(folder.resolve("first"), database, Map.of())) {
            service.bean(Sites.class).save("dr", site.address(), "test");
            service.bean(Projects.class).create("P1", "", "test");
            service.bean(Experiments.class).register("P1", "S1", "", source, "test");
            service.bean(SiteTimetables.class).set("dr", SLOW, "test");
        }
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

    @Test
    void aServiceThatHungCommitsNothingAndStandsByWhenItIsBack() throws Exception {
        Process one = oneInTheMiddleAndTwo(database.getJdbcUrl());

        ChildProcess.signal(one.toHandle(), "STOP");
        awaitTakeover("two", 1);
        fast();
        awaitEnd();
        assertWhole(1);
        String rows = rows();
        Map<String, String> tree = tree();

        ChildProcess.signal(one.toHandle(), "CONT");
        awaitStandsByAgain("one");

        assertThat(rows()).isEqualTo(rows);
        assertThat(tree()).isEqualTo(tree);
        assertThat(count("select term from service_lease where name = 'two'")).isEqualTo(3);
    }

    /** Its sessions are ended at the server, and the pooler then closes its connections. */
    @Test
    void aServiceThatHungBehindAPoolerCommitsNothingEither() throws Exception {
        try (Pooler pooler = new Pooler(folder.resolve("pooler"), database, "session")) {
            Process one = oneInTheMiddleAndTwo(pooler.url());

            ChildProcess.signal(one.toHandle(), "STOP");
            awaitTakeover("two", 1);
            fast();
            awaitEnd();
            assertWhole(1);
            String rows = rows();

            ChildProcess.signal(one.toHandle(), "CONT");
            awaitStandsByAgain("one");

            assertThat(rows()).isEqualTo(rows);
        }
    }

    /** It comes back while the other one is in the middle of the same run. */
    @Test
    void aServiceThatHungTouchesNothingOfTheRunThatAnotherOneContinues() throws Exception {
        Process one = oneInTheMiddleAndTwo(database.getJdbcUrl());

        ChildProcess.signal(one.toHandle(), "STOP");
        awaitTakeover("two", 1);
        awaitUnits(2 * UNITS_BEFORE);
        ChildProcess.signal(one.toHandle(), "CONT");
        awaitStandsByAgain("one");
        assertThat(count("select count(*) from run where ended_at is not null")).isZero();
        fast();

        awaitEnd();
        assertWhole(1);
    }

    @Test
    void aServiceThatIsCutOffFromTheDatabaseLosesItsRunAndStandsByWhenItIsBack() throws Exception {
        try (Relay relay = new Relay(
                URI.create(database.getJdbcUrl().substring("jdbc:".length())).getPort())) {
            relay.open();
            oneInTheMiddleAndTwo(database.getJdbcUrl().replaceFirst(":\\d+/", ":" + relay.port() + "/"));

            relay.refuse();
            awaitTakeover("two", 1);
            fast();
            awaitEnd();
            relay.open();

            awaitStandsByAgain("one");
            assertWhole(1);
        }
    }

    @Test
    void aServiceThatIsStoppedHandsItsRunOver() throws Exception {
        Process one = oneInTheMiddleAndTwo(database.getJdbcUrl());

        one.destroy();
        assertThat(one.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(count("select count(*) from service_lease where lease_until <= now() or name = 'two'"))
                .as("it gave the lease back")
                .isEqualTo(1);
        awaitActive("two");
        fast();

        awaitEnd();
        assertWhole(1);
    }

    /** Two services, of which always the active one is killed and started again. */
    @Tag(Campaign.TAG)
    @Test
    void aNightEndsHoweverOftenItsServiceIsKilled() throws Exception {
        Map<String, Process> services = new TreeMap<>();
        services.put("one", start("one", database.getJdbcUrl()));
        awaitActive("one");
        services.put("two", start("two", database.getJdbcUrl()));
        awaitStandsBy("two");
        String active = "one";
        Random random = new Random();
        for (int death = 1; death <= DEATHS; death++) {
            awaitUnits(units() + 1 + random.nextInt(3));
            assertThat(count("select count(*) from run where ended_at is null"))
                    .as("in the middle")
                    .isEqualTo(1);
            services.get(active).destroyForcibly().waitFor();
            String killed = active;
            active = killed.equals("one") ? "two" : "one";
            awaitTakeover(active, death);
            services.put(killed, start(killed, database.getJdbcUrl()));
            awaitStandsBy(killed);
        }
        fast();

        awaitEnd();
        assertWhole(DEATHS);
        assertThat(said(active)).contains("this service, %s, has taken over from ".formatted(active));
        System.out.printf("%d kills of the active service, one night%n", DEATHS);
    }

    /** Starts a service that is active and in the middle of a night, and another one that stands by. Returns the first. */
    private Process oneInTheMiddleAndTwo(String urlOfOne) throws IOException {
        Process one = start("one", urlOfOne);
        awaitActive("one");
        start("two", database.getJdbcUrl());
        awaitStandsBy("two");
        awaitUnits(UNITS_BEFORE);
        return one;
    }

    private Process start(String name, String url) throws IOException {
        Map<String, String> settings = new HashMap<>(SETTINGS);
        settings.putAll(Map.of(
                "DOZO_SERVICE_NAME", name,
                "DOZO_HTTP_PORT", String.valueOf(ports.computeIfAbsent(name, _ -> Ports.free())),
                "DOZO_DB_URL", url,
                "DOZO_DB_USER", String.valueOf(database.getUsername()),
                "DOZO_DB_PASSWORD", String.valueOf(database.getPassword())));
        Files.deleteIfExists(output(name));
        Process process = ServeProcess.start(folder.resolve(name), output(name), settings);
        started.add(process);
        return process;
    }

    private Path output(String name) {
        return folder.resolve("output-" + name);
    }

    private String said(String name) throws IOException {
        return Files.readString(output(name));
    }

    private void awaitActive(String name) {
        await().atMost(LIMIT)
                .until(() -> count("select count(*) from service_lease where name = '%s' and lease_until > now()"
                                .formatted(name))
                        == 1);
    }

    private void awaitStandsBy(String name) {
        await().atMost(LIMIT)
                .until(() -> said(name).contains("stands by: ") && said(name).contains("Dozo listens at"));
    }

    /** Waits until a service continues the run, and prints how long it took: a loaded machine may need longer. */
    private void awaitTakeover(String name, int recoveries) {
        long began = System.nanoTime();
        awaitActive(name);
        await().atMost(LIMIT).until(() -> recoveries() == recoveries);
        System.out.printf(
                "%s has taken over after %d s%n",
                name, Duration.ofNanos(System.nanoTime() - began).toSeconds());
    }

    private long recoveries() {
        return count("select count(*) from ledger where action = 'run.recovered'");
    }

    private void awaitStandsByAgain(String name) throws Exception {
        await().atMost(LIMIT).until(() -> {
            String said = said(name);
            int again = said.indexOf("this service starts again, to stand by");
            return again > 0 && said.indexOf("Dozo listens at", again) > 0;
        });
        assertThat(said(name)).contains("the service two has taken over the database");
        try (java.net.http.HttpClient http = java.net.http.HttpClient.newHttpClient()) {
            assertThat(http.send(
                                    java.net.http.HttpRequest.newBuilder(URI.create(
                                                    "http://127.0.0.1:%d/actuator/health".formatted(ports.get(name))))
                                            .build(),
                                    java.net.http.HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(200);
        }
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
    private void assertWhole(int recoveries) throws IOException {
        assertThat(jdbc.sql("select state from run").query(String.class).list()).containsExactly("COMPLETE");
        assertThat(count("select count(*) from ledger where action = 'run.started'"))
                .isEqualTo(1);
        assertThat(count("select count(*) from ledger where action = 'run.ended'"))
                .isEqualTo(1);
        assertThat(recoveries()).isEqualTo(recoveries);
        assertThat(count("select count(*) from transfer_unit where state <> 'VERIFIED'"))
                .isZero();
        assertThat(count("select count(*) from transfer_unit")).isEqualTo(FILES / 5);
        assertThat(count("select count(*) from transfer_unit where attempts > 1"))
                .as("only what was in flight")
                .isLessThanOrEqualTo((long) recoveries * 4 * IN_FLIGHT_MAX);
        try (Stream<Path> files = Files.list(source)) {
            assertThat(files.toList())
                    .allSatisfy(
                            file -> assertThat(folder.resolve("dr/P1/S1/data").resolve(file.getFileName()))
                                    .hasSameBinaryContentAs(file));
        }
        assertThat(folder.resolve("dr/.dozo/versions")).doesNotExist();
    }

    /** Returns a digest of every row that a run writes. */
    private String rows() {
        return jdbc.sql("""
                        select (select md5(string_agg(r::text, ' ' order by run_id)) from run r)
                            || (select md5(string_agg(u::text, ' ' order by unit_id)) from transfer_unit u)
                            || (select md5(string_agg(w::text, ' ' order by worker_id)) from run_worker w)
                            || (select md5(string_agg(p::text, ' ')) from protection p)
                            || (select count(*) from receipt)
                            || (select md5(string_agg(l::text, ' ' order by seq)) from ledger l)
                        """).query(String.class).single();
    }

    /** Returns everything at the site with its time and size. */
    private Map<String, String> tree() throws IOException {
        Map<String, String> tree = new TreeMap<>();
        try (Stream<Path> all = Files.walk(folder.resolve("dr"))) {
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

    private long count(String sql) {
        return jdbc.sql(sql).query((row, n) -> row.getLong(1)).single();
    }
}
