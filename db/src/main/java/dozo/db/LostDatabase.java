package dozo.db;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Distinguishes a database that does not answer from all other failures (ADR 0048). */
public final class LostDatabase {

    /** For {@code Retry-After}: an embedded server is usually back within this time. */
    public static final int RETRY_AFTER_SECONDS = 10;

    /** The message to the client. */
    public static final String SAID = "the database does not answer; try again later";

    private static final String CONNECTION_EXCEPTION = "08";

    /**
     * The server shuts down, has crashed, or is starting; it has ended an idle session; all its connections are in use;
     * it has cancelled a statement that took too long.
     */
    private static final Set<String> STATES = Set.of("57P01", "57P02", "57P03", "57P05", "53300", "57014");

    /** The pool's message, without a state, for a connection that broke while it was in use. */
    private static final String BROKEN_BEFORE = "Connection is closed";

    /** Causes can form a loop. */
    private static final int DEPTH_MAX = 100;

    private LostDatabase() {}

    /** Returns whether something failed because there was no connection to the database, or because it was lost. */
    public static boolean isBehind(@Nullable Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < DEPTH_MAX; depth++) {
            if (cause instanceof SQLException known && isLost(known)) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    private static boolean isLost(SQLException failure) {
        for (SQLException each = failure; each != null; each = each.getNextException()) {
            String state = each.getSQLState();
            if (each instanceof SQLTransientConnectionException
                    || each instanceof SQLNonTransientConnectionException
                    || (state == null
                            ? BROKEN_BEFORE.equals(each.getMessage())
                            : state.startsWith(CONNECTION_EXCEPTION) || STATES.contains(state))) {
                return true;
            }
        }
        return false;
    }
}
