package dozo.start;

import java.sql.Connection;
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

    private static final int VALID_SECONDS = 10;

    private final DataSource database;
    private @Nullable Connection connection;

    SoleUse(DataSource database) {
        this.database = database;
    }

    /** Takes the lock; waits some seconds for the connection of a process that has just been killed to go. */
    synchronized void take() throws SQLException {
        Connection fresh = database.getConnection();
        try (Statement statement = fresh.createStatement()) {
            statement.execute("set lock_timeout = '5s'");
            statement.execute("select pg_advisory_lock(hashtext('dozo.service'))");
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

    /** Whether the lock is still ours; taken again where the connection was lost. */
    synchronized boolean keep() {
        try {
            if (connection == null || !connection.isValid(VALID_SECONDS)) {
                close();
                take();
            }
            return true;
        } catch (StartFailure taken) {
            return false;
        } catch (SQLException unreachable) {
            // Who cannot reach the database does nothing with it either.
            return true;
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
