package dozo.doctor;

import dozo.db.EmbeddedFolder;
import dozo.start.DatabaseLogin;
import dozo.start.DatabaseServer;
import dozo.start.Given;
import dozo.start.Schema;
import dozo.start.Schema.Standing;
import dozo.start.Settings;
import dozo.start.StartFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.springframework.jdbc.core.simple.JdbcClient;

/** What is checked: settings, and the database if it can be reached. */
public final class Installation {

    private final Given given;
    private final InstantSource clock;
    private final Duration limit;
    private final long endNanos;
    private final FutureTask<Database> database = new FutureTask<>(this::open);

    /** A database, as far as it could be reached. */
    sealed interface Database {

        /** It answers. */
        record Open(DatabaseLogin login, boolean embedded, Standing schema) implements Database {}

        /** It is embedded, of a major version of PostgreSQL, and no service has started it now. */
        record Asleep(boolean hasData, int major) implements Database {}

        /** It cannot be used, for example because it does not answer. */
        record Closed(String address, SQLException reason) implements Database {}

        /** A setting is wrong, or this user may not read the embedded one. */
        record Unknown(String reason) implements Database {}
    }

    /**
     * Looks at nothing yet.
     *
     * @param limit the time for all checks, from now on
     */
    public Installation(Given given, InstantSource clock, Duration limit) {
        this.given = given;
        this.clock = clock;
        this.limit = limit;
        this.endNanos = System.nanoTime() + limit.toNanos();
    }

    Given given() {
        return given;
    }

    InstantSource clock() {
        return clock;
    }

    Duration limit() {
        return limit;
    }

    long nanosLeft() {
        return Math.max(0, endNanos - System.nanoTime());
    }

    /** Returns a record of settings; empty if one of them is wrong. */
    <T extends Record> Optional<T> settings(Class<T> record) {
        try {
            return Optional.of(given.of(record));
        } catch (StartFailure wrong) {
            return Optional.empty();
        }
    }

    /** Returns the database. All checks share the first answer, which takes some seconds. */
    Database database() throws InterruptedException {
        database.run();
        try {
            return database.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    /** Returns the catalogue; empty if it cannot be read, or another version of Dozo has made it. */
    Optional<JdbcClient> catalogue() throws InterruptedException {
        return database() instanceof Database.Open open && open.schema == Standing.CURRENT
                ? Optional.of(JdbcClient.create(open.login))
                : Optional.empty();
    }

    private Database open() {
        Optional<Settings> known = settings(Settings.class);
        if (known.isEmpty()) {
            return new Database.Unknown("its settings are wrong");
        }
        Settings settings = known.get();
        boolean embedded = settings.db().url().isEmpty();
        try {
            Optional<DatabaseLogin> login = DatabaseLogin.beside(settings);
            return login.isEmpty() ? asleep(settings) : opened(login.get(), embedded);
        } catch (SQLException e) {
            return new Database.Closed(settings.db().toString(), e);
        } catch (IOException e) {
            return new Database.Unknown("the files of the embedded database cannot be read: " + e.getMessage());
        } catch (IllegalArgumentException e) {
            return new Database.Unknown("the password file " + e.getMessage());
        }
    }

    private static Database asleep(Settings settings) throws IOException {
        Path data = settings.workFolderOrNone().resolve("postgres/data");
        return new Database.Asleep(
                settings.hasEmbedded(),
                Files.exists(data.resolve("PG_VERSION")) ? EmbeddedFolder.major(data) : DatabaseServer.VERSION_TESTED);
    }

    private static Database opened(DatabaseLogin login, boolean embedded) throws SQLException {
        try (Connection connection = login.getConnection()) {
            return new Database.Open(
                    login, embedded, connection.getSchema() == null ? Standing.NONE : new Schema(login).standing());
        }
    }
}
