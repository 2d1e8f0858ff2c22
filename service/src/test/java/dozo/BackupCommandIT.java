package dozo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.command.Exit;
import dozo.db.ChildJava;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.ledger.Chain;
import dozo.ledger.Coverage;
import dozo.ledger.Ledger;
import dozo.loopback.LoopbackSite;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.Sites;
import dozo.remote.SiteAddress;
import dozo.run.Operations;
import dozo.run.Runs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** {@code dozo backup} and {@code dozo restore-service} as a person runs them: processes of their own, beside a service and without. */
@StartsServices(2)
class BackupCommandIT {

    private static final int LIMIT_SECONDS = 120;

    @TempDir
    private Path folder;

    private record Ended(int exitCode, String output) {}

    @Test
    void aNewMachineGoesOnWithWhatTheOldOneHad() throws Exception {
        Path source = Files.createDirectory(folder.resolve("source"));
        Files.writeString(source.resolve("file"), "content");
        Path backups = Files.createDirectory(folder.resolve("backups"));
        HikariDataSource old = TestDatabase.fresh();
        HikariDataSource fresh = TestDatabase.empty();
        try (LoopbackSite site =
                LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0)) {
            long rows;
            String key;
            try (RunningService service = RunningService.start(folder.resolve("old"), old, Map.of())) {
                register(service, source, site.address());
                night(service);
                rows = new Chain(JdbcClient.create(old)).check().rows();
                key = service.get("/api/v1/certificate-key").at("/fingerprint").asString();

                Ended made = dozo("old", old, "backup", backups.toString());
                assertThat(made.output()).contains("rows of", "the ledger up to row " + rows, "read again");
                assertThat(made.exitCode()).isEqualTo(Exit.WELL);
            }
            Path backup = only(backups);
            assertThat(Files.readString(backup.resolve("settings")))
                    .contains("DOZO_DB_URL=", "DOZO_WORK=")
                    .doesNotContain(String.valueOf(old.getPassword()));

            Ended restored = dozo("new", fresh, "restore-service", backup.toString());
            assertThat(restored.output()).contains("the ledger is intact", "Start the service");
            assertThat(restored.exitCode()).isEqualTo(Exit.WELL);
            Ended again = dozo("new", fresh, "restore-service", backup.toString());
            assertThat(again.output()).contains("expected an empty database");
            assertThat(again.exitCode()).isEqualTo(Exit.UNAVAILABLE);

            try (RunningService service = RunningService.start(folder.resolve("new"), fresh, Map.of())) {
                assertThat(service.get("/api/v1/certificate-key")
                                .at("/fingerprint")
                                .asString())
                        .isEqualTo(key);
                assertThat(service.bean(Coverage.class).all(1).safe()).isTrue();
                int receipts = receipts(fresh);
                night(service);
                assertThat(receipts(fresh)).as("nothing is sent again").isEqualTo(receipts);
                assertThat(new Chain(JdbcClient.create(fresh)).check().breachesCount())
                        .isZero();
                assertThat(new Ledger(JdbcClient.create(fresh), InstantSource.system()).after(rows, 10))
                        .as("the same ledger goes on")
                        .isNotEmpty();
            }
        }
    }

    /** Without a service the embedded database is started for it; no PostgreSQL programs are needed. */
    @Test
    void whatIsNotRightIsRefusedInOneSentenceAndChangesNothing() throws Exception {
        Path backups = Files.createDirectory(folder.resolve("backups"));
        HikariDataSource empty = TestDatabase.empty();
        assertThat(dozo("none", null, "backup", backups.toString()).output())
                .contains("there is nothing to back up: no service with these settings has run here");
        Files.createDirectory(folder.resolve("one"));
        assertThat(dozo("one", empty, "backup", backups.toString()).output())
                .contains("there is nothing to back up: the database is empty");
        assertThat(dozo("one", empty, "backup", folder.resolve("missing").toString())
                        .exitCode())
                .isEqualTo(Exit.USAGE);
        assertThat(backups).isEmptyDirectory();

        HikariDataSource old = TestDatabase.fresh();
        new Ledger(JdbcClient.create(old), InstantSource.system()).append("ann", "test.done", "it", Map.of());
        Files.writeString(Files.createDirectories(folder.resolve("old")).resolve("site-key"), "a key");
        assertThat(dozo("old", old, "backup", backups.toString()).exitCode()).isEqualTo(Exit.WELL);
        Path backup = only(backups);

        Files.writeString(Files.createDirectories(folder.resolve("other")).resolve("site-key"), "another key");
        assertRefused(dozo("other", empty, "restore-service", backup.toString()), "site-key exists and is another one");
        assertRefused(dozo("new", empty, "restore-service", backups.toString()), "is not a complete backup");

        Path key = backup.resolve("work/site-key");
        Files.writeString(key, "b key");
        assertRefused(dozo("new", empty, "restore-service", backup.toString()), "site-key is not what was written");
        Files.writeString(key, "a key");

        Path contents = backup.resolve("backup.json");
        String described = Files.readString(contents);
        Files.writeString(contents, described.replace("\"site-key\"", "\"../site-key\""));
        assertRefused(dozo("new", empty, "restore-service", backup.toString()), "it names files of other folders");
        assertThat(folder.resolve("site-key")).doesNotExist();
        Files.writeString(contents, described);

        rewrite(backup, "ledger", "ann", "eve");
        assertRefused(
                dozo("new", empty, "restore-service", backup.toString()), "the ledger in the backup is not intact");
        assertThat(JdbcClient.create(empty)
                        .sql("select count(*) from ledger")
                        .query(Integer.class)
                        .single())
                .isZero();
        assertThat(folder.resolve("new/site-key")).doesNotExist();

        rewrite(backup, "ledger", "eve", "ann");
        // What cannot be written before the end leaves an empty database, so that the same command continues.
        Path obstacle = Files.createDirectories(folder.resolve("embedded/site-key.partial/full"));
        assertThat(dozo("embedded", null, "restore-service", backup.toString()).exitCode())
                .isEqualTo(Exit.UNAVAILABLE);
        Files.delete(obstacle);
        Ended embedded = dozo("embedded", null, "restore-service", backup.toString());
        assertThat(embedded.output()).contains("restored the backup");
        assertThat(folder.resolve("embedded/site-key")).hasContent("a key");
        Ended asleep = dozo("embedded", null, "backup", backups.toString());
        assertThat(asleep.output()).contains("the ledger up to row 1");
    }

    private static void assertRefused(Ended ended, String why) {
        assertThat(ended.output()).contains("dozo: ", why).doesNotContain("Exception");
        assertThat(ended.exitCode()).isEqualTo(Exit.UNAVAILABLE);
    }

    /** Changes rows as somebody would who also makes the digests right. */
    private static void rewrite(Path backup, String table, String word, String other) throws Exception {
        Path file = backup.resolve("tables/" + table + ".copy.gz");
        byte[] before = Files.readAllBytes(file);
        ByteArrayOutputStream after = new ByteArrayOutputStream();
        try (GZIPInputStream rows = new GZIPInputStream(Files.newInputStream(file));
                GZIPOutputStream out = new GZIPOutputStream(after)) {
            out.write(new String(rows.readAllBytes(), StandardCharsets.UTF_8)
                    .replace(word, other)
                    .getBytes(StandardCharsets.UTF_8));
        }
        Files.write(file, after.toByteArray());
        Path contents = backup.resolve("backup.json");
        Files.writeString(contents, Files.readString(contents).replace(sha256(before), sha256(after.toByteArray())));
    }

    private static String sha256(byte[] content) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
    }

    private static Path only(Path parent) throws IOException {
        try (var all = Files.list(parent)) {
            return all.findFirst().orElseThrow();
        }
    }

    private static void register(RunningService service, Path source, SiteAddress site) {
        service.bean(Sites.class).save("dr", site, "test");
        service.bean(Projects.class).create("p", "", "test");
        service.bean(Experiments.class).register("p", "E1", "", source, "test");
    }

    private static void night(RunningService service) {
        long run = service.bean(Operations.class).start("dr", "test").id();
        await().atMost(Duration.ofMinutes(1))
                .until(() -> !service.bean(Runs.class).find(run).orElseThrow().goesOn());
    }

    private static int receipts(HikariDataSource database) {
        return JdbcClient.create(database)
                .sql("select count(*) from receipt")
                .query(Integer.class)
                .single();
    }

    /** @param database null: the embedded one */
    private Ended dozo(String work, @Nullable HikariDataSource database, String... arguments)
            throws IOException, InterruptedException {
        ProcessBuilder command =
                ChildJava.of(Application.class).arguments(arguments).fromCache().process();
        command.environment().put("DOZO_WORK", folder.resolve(work).toString());
        if (database != null) {
            Path secret = folder.resolve("password");
            Files.writeString(secret, String.valueOf(database.getPassword()));
            command.environment()
                    .putAll(Map.of(
                            "DOZO_DB_URL", database.getJdbcUrl(),
                            "DOZO_DB_USER", String.valueOf(database.getUsername()),
                            "DOZO_DB_PASSWORD_FILE", secret.toString()));
        }
        Path output = Files.createTempFile(folder, "output", "");
        Process process = command.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        return new Ended(process.exitValue(), Files.readString(output));
    }
}
