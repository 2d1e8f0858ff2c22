package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.RunningService;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.SiteTimetables;
import dozo.registry.Sites;
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
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The service is stopped in the middle of a night for an upgrade. The units in flight end; the next version upgrades the
 * schema, continues the night, and sends nothing twice.
 */
class UpgradeIT {

    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int FILES = 200;

    /** The night lasts long enough, until the limit is taken away. */
    private static final List<String> SLOW = List.of("daily 00:00-24:00 20kB/s");

    /** Units of 5 files. */
    private static final Map<String, String> SETTINGS = Map.of(
            "DOZO_TRANSFER_BUNDLE_ENTRIES", "5",
            "DOZO_TRANSFER_PARTITIONS", "2",
            "DOZO_TRANSFER_CHUNK", "2",
            "DOZO_SCHEDULE_CRON", "0 0 1 * * *",
            "DOZO_SCRUB_WINDOW", "-");

    @TempDir
    Path folder;

    private final HikariDataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final List<Process> started = new ArrayList<>();
    private LoopbackSite site;
    private Path source;

    /** Registers an experiment that has been due for days. */
    @BeforeEach
    void register() throws Exception {
        site = LoopbackSite.start(folder.resolve("keys"), folder.resolve("dr"), 0);
        source = Files.createDirectory(folder.resolve("source"));
        for (int i = 0; i < FILES; i++) {
            Files.write(source.resolve("image" + i), new byte[1 + i * 50]);
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
    void aNightContinuesAfterAnUpgradeAndSendsNothingTwice() throws Exception {
        Process old = start("old", List.of());
        awaitUnits(3);

        old.destroy();
        assertThat(old.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(old.exitValue()).as("ended by SIGTERM").isEqualTo(143);
        assertThat(count("select count(*) from run where ended_at is null"))
                .as("the run is open")
                .isEqualTo(1);
        Map<String, Object> before = verifiedFiles();
        assertThat(before).isNotEmpty();
        jdbc.sql("delete from site_timetable").update();

        start("new", List.of(nextVersion()));
        await().atMost(LIMIT).until(() -> count("select count(*) from run where ended_at is null") == 0);

        assertThat(jdbc.sql("select state from run").query(String.class).list()).containsExactly("COMPLETE");
        assertThat(count("select count(*) from of_the_next_version")).isZero();
        assertThat(count("select count(*) from ledger where action = 'run.started'"))
                .isEqualTo(1);
        assertThat(count("select count(*) from transfer_unit where state <> 'VERIFIED'"))
                .isZero();
        assertThat(
                        count(
                                "select count(*) from (select unit_id from receipt group by unit_id having count(*) > 1) as twice"))
                .isZero();
        assertThat(verifiedFiles()).containsAllEntriesOf(before);
        assertThat(folder.resolve("dr/.dozo/versions")).doesNotExist();
        try (Stream<Path> files = Files.list(source)) {
            assertThat(files.toList())
                    .allSatisfy(
                            file -> assertThat(folder.resolve("dr/P1/S1/data").resolve(file.getFileName()))
                                    .hasSameBinaryContentAs(file));
        }
    }

    /** Returns a folder for the class path, with a migration that the present version does not have. */
    private Path nextVersion() throws IOException {
        Path migrations = Files.createDirectories(folder.resolve("next/db/migration"));
        Files.writeString(
                migrations.resolve("V999912312359__of_the_next_version.sql"),
                "create table of_the_next_version (id bigint primary key);");
        return folder.resolve("next");
    }

    private Process start(String name, List<Path> classPath) throws IOException {
        Map<String, String> settings = new HashMap<>(SETTINGS);
        settings.put("DOZO_DB_URL", String.valueOf(database.getJdbcUrl()));
        settings.put("DOZO_DB_USER", String.valueOf(database.getUsername()));
        settings.put("DOZO_DB_PASSWORD", String.valueOf(database.getPassword()));
        settings.put("DOZO_DB_START_WAIT", "1s");
        Process process = ServeProcess.start(folder.resolve("work"), output(name), settings, classPath);
        started.add(process);
        return process;
    }

    private Path output(String name) {
        return folder.resolve("output of " + name);
    }

    private void awaitUnits(long verified) {
        await().atMost(LIMIT)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> count("select count(*) from transfer_unit where state = 'VERIFIED'") >= verified);
    }

    /** Returns the files with a final name at the site, by their inode: a file that is sent again has another one. */
    private Map<String, Object> verifiedFiles() throws IOException {
        Map<String, Object> found = new TreeMap<>();
        try (Stream<Path> all = Files.list(folder.resolve("dr/P1/S1/data"))) {
            for (Path each : all.toList()) {
                found.put(each.getFileName().toString(), Files.getAttribute(each, "unix:ino"));
            }
        }
        return found;
    }

    private long count(String sql) {
        return jdbc.sql(sql).query((row, n) -> row.getLong(1)).single();
    }
}
