package dozo.remote;

import java.io.IOException;

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

    private final Reason reason;

    RemoteException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    RemoteException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }

    /** Whether the same thing may succeed on another lane or later, with nothing changed by anyone. */
    public boolean retryable() {
        return reason == Reason.LOST || reason == Reason.UNREACHABLE;
    }
}
