package dozo.run;

import java.time.Duration;

/** What a night does last, if there are origins: it checks again what they still hold of what they delivered. */
public interface Rechecking {

    /** Returns how long a night checks; zero if none does. */
    Duration limit();

    /**
     * Checks what is due, the oldest check first, until nothing is left or the night's budget is used up. What has been checked is
     * stored as it goes.
     *
     * @throws InterruptedException if it was asked to stop, or the time is over; a later call continues
     */
    void check(long runId) throws InterruptedException;

    /** Reports what was not checked within the promised age. Safe to repeat. */
    void conclude(long runId);
}
