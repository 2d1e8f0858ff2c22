package dozo.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
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

    @Test
    void letsNobodyInWithoutThePassword() throws Exception {
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            assertThatThrownBy(() -> DriverManager.getConnection(database.url(), database.user(), "guess"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("password");
        }
    }

    @Test
    void startsAServerThatWasKilledAgainOnItsPort() throws Exception {
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            database.supervise(lost -> {
                throw new AssertionError(lost);
            });
            execute(database, "create table kept (n int)");
            try (Connection open = DriverManager.getConnection(database.url(), database.user(), database.password());
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

    private static void execute(EmbeddedDatabase database, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(database.url(), database.user(), database.password());
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
