package dozo.run;

import java.time.Duration;

/** What a night does before it looks at sources, where there is something to collect from. Without one, it begins with the look. */
public interface Collecting {

    /** How long a night collects. */
    Duration limit();

    /**
     * Does the next piece of a run's collecting. What goes wrong with an origin is a finding, and ends its part alone.
     *
     * @return whether there may be another one
     * @throws InterruptedException when it was asked to stop; the piece is done again, without what had come by then
     */
    boolean next(long runId) throws InterruptedException;

    /** Says of all origins that a run has not finished that the time was over. */
    void timeIsOver(long runId);
}
