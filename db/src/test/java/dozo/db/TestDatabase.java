package dozo.db;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.postgresql.ds.PGSimpleDataSource;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * The PostgreSQL of the tests: a container where a Docker daemon answers, else the embedded server; one a process. Every
 * {@link #fresh()} is a new, migrated database in it, copied from a template.
 */
public final class TestDatabase {

    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final Server SERVER = start();

    private record Server(String url, String user, String password) {

        PGSimpleDataSource database(String name) {
            PGSimpleDataSource database = new PGSimpleDataSource();
            database.setUrl(url.replaceFirst("/[^/]*$", "/" + name));
            database.setUser(user);
            database.setPassword(password);
            return database;
        }
    }

    private TestDatabase() {}

    /** A new database with the schema in it and nothing else. */
    public static PGSimpleDataSource fresh() {
        String name = "test_" + COUNT.incrementAndGet();
        execute(SERVER.database("postgres"), "create database " + name + " template migrated");
        return SERVER.database(name);
    }

    /** A new database without the schema. */
    public static PGSimpleDataSource empty() {
        String name = "empty_" + COUNT.incrementAndGet();
        execute(SERVER.database("postgres"), "create database " + name);
        return SERVER.database(name);
    }

    /** Brings the schema into a database. */
    public static int migrate(DataSource database) {
        return Flyway.configure().dataSource(database).load().migrate().migrationsExecuted;
    }

    private static Server start() {
        Server server = DockerClientFactory.instance().isDockerAvailable() ? container() : embedded();
        DataSource template = server.database("postgres");
        execute(template, "create database migrated");
        migrate(server.database("migrated"));
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

    private static void execute(DataSource database, String sql) {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
