package dozo.run;

import dozo.plan.ReadingBudget;
import dozo.plan.ReadingWindow;
import dozo.plan.ScrubForecast;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The age that is promised for every site's copies, and what reading them again may take.
 *
 * @param maxAge no copy's last reading is to be older, 1 h to 3660 d
 * @param window the time of the day in which the schedule reads, as {@code 20:00-06:00}; {@code -}: it never does
 * @param limit bytes a second, to 1 TB; 0: as fast as the site reads
 * @param cold whether the site's disk is to answer, and not its memory, where that can be had
 */
@ConfigurationProperties("dozo.scrub")
public record ScrubSettings(
        @DefaultValue("90d") Duration maxAge,
        @DefaultValue("00:00-24:00") String window,
        @DefaultValue("0") DataSize limit,
        @DefaultValue("true") boolean cold) {

    private static final String NEVER = "-";
    private static final DataSize LIMIT_MAX = DataSize.ofTerabytes(1);

    public ScrubSettings {
        if (maxAge.compareTo(ScrubForecast.MAX_AGE_MIN) < 0 || maxAge.compareTo(ScrubForecast.MAX_AGE_MAX) > 0) {
            throw new IllegalArgumentException(
                    "dozo.scrub.max-age (DOZO_SCRUB_MAX_AGE) is %s: 1h to 3660d is allowed".formatted(maxAge));
        }
        if (limit.isNegative() || limit.compareTo(LIMIT_MAX) > 0) {
            throw new IllegalArgumentException(
                    "dozo.scrub.limit (DOZO_SCRUB_LIMIT) is %s a second: 1B to 1TB is allowed, as 200MB, or 0 for no limit"
                            .formatted(limit));
        }
        if (!window.strip().equals(NEVER)) {
            check(window);
        }
    }

    /** When the schedule reads; empty: never. */
    public Optional<ReadingWindow> reading() {
        return window.strip().equals(NEVER) ? Optional.empty() : Optional.of(ReadingWindow.of(window));
    }

    /** Null: no limit. */
    public @Nullable Long bytesPerSecond() {
        return limit.toBytes() == 0 ? null : limit.toBytes();
    }

    /** What the schedule may take; of a schedule that never reads, what it could take all day. */
    public ReadingBudget budget() {
        return new ReadingBudget(
                bytesPerSecond(), reading().orElse(ReadingWindow.WHOLE_DAY).secondsADay());
    }

    private static void check(String window) {
        try {
            ReadingWindow.of(window);
        } catch (IllegalArgumentException refused) {
            // Without its cause: the deepest one is what is told.
            throw new IllegalArgumentException("dozo.scrub.window (DOZO_SCRUB_WINDOW) is \"%s\": %s; - for never"
                    .formatted(window, refused.getMessage()));
        }
    }
}
