package dozo.send;

import java.time.Duration;

/** How long an engine waits for a source that does not answer: until its limit, and once it is asked to leave, only a moment. */
final class SourcePatience {

    /** A source that answers does so sooner. */
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

    /** Whether nobody wants to hear any more of a source that has not answered for so long. */
    boolean leaves(long quietNanos) {
        return leaving && quietNanos > LEAVING.toNanos();
    }
}
