package dozo.db;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * The PostgreSQL of the tests: a container where a Docker daemon answers, else the embedded server; one a process. Every
 * {@link #fresh()} is a new, migrated database in it, copied from a template.
 */
public final class TestDatabase {

    private static final int CONNECTIONS_MAX = 40;
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final Server SERVER = start();

    private record Server(String url, String user, String password) {

        void create(String sql) {
            try (Connection connection = DriverManager.getConnection(url, user, password);
                    Statement statement = connection.createStatement()) {
                statement.execute("create database " + sql);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        /** As the service has it: a process of PostgreSQL for each question would be half of a night's time. */
        HikariDataSource database(String name) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(url.replaceFirst("/[^/]*$", "/" + name));
            config.setUsername(user);
            config.setPassword(password);
            config.setMaximumPoolSize(CONNECTIONS_MAX);
            // Nobody closes the pools: what a test has not used for ten seconds goes by itself.
            config.setMinimumIdle(0);
            config.setIdleTimeout(10_000);
            return new HikariDataSource(config);
        }
    }

    private TestDatabase() {}

    /** A new database with the schema in it and nothing else. */
    public static HikariDataSource fresh() {
        String name = "test_" + COUNT.incrementAndGet();
        SERVER.create(name + " template migrated");
        return SERVER.database(name);
    }

    /** A new database without the schema. */
    public static HikariDataSource empty() {
        String name = "empty_" + COUNT.incrementAndGet();
        SERVER.create(name);
        return SERVER.database(name);
    }

    /** Brings the schema into a database. */
    public static int migrate(DataSource database) {
        return Flyway.configure().dataSource(database).load().migrate().migrationsExecuted;
    }

    private static Server start() {
        System.setProperty("com.zaxxer.hikari.housekeeping.periodMs", "5000");
        Server server = DockerClientFactory.instance().isDockerAvailable() ? container() : embedded();
        server.create("migrated");
        try (HikariDataSource template = server.database("migrated")) {
            migrate(template);
        }
        return server;
    }

    @SuppressWarnings("resource") // ends with the process: Testcontainers' reaper stops it
    private static Server container() {
        PostgreSQLContainer container = new PostgreSQLContainer("postgres:18");
        container.start();
        return new Server(
                "jdbc:postgresql://%s:%d/postgres".formatted(container.getHost(), container.getMappedPort(5432)),
                container.getUsername(),
                container.getPassword());
    }

    private static Server embedded() {
        try {
            Path folder = Files.createTempDirectory("dozo-test-database");
            EmbeddedDatabase database = EmbeddedDatabase.start(folder, false);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(database, folder)));
            return new Server(database.url(), database.user(), database.password());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void stop(EmbeddedDatabase database, Path folder) {
        try {
            database.close();
            try (var files = Files.walk(folder)) {
                for (Path file :
                        files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
