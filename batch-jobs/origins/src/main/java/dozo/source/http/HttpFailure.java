package dozo.source.http;

import java.io.IOException;

/** No answer, or not all of one. The message has nothing in it of the request or of what the server said: that could be a secret. */
public final class HttpFailure extends IOException {

    private static final long serialVersionUID = 1L;

    private final Kind kind;

    /** What happened. */
    public enum Kind {
        /** No connection came about. */
        UNREACHABLE,
        /** The answer did not begin in time, or stopped coming. */
        STALLED,
        /** The connection ended before the answer did. */
        DROPPED,
        /** The answer is longer than what is taken. */
        TOO_LARGE
    }

    HttpFailure(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }
}
