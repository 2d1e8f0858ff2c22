package dozo.run;

import dozo.registry.Relocations.Relocation;
import java.time.Duration;

/** What a night does before it reads sources, if there are origins to collect from. */
public interface Collecting {

    /** Returns how long a night collects. */
    Duration limit();

    /**
     * Collects the next piece of a run. A problem with an origin is a finding, and ends only that origin's part.
     *
     * @return whether there may be another piece
     * @throws InterruptedException if it was asked to stop; the piece is repeated later, without what had arrived by
     * then
     */
    boolean next(long runId) throws InterruptedException;

    /** Reports for all origins that a run has not finished that the time limit was over. */
    void timeIsOver(long runId);

    /**
     * Removes what was collected of an experiment from Dozo's own folders on this machine, for an erasure. Nothing outside of them is
     * touched: not the origin, and not a folder that an origin only found. Safe to repeat.
     *
     * @throws java.io.UncheckedIOException if something could not be removed
     */
    void erase(int experiment);

    /**
     * Moves the folders of origins with the sources in them, in the caller's transaction.
     *
     * @param moved the experiments whose sources move
     * @throws dozo.registry.Refusal if an experiment that comes from an origin would be outside of the origin's folder
     */
    void move(Relocation wanted, int[] moved, String actor);
}
