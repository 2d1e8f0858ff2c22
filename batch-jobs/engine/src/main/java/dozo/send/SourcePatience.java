package dozo.send;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * How an engine treats its sources: how long it waits for one that does not answer (up to its limit, and only a moment after it
 * is told to leave), and how it yields to others who use them.
 */
final class SourcePatience {

    /** A source that works answers earlier. */
    private static final Duration LEAVING = Duration.ofSeconds(2);

    private final Duration limit;
    private final SourceYielding yielding;
    private final BooleanSupplier ends;
    private volatile boolean leaving;

    SourcePatience(Duration limit, SourceYielding yielding) {
        this(limit, yielding, () -> false);
    }

    /** @param ends says whether to leave, as {@link #leave} does */
    SourcePatience(Duration limit, SourceYielding yielding, BooleanSupplier ends) {
        this.limit = limit;
        this.yielding = yielding;
        this.ends = ends;
    }

    SourceYielding yielding() {
        return yielding;
    }

    Duration limit() {
        return limit;
    }

    void leave() {
        leaving = true;
    }

    boolean isLeaving() {
        return leaving || ends.getAsBoolean();
    }

    /** Returns whether to stop waiting for a source that has not answered for this long. */
    boolean leaves(long quietNanos) {
        return isLeaving() && quietNanos > LEAVING.toNanos();
    }
}
