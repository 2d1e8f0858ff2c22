package dozo.start;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * That one service at a time works on a database: a lock on a connection of its own. PostgreSQL gives it back when the
 * process dies, however it dies.
 */
final class SoleUse implements AutoCloseable {

    /** PostgreSQL's word for a lock that was not to be had in time. */
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private static final int VALID_SECONDS = 5;

    private final DataSource database;
    private @Nullable Connection connection;
    private @Nullable Session session;

    /** A process of the server, and when it began: its number is used again. */
    private record Session(int process, String since) {}

    SoleUse(DataSource database) {
        this.database = database;
    }

    /**
     * Takes the lock; waits some seconds for the connection of a process that has just been killed to go.
     *
     * @throws StartFailure when another service has it
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
                        "another Dozo works on this database: stop it, or give this one a database of its own",
                        e);
            }
            throw e;
        }
    }

    /** Whether the connection that holds the lock answers. */
    synchronized boolean holds() throws SQLException {
        return connection != null && connection.isValid(VALID_SECONDS);
    }

    /** A server that was cut off from us keeps our own former session, and its lock, for hours. */
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
                // And the lock with it.
            }
        }
    }
}
