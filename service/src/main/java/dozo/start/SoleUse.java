package dozo.start;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A lock on its own connection, so that only one service at a time uses a database. PostgreSQL releases the lock when
 * the process dies, however it dies.
 */
final class SoleUse implements AutoCloseable {

    /** PostgreSQL's SQLSTATE for a lock that was not available in time. */
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private static final int VALID_SECONDS = 5;

    private final DataSource database;
    private @Nullable Connection connection;
    private @Nullable Session session;

    /** A server process and its start time, because process numbers are used again. */
    private record Session(int process, String since) {}

    SoleUse(DataSource database) {
        this.database = database;
    }

    /**
     * Takes the lock. Waits up to 5 s for the connection of a process that was just killed to end.
     *
     * @throws StartFailure if another service has the lock
     */
    synchronized void take() throws SQLException {
        Connection fresh = database.getConnection();
        try (Statement statement = fresh.createStatement()) {
            endFormer(fresh);
            statement.execute("set lock_timeout = '5s'");
            statement.execute("select pg_advisory_lock(hashtext('dozo.service'))");
            session = session(statement);
            connection = fresh;
        } catch (SQLException e) {
            fresh.close();
            if (LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                throw new StartFailure(
                        StartFailure.UNAVAILABLE,
                        "another Dozo service uses this database: stop it, or set a different DOZO_DB_URL",
                        e);
            }
            throw e;
        }
    }

    /** Returns whether the connection that holds the lock answers. */
    synchronized boolean holds() throws SQLException {
        return connection != null && connection.isValid(VALID_SECONDS);
    }

    /**
     * Ends this service's earlier session. A server whose connection was cut keeps that session, and its lock, for
     * hours.
     */
    private void endFormer(Connection fresh) throws SQLException {
        Session former = session;
        if (former == null) {
            return;
        }
        try (PreparedStatement end = fresh.prepareStatement("""
                select pg_terminate_backend(pid, 5000) from pg_stat_activity where pid = ? and backend_start::text = ?
                """)) {
            end.setInt(1, former.process);
            end.setString(2, former.since);
            end.execute();
        }
    }

    private static Session session(Statement statement) throws SQLException {
        try (ResultSet own = statement.executeQuery(
                "select pid, backend_start::text from pg_stat_activity where pid = pg_backend_pid()")) {
            own.next();
            return new Session(own.getInt(1), own.getString(2));
        }
    }

    @Override
    public synchronized void close() {
        Connection held = connection;
        connection = null;
        if (held != null) {
            try {
                held.close();
            } catch (SQLException gone) {
                // The lock is gone with the connection.
            }
        }
    }
}
