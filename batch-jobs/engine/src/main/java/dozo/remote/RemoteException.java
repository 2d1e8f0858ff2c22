package dozo.remote;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** A failure at a site: the reason is its kind, the message says what failed and what can be done. */
public final class RemoteException extends IOException {

    private static final long serialVersionUID = 1L;

    public enum Reason {
        /** No connection could be made. */
        UNREACHABLE,
        /** The host's key differs from the pinned one: it may be another host. */
        HOST_KEY,
        /** The site does not accept our key for this user. */
        LOGIN_REFUSED,
        /** The login succeeded, but there is no SFTP. */
        NO_SFTP,
        /** The connection died, or no answer came in time. What was in flight may or may not have happened. */
        LOST,
        /** A command did not end in time; its output is ignored. The lane is still usable. */
        STUCK,
        NO_SUCH_FILE,
        EXISTS,
        PERMISSION_DENIED,
        READ_ONLY,
        /** No blocks or no inodes left. */
        FULL,
        /** The site does not offer this operation. */
        UNSUPPORTED,
        /** The site refused without a reason: a bare {@code SSH_FX_FAILURE} and the like. */
        REFUSED,
        /** The site sent something that is not SFTP, or more than is accepted. */
        PROTOCOL
    }

    private static final int TRIES = 3;

    /** Each try costs the full timeout of the command. */
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
     * Waits for another thread's work, and throws its failure.
     *
     * @throws IllegalStateException if it failed for a reason other than the site
     */
    public static <T extends @Nullable Object> T join(Future<T> running) throws RemoteException, InterruptedException {
        try {
            return running.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RemoteException failed) {
                throw failed.again();
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    /** Returns the same failure with the current thread's stack. */
    RemoteException again() {
        return new RemoteException(reason, String.valueOf(getMessage()), this);
    }

    public Reason reason() {
        return reason;
    }

    /** Returns whether the same operation may succeed on another lane or later, without a change by anyone. */
    public boolean retryable() {
        return reason == Reason.LOST || reason == Reason.UNREACHABLE || reason == Reason.STUCK;
    }

    /** Returns whether the site answered that it does not do this; it may do something else. */
    public boolean isRefusal() {
        return switch (reason) {
            case NO_SUCH_FILE, PERMISSION_DENIED, REFUSED, UNSUPPORTED -> true;
            default -> false;
        };
    }

    /** Returns whether it is no answer of the site to the request: a lost lane, a command without an end, or nonsense. */
    boolean isNoAnswer() {
        return retryable() || reason == Reason.PROTOCOL;
    }

    void throwIfNoAnswer() throws RemoteException {
        if (isNoAnswer()) {
            throw this;
        }
    }

    /** Returns whether to try it on another lane after this many tries. */
    public boolean worthAnotherTry(int tries) {
        return retryable() && tries < (reason == Reason.STUCK ? STUCK_TRIES : TRIES);
    }
}
