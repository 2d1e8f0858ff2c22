package dozo.source.delivery;

import java.time.Duration;

/**
 * How long to wait for a server, and how often to try.
 *
 * @param connect limit for establishing a connection
 * @param answer limit until an answer begins
 * @param stall interval in which some of the answer's body must arrive
 * @param tries how often a request is sent, at least once
 * @param firstWait before the second try; doubled for each further try, plus up to 50 % at random
 * @param longestWait upper limit of every wait, whatever the server demands
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

    /** Returns the usual limits with another stall and first wait; the longest wait is scaled with the first. */
    public static Limits usual(Duration stall, Duration firstWait) {
        Duration longest = firstWait.multipliedBy(USUAL.longestWait().dividedBy(USUAL.firstWait()));
        return new Limits(USUAL.connect(), USUAL.answer(), stall, USUAL.tries(), firstWait, longest);
    }
}
