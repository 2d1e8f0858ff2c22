package dozo.ledger;

import java.io.IOException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Names the failure that has ended a piece of work. Only an unexpected one is called a defect. */
public final class Failure {

    /** Causes can form a loop. */
    private static final int DEPTH_MAX = 100;

    private Failure() {}

    /**
     * Returns the reason for people, however deep it is wrapped.
     *
     * @param next what to do, or what happens next; not part of the reason of a defect
     */
    public static String reason(@Nullable Throwable failure, String next) {
        SQLException database = cause(failure, SQLException.class);
        IOException file = cause(failure, IOException.class);
        if (database != null) {
            return "the database failed: %s; %s".formatted(database.getMessage(), next);
        } else if (file != null) {
            return "a file on this machine could not be read or written: %s; %s".formatted(file, next);
        } else if (cause(failure, OutOfMemoryError.class) != null) {
            return "out of memory: give this process a larger heap (DOZO_HEAP); " + next;
        } else if (cause(failure, InterruptedException.class) != null || failure == null) {
            return "the work was interrupted; " + next;
        }
        return "a defect in Dozo: %s; send the log to the developers".formatted(failure);
    }

    /** Returns the first cause of this type; null: there is none. */
    public static <T extends Throwable> @Nullable T cause(@Nullable Throwable failure, Class<T> type) {
        int depth = 0;
        for (Throwable cause = failure; cause != null && depth < DEPTH_MAX; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
            depth++;
        }
        return null;
    }
}
