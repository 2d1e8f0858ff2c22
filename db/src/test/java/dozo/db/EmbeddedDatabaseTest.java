package dozo.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dozo.db.EmbeddedDatabase.Access;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedDatabaseTest {

    @TempDir
    Path folder;

    @BeforeEach
    void unpack() throws IOException {
        TestDatabase.unpacked(folder);
    }

    @Test
    void keepsItsDataAndItsPasswordAcrossRestarts() throws Exception {
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            execute(database, "create table kept (n int)");
        }
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            execute(database, "insert into kept values (1)");
        }
    }

    @Test
    void refusesAFolderThatIsInUse() throws Exception {
        try (EmbeddedDatabase inUse = EmbeddedDatabase.start(folder)) {
            assertThat(inUse.url()).isNotEmpty();
            assertThatThrownBy(() -> EmbeddedDatabase.start(folder))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("is in use by another Dozo");
        }
    }

    @Test
    void aDiskThatCannotBeExaminedIsNotTakenForOneWithSpace() throws Exception {
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            database.requireSpace();
            Path away = Files.move(folder.resolve("data"), folder.resolve("away"));
            try {
                assertThatThrownBy(database::requireSpace)
                        .isInstanceOf(SQLException.class)
                        .hasMessageContaining("cannot be examined");
            } finally {
                Files.move(away, folder.resolve("data"));
            }
        }
    }

    /** Otherwise, a connection of any program could take the port between its choice and the start. */
    @Test
    void listensAtAPortThatTheSystemGivesToNoConnection() throws Exception {
        // NB: the kernel gives all of it to the first read, however short that is.
        String forConnections = Files.readAllLines(Path.of("/proc/sys/net/ipv4/ip_local_port_range"))
                .getFirst();
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            int port = URI.create(database.url().substring("jdbc:".length())).getPort();
            assertThat(port).isBetween(1024, Integer.parseInt(forConnections.split("\\s+")[0]) - 1);
        }
    }

    @Test
    void letsNobodyInWithoutThePassword() throws Exception {
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            assertThatThrownBy(() -> DriverManager.getConnection(
                            database.url(), database.login().user(), "guess"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("password");
        }
    }

    /** With the file, a start does not change what initdb has made. */
    @Test
    void initdbMakesNoServerThatLetsAnybodyIn() throws Exception {
        Files.createFile(folder.resolve("locked"));
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            connect(database.owner()).close();
            assertThat(Files.readAllLines(folder.resolve("data/pg_hba.conf")))
                    .filteredOn(line -> line.matches("[a-z].*"))
                    .isNotEmpty()
                    .allMatch(line -> line.endsWith(" scram-sha-256"));
        }
    }

    @Test
    void theServiceLogsInAsARoleWithoutRights() throws Exception {
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            execute(database, "create table kept (n int)");
            assertMayNothing(database);
        }
    }

    @Test
    void aFolderOfAnEarlierVersionGetsTheRole() throws Exception {
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            execute(database, "create table kept (n int)");
            execute(database, "drop role dozo");
            Files.delete(folder.resolve("service-password"));
            assertThat(EmbeddedDatabase.access(folder)).contains(database.owner());
        }
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            assertMayNothing(database);
            assertThat(EmbeddedDatabase.access(folder)).contains(database.login());
        }
    }

    private void assertMayNothing(EmbeddedDatabase database) throws Exception {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("service-password"))))
                .isEqualTo("rw-------");
        try (Connection connection = connect(database.login());
                Statement statement = connection.createStatement()) {
            for (String refused : List.of(
                    "select n from kept",
                    "drop table kept",
                    "create table more (n int)",
                    "create role other",
                    "create database other",
                    "alter role dozo superuser",
                    "set session_replication_role = replica",
                    "copy (select 1) to program 'cat > /dev/null'",
                    "select pg_read_file('PG_VERSION')")) {
                assertThatThrownBy(() -> statement.execute(refused))
                        .as(refused)
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(e.getSQLState()).isEqualTo("42501"));
            }
        }
    }

    @Test
    void startsAServerThatWasKilledAgainOnItsPort() throws Exception {
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            database.supervise(lost -> {
                throw new AssertionError(lost);
            });
            execute(database, "create table kept (n int)");
            try (Connection open = connect(database.owner());
                    Statement busy = open.createStatement()) {
                Thread.ofVirtual().start(() -> {
                    try {
                        // A server process that does not notice that its server is dead, and holds its memory.
                        busy.execute("select pg_sleep(600)");
                    } catch (SQLException killed) {
                        // As intended.
                    }
                });
                for (int i = 0; i < 3; i++) {
                    long killed = kill(folder);
                    await().atMost(Duration.ofMinutes(3)).ignoreExceptions().until(() -> {
                        execute(database, "insert into kept values (1)");
                        return server(folder).pid() != killed;
                    });
                }
            }
        }
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            execute(database, "insert into kept values (1)");
        }
    }

    @Test
    void givesUpAServerThatDoesNotStartAndSaysWhy() throws Exception {
        CompletableFuture<IOException> given = new CompletableFuture<>();
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            database.supervise(Duration.ofMillis(1), given::complete);
            Files.move(folder.resolve("data/global"), folder.resolve("data/gone"));
            kill(folder);

            IOException lost = given.get(5, TimeUnit.MINUTES);

            assertThat(lost).hasMessageContaining("5 attempts").hasMessageContaining("pg_control");
        }
    }

    @Test
    void leavesTheFolderFreeWhenItIsClosedWhileItsServerIsDead() throws Exception {
        EmbeddedDatabase database = EmbeddedDatabase.start(folder);
        database.supervise(lost -> {
            throw new AssertionError(lost);
        });
        kill(folder);
        database.close();

        try (EmbeddedDatabase next = EmbeddedDatabase.start(folder)) {
            execute(next, "select 1");
        }
    }

    private static ProcessHandle server(Path folder) throws IOException {
        long pid = Long.parseLong(
                Files.readAllLines(folder.resolve("data/postmaster.pid")).getFirst());
        return ProcessHandle.of(pid).orElseThrow();
    }

    /** Kills with SIGKILL, as the system does if memory is short. */
    private static long kill(Path folder) throws IOException {
        ProcessHandle server = server(folder);
        server.destroyForcibly();
        return server.pid();
    }

    private static Connection connect(Access access) throws SQLException {
        return DriverManager.getConnection(access.url(), access.user(), access.password());
    }

    private static void execute(EmbeddedDatabase database, String sql) throws SQLException {
        try (Connection connection = connect(database.owner());
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
