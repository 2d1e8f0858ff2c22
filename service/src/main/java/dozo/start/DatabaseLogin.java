package dozo.start;

import dozo.db.EmbeddedDatabase;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Supplier;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * The database server's address and the credentials of Dozo. A file with the password is read again for each new connection, so that
 * the password can be changed while the service runs.
 */
public final class DatabaseLogin extends DriverManagerDataSource {

    /** The folder of the embedded database, below the work folder. */
    static final String EMBEDDED = "postgres";

    private static final String LIMIT_SECONDS = "10";

    private final Supplier<String> password;

    // NB: PGSimpleDataSource would put all of the driver's settings into its address. Flyway looks for passwords in it
    // by expressions whose time grows with the square of its length: a third of a second at each start.
    DatabaseLogin(String url, String user, Supplier<String> password) {
        super(url, properties(user));
        this.password = password;
    }

    public DatabaseLogin(EmbeddedDatabase.Access access) {
        this(access.url(), access.user(), access::password);
    }

    /** Returns the login at the configured address. */
    static DatabaseLogin of(Settings.Db settings) {
        return new DatabaseLogin(settings.url(), settings.user(), settings.secret());
    }

    /**
     * Returns the login of the owner of the tables at the configured address.
     *
     * @return empty: the user owns them, or this process does not know the owner
     * @throws IllegalArgumentException if the file with the password is wrong
     */
    public static Optional<DatabaseLogin> owner(Settings.Db settings) {
        return settings.ownerUser().isEmpty()
                ? Optional.empty()
                : Optional.of(new DatabaseLogin(settings.url(), settings.ownerUser(), settings.ownerSecret()));
    }

    /**
     * Returns the login of a process beside the service, at the configured address or at the embedded database. Starts
     * nothing.
     *
     * @return empty: the database is embedded, and no service has started it
     * @throws IllegalArgumentException if the file with the password is wrong
     */
    public static Optional<DatabaseLogin> beside(Settings settings) throws IOException {
        return settings.db().url().isEmpty()
                ? EmbeddedDatabase.access(settings.workFolderOrNone().resolve(EMBEDDED))
                        .map(DatabaseLogin::new)
                : Optional.of(of(settings.db()));
    }

    /**
     * Returns whether a pooler gives one session to several connections. Locks, terms and settings belong to sessions, so
     * a connection needs one of its own for as long as it is open (ADR 0081): then two connections that are open at the
     * same time never have the same server process.
     */
    public boolean sharesSessions() throws SQLException {
        try (Connection one = getConnection();
                Connection other = getConnection()) {
            int first = process(one);
            return process(other) == first || process(one) != first;
        }
    }

    private static int process(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select pg_backend_pid()")) {
            row.next();
            return row.getInt(1);
        }
    }

    @Override
    protected Connection getConnectionFromDriver(Properties properties) throws SQLException {
        String now = password.get();
        if (!now.isEmpty()) {
            properties.setProperty("password", now);
        }
        return super.getConnectionFromDriver(properties);
    }

    private static Properties properties(String user) {
        Properties properties = new Properties();
        // What is not given may be in the address.
        if (!user.isEmpty()) {
            properties.setProperty("user", user);
        }
        properties.setProperty("ApplicationName", "dozo");
        properties.setProperty("tcpKeepAlive", "true");
        properties.setProperty("loginTimeout", LIMIT_SECONDS);
        return properties;
    }

    /** Does nothing. NB: each pool would set the time that its own requests wait, for everything that logs in here. */
    @Override
    public void setLoginTimeout(int seconds) {
        // Keeps the limit.
    }
}
