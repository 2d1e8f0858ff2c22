package dozo.db;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTransientConnectionException;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Distinguishes a database that does not answer from all other failures (ADR 0048). */
public final class LostDatabase {

    /** For {@code Retry-After}: an embedded server is usually back within this time. */
    public static final int RETRY_AFTER_SECONDS = 10;

    /** The message to the client. */
    public static final String SAID = "the database does not answer; try again later";

    /** The same about a database whose disk is full. */
    public static final String SAID_FULL = "the disk of the database is full; free some space there";

    /** The SQLSTATE of a server that cannot write because its disk is full. */
    public static final String DISK_FULL = "53100";

    private static final String CONNECTION_EXCEPTION = "08";

    /**
     * The server shuts down, has crashed, or is starting; it has ended an idle session; all its connections are in use;
     * it has cancelled a statement that took too long; its disk is full.
     */
    private static final Set<String> STATES = Set.of("57P01", "57P02", "57P03", "57P05", "53300", "57014", DISK_FULL);

    /** The pool's message, without a state, for a connection that broke while it was in use. */
    private static final String BROKEN_BEFORE = "Connection is closed";

    /** Causes can form a loop. */
    private static final int DEPTH_MAX = 100;

    private LostDatabase() {}

    /** Returns whether something failed because there was no connection to the database, or because it was lost. */
    public static boolean isBehind(@Nullable Throwable failure) {
        return causes(failure).anyMatch(LostDatabase::isLost);
    }

    /** Returns the message to the client about a failure behind which a database {@link #isBehind is}. */
    public static String said(Throwable failure) {
        return causes(failure).anyMatch(LostDatabase::isFull) ? SAID_FULL : SAID;
    }

    /** Returns whether the database has failed because its disk is full. */
    public static boolean isFull(SQLException failure) {
        return DISK_FULL.equals(failure.getSQLState());
    }

    private static Stream<SQLException> causes(@Nullable Throwable failure) {
        return Stream.<Throwable>iterate(failure, Objects::nonNull, Throwable::getCause)
                .limit(DEPTH_MAX)
                .filter(SQLException.class::isInstance)
                .map(SQLException.class::cast);
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
