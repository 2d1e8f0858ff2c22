package dozo.source.flywheel;

import java.time.Duration;

/**
 * How long is waited, and how often something is tried.
 *
 * @param connect for a connection
 * @param answer for the beginning of an answer
 * @param stall within each such time some of the answer's body has to arrive
 * @param tries how often the same is asked, at least once
 * @param firstWait before the second try; twice as long before each further one, and up to half as much again by chance
 * @param longestWait no wait is longer, whatever the server says
 */
public record Limits(
        Duration connect, Duration answer, Duration stall, int tries, Duration firstWait, Duration longestWait) {

    public static final Limits USUAL = new Limits(
            Duration.ofSeconds(10),
            Duration.ofSeconds(60),
            Duration.ofSeconds(60),
            6,
            Duration.ofSeconds(1),
            Duration.ofSeconds(120));

    /** So many containers or files that cannot be had one after the other, and the rest of the session is not tried. */
    static final int FAILURES_IN_A_ROW_MAX = 8;

    public Limits {
        if (tries < 1) {
            throw new IllegalArgumentException("something has to be tried once at least");
        }
    }
}
