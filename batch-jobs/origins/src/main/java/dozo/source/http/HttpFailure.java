package dozo.source.http;

import java.io.IOException;

/**
 * A missing or incomplete answer. The message contains nothing of the request or of the server's text, which could be
 * secret.
 */
public final class HttpFailure extends IOException {

    private static final long serialVersionUID = 1L;

    private final Kind kind;

    public enum Kind {
        /** No connection could be established. */
        UNREACHABLE,
        /** The answer did not begin in time, or stalled. */
        STALLED,
        /** The connection ended before the answer was complete. */
        DROPPED,
        /** The answer is longer than its limit. */
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
