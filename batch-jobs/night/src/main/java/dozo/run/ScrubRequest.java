package dozo.run;

import dozo.registry.Refusal;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a scrub is asked for.
 *
 * @param site null: the only one there is
 * @param maxAge every copy is to be read again within this time, one second to 100 years: what was last read longer ago than
 *     four fifths of it is read
 * @param everything whether all is read, however long ago it was last read
 * @param bytesPerSecond the budget; 0: none
 * @param until when it begins no more; null: when all is read
 * @param cold whether the site is to drop what is read from its memory first, where it can, so that its disk is read
 */
public record ScrubRequest(
        @Nullable String site,
        Duration maxAge,
        boolean everything,
        long bytesPerSecond,
        @Nullable Instant until,
        boolean cold) {

    private static final Duration MAX_AGE_MOST = Duration.ofDays(36_525);

    public ScrubRequest {
        if (maxAge.toSeconds() < 1 || maxAge.compareTo(MAX_AGE_MOST) > 0) {
            throw new Refusal("maxAge", "maximum age %s: expected 1 second to 100 years", maxAge);
        }
        if (bytesPerSecond < 0) {
            throw new Refusal("bytesPerSecond", "expected a rate above 0, not %d bytes a second", bytesPerSecond);
        }
    }

    /** What was last read before this is read by a scrub that starts at an instant. */
    Instant dueBefore(Instant start) {
        return everything ? start : start.minus(maxAge.multipliedBy(4).dividedBy(5));
    }
}
