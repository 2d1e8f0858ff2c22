package dozo.doctor;

import java.util.List;

/**
 * One check.
 *
 * @param about what it checks, in a few words
 */
record Check(String about, Look look) {

    /** Looks, and returns at least one result if there was something to look at. It may hang: its time is bounded. */
    @FunctionalInterface
    interface Look {
        List<Result> at(Installation installation) throws Exception;
    }
}
