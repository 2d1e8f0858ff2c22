package dozo.send;

import java.time.Duration;

/**
 * How long an engine waits for a source that does not answer: up to its limit, and only a moment after it is told to
 * leave.
 */
final class SourcePatience {

    /** A source that works answers earlier. */
    private static final Duration LEAVING = Duration.ofSeconds(2);

    private final Duration limit;
    private volatile boolean leaving;

    SourcePatience(Duration limit) {
        this.limit = limit;
    }

    Duration limit() {
        return limit;
    }

    void leave() {
        leaving = true;
    }

    /** Returns whether to stop waiting for a source that has not answered for this long. */
    boolean leaves(long quietNanos) {
        return leaving && quietNanos > LEAVING.toNanos();
    }
}
