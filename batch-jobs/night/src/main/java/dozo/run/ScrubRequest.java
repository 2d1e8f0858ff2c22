package dozo.run;

import dozo.registry.Refusal;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The request for a scrub.
 *
 * @param home whether source files are read instead of copies: then the site's hours and yielding apply, and those of no other
 * @param site null: the only one; for home the one that was registered first
 * @param maxAge every copy is read again within this time, one second to 100 years: a copy is due if its last reading
 * is older than four fifths of it
 * @param everything whether all copies are read, however recent their last reading is
 * @param bytesPerSecond the budget; 0: none
 * @param until when it begins no more; null: when everything is read
 * @param cold whether files are dropped from the memory before they are read, if possible, so that the disk is read
 */
public record ScrubRequest(
        boolean home,
        @Nullable String site,
        Duration maxAge,
        boolean everything,
        long bytesPerSecond,
        @Nullable Instant until,
        boolean cold) {

    private static final Duration MAX_AGE_MOST = Duration.ofDays(36_525);

    /** Creates the request for a scrub of copies. */
    public ScrubRequest(
            @Nullable String site,
            Duration maxAge,
            boolean everything,
            long bytesPerSecond,
            @Nullable Instant until,
            boolean cold) {
        this(false, site, maxAge, everything, bytesPerSecond, until, cold);
    }

    public ScrubRequest {
        if (home && site != null) {
            throw new Refusal("site", "expected none: sources are at no site");
        }
        if (maxAge.toSeconds() < 1 || maxAge.compareTo(MAX_AGE_MOST) > 0) {
            throw new Refusal("maxAge", "maximum age %s: expected 1 second to 100 years", maxAge);
        }
        if (bytesPerSecond < 0) {
            throw new Refusal("bytesPerSecond", "expected a rate of 0 or more, not %d bytes a second", bytesPerSecond);
        }
    }

    /** Returns the moment before which a last reading makes a copy or file due, for a scrub that starts at an instant. */
    public Instant dueBefore(Instant start) {
        return everything ? start : start.minus(maxAge.multipliedBy(4).dividedBy(5));
    }
}
