package dozo.source.dicomweb;

import java.time.Duration;

/**
 * How long is waited, and how often something is tried.
 *
 * @param connect for a connection
 * @param answer for the beginning of an answer
 * @param stall within each such time some of the answer's body has to arrive
 * @param tries how often the same is asked, at least once
 * @param firstWait before the second try; twice as long before each further one
 * @param unstable how long a study may stay unstable before that is said and what is there is brought
 */
public record Limits(
        Duration connect, Duration answer, Duration stall, int tries, Duration firstWait, Duration unstable) {

    public static final Limits USUAL = new Limits(
            Duration.ofSeconds(10),
            Duration.ofSeconds(60),
            Duration.ofSeconds(60),
            5,
            Duration.ofSeconds(1),
            Duration.ofHours(24));

    /** An instance of DICOM's Part 10 with explicit lengths is not longer, but for its encapsulated pixels. */
    static final long INSTANCE_BYTES_MAX = 1L << 36;

    /** What a series' or a page's list may be long, as it is read piece by piece. */
    static final long LIST_BYTES_MAX = 1L << 30;

    /** What is read whole: a study or a series with the ids of what is in it. */
    static final int JSON_BYTES_MAX = 32 << 20;

    static final int INSTANCES_MAX = 1_000_000;

    /** So many instances that cannot be had one after the other, and the rest of the study is not tried. */
    static final int FAILURES_IN_A_ROW_MAX = 8;

    public Limits {
        if (tries < 1) {
            throw new IllegalArgumentException("something has to be tried once at least");
        }
    }
}
