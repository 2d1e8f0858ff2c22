package dozo.source.delivery;

import java.time.Duration;

/**
 * How long to wait for a server, and how often to try.
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

    public Limits {
        if (tries < 1) {
            throw new IllegalArgumentException("tries must be at least 1");
        }
    }

    /** The usual ones with another stall and other waits; the longest wait is in proportion to the first. */
    public static Limits usual(Duration stall, Duration firstWait) {
        Duration longest = firstWait.multipliedBy(USUAL.longestWait().dividedBy(USUAL.firstWait()));
        return new Limits(USUAL.connect(), USUAL.answer(), stall, USUAL.tries(), firstWait, longest);
    }
}
