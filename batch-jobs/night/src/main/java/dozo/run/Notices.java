package dozo.run;

import java.util.function.LongConsumer;

/**
 * Notices between the service and the workers of a run that there may be work. They are hints: everybody also looks into the
 * database from time to time, so a notice may be lost, doubled or late (ADR 0080).
 */
public interface Notices {

    /** No other process is told. */
    Notices NONE = new Notices() {
        @Override
        public void tell(long run) {
            // Nobody listens.
        }

        @Override
        public void onEach(LongConsumer listener) {
            // Nobody tells.
        }
    };

    /** Tells the other processes that a run may have work for them. Must return at once, and never fail. */
    void tell(long run);

    /** Returns whether other processes cannot be told now; without anybody to tell, never. */
    default boolean isAway() {
        return false;
    }

    /** Passes on the run of each notice of another process from now on. */
    void onEach(LongConsumer listener);
}
