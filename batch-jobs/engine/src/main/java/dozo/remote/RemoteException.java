package dozo.remote;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** What went wrong at a site: the reason says what kind of thing, the message names it and says what can be done. */
public final class RemoteException extends IOException {

    private static final long serialVersionUID = 1L;

    /** Why. */
    public enum Reason {
        /** No connection came about. */
        UNREACHABLE,
        /** The host has another key than the pinned one: perhaps another host. */
        HOST_KEY,
        /** The site does not accept our key for this user. */
        LOGIN_REFUSED,
        /** Logged in, but there is no SFTP. */
        NO_SFTP,
        /** The connection died, or no answer came in time. What was in flight may or may not have happened. */
        LOST,
        /** A command did not come to its end in time; what it said does not count. The lane is as good as before. */
        STUCK,
        NO_SUCH_FILE,
        EXISTS,
        PERMISSION_DENIED,
        READ_ONLY,
        /** No blocks or no inodes left. */
        FULL,
        /** The site does not offer this operation. */
        UNSUPPORTED,
        /** The site says no and does not say why: a bare {@code SSH_FX_FAILURE} and the like. */
        REFUSED,
        /** The site sent something that is not SFTP, or more than we take. */
        PROTOCOL
    }

    private static final int TRIES = 3;

    /** Each of them costs all the time that the command was given. */
    private static final int STUCK_TRIES = 2;

    private final Reason reason;

    public RemoteException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public RemoteException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /**
     * Waits for what another thread does, and fails as that fails.
     *
     * @throws IllegalStateException if it failed for another reason than the site
     */
    public static <T extends @Nullable Object> T join(Future<T> running) throws RemoteException, InterruptedException {
        try {
            return running.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RemoteException failed) {
                throw new RemoteException(failed.reason(), String.valueOf(failed.getMessage()), failed);
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    public Reason reason() {
        return reason;
    }

    /** Whether the same thing may succeed on another lane or later, with nothing changed by anyone. */
    public boolean retryable() {
        return reason == Reason.LOST || reason == Reason.UNREACHABLE || reason == Reason.STUCK;
    }

    /** Whether to try it on another lane after so many tries. */
    public boolean worthAnotherTry(int tries) {
        return retryable() && tries < (reason == Reason.STUCK ? STUCK_TRIES : TRIES);
    }
}
