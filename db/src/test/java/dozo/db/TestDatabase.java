package dozo.db;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.springframework.util.FileSystemUtils;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * The PostgreSQL of the tests: a container if a Docker daemon answers, otherwise the embedded server; one per process.
 * Every {@link #fresh()} is a new, migrated database in it, copied from a template. It is dropped after the test, or
 * after the class whose set-up created it.
 */
public final class TestDatabase {

    private static final int CONNECTIONS_MAX = 40;
    private static final AtomicInteger COUNT = new AtomicInteger();

    /** What to drop after the running test, after its class, and so on outwards. */
    private static final Deque<List<Made>> MADE = new ConcurrentLinkedDeque<>();

    /** Started by the first test that needs it. */
    private static final class Holder {
        private static final Server SERVER = start();
    }

    private record Made(String name, HikariDataSource pool) {}

    private record Server(String url, String user, String password) {

        void execute(String sql) {
            try (Connection connection = DriverManager.getConnection(url, user, password);
                    Statement statement = connection.createStatement()) {
                statement.execute(sql);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        /** As in the service: a PostgreSQL process for each query would take half of a night's time. */
        HikariDataSource database(String name) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(url.replaceFirst("/[^/]*$", "/" + name));
            config.setUsername(user);
            config.setPassword(password);
            config.setMaximumPoolSize(CONNECTIONS_MAX);
            // Nobody closes the pools: connections unused for ten seconds are closed automatically.
            config.setMinimumIdle(0);
            config.setIdleTimeout(10_000);
            return new HikariDataSource(config);
        }
    }

    private TestDatabase() {}

    /** Returns a new database that contains only the schema. */
    public static HikariDataSource fresh() {
        // NB: the other strategy copies each page through the log, and takes three times the processor time.
        return dropped(create(" template migrated strategy file_copy"));
    }

    /** Returns a new database with the present content of another one, whose connections are ended. */
    public static HikariDataSource copyOf(HikariDataSource other) {
        other.getHikariPoolMXBean().softEvictConnections();
        String name = other.getJdbcUrl().replaceFirst("^.*/", "");
        Holder.SERVER.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = '" + name + "'");
        return dropped(create(" template " + name + " strategy file_copy"));
    }

    /** Returns a new database without the schema. */
    public static HikariDataSource empty() {
        return dropped(create(""));
    }

    /** Returns a new database that contains only the schema, and stays when the test and its class have ended. */
    public static HikariDataSource lasting() {
        return create(" template migrated").pool();
    }

    private static HikariDataSource dropped(Made database) {
        List<Made> made = MADE.peek();
        if (made != null) {
            made.add(database);
        }
        return database.pool();
    }

    private static Made create(String how) {
        Starts.DATABASE.count();
        String name = "test_" + COUNT.incrementAndGet();
        Holder.SERVER.execute("create database " + name + how);
        return new Made(name, Holder.SERVER.database(name));
    }

    /** Assigns everything created from now on to the test or class that begins. */
    static void open() {
        MADE.push(new CopyOnWriteArrayList<>());
    }

    /** Drops what was created since the matching {@link #open()}. */
    static void close() {
        for (Made made : MADE.pop()) {
            made.pool().close();
            Holder.SERVER.execute("drop database " + made.name() + " with (force)");
        }
    }

    /** Returns what another process opens a database with, by {@link #of}. */
    public static String[] words(HikariDataSource database) {
        return new String[] {database.getJdbcUrl(), database.getUsername(), database.getPassword()};
    }

    /** Opens the database of the process that started this one. */
    public static HikariDataSource of(String[] words) {
        HikariDataSource database = new HikariDataSource();
        database.setJdbcUrl(words[0]);
        database.setUsername(words[1]);
        database.setPassword(words[2]);
        return database;
    }

    /** Migrates a database to the current schema. */
    public static int migrate(DataSource database) {
        return Flyway.configure().dataSource(database).load().migrate().migrationsExecuted;
    }

    /** Prepares a folder for an embedded server: links the program, which is unpacked once for all tests. */
    public static Path unpacked(Path folder) throws IOException {
        URL built = TestDatabase.class.getProtectionDomain().getCodeSource().getLocation();
        Path program =
                Files.createDirectories(Path.of(URI.create(built.toString())).resolveSibling("postgres"));
        Files.createSymbolicLink(Files.createDirectories(folder).resolve("server"), program);
        return folder;
    }

    private static Server start() {
        System.setProperty("com.zaxxer.hikari.housekeeping.periodMs", "5000");
        Server server = DockerClientFactory.instance().isDockerAvailable() ? container() : embedded();
        server.execute("create database migrated");
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
            Path folder = unpacked(Files.createTempDirectory("dozo-test-database"));
            EmbeddedDatabase database = EmbeddedDatabase.start(folder, false, DefaultPostgresBinaryResolver.INSTANCE);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(database, folder)));
            EmbeddedDatabase.Access owner = database.owner();
            return new Server(owner.url(), owner.user(), owner.password());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void stop(EmbeddedDatabase database, Path folder) {
        try {
            database.close();
            FileSystemUtils.deleteRecursively(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
