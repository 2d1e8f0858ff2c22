package dozo.run;

import dozo.plan.ReadingBudget;
import dozo.plan.ReadingWindow;
import dozo.plan.ScrubForecast;
import dozo.setting.Setting;
import dozo.setting.WrongSetting;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/** The promised maximum ages of the last readings of all copies and sources, and the budget for reading them again. */
@ConfigurationProperties("dozo.scrub")
public record ScrubSettings(
        @Setting(value = "the promised maximum age of each copy's last reading", min = "1h", max = "3660d")
        @DefaultValue("90d")
        Duration maxAge,

        @Setting(
                value = "the promised maximum age of each unchanged source file's last reading at home",
                allowed = "1h to 3660d, or 0s for never")
        @DefaultValue("365d")
        Duration homeAge,

        @Setting(
                value =
                        "the most requests of a home scrub to a file server at once, in percent; 25: one, and after each a rest of three times its duration",
                min = "1",
                max = "1600")
        @DefaultValue("25")
        int homeLoad,

        @Setting(
                value = "when the schedule reads, by the clocks of `DOZO_SCHEDULE_ZONE`; it may go over midnight",
                allowed =
                        "two different times of the day as 20:00-06:00, 00:00-24:00 for the whole day, or - for never")
        @DefaultValue("00:00-24:00")
        String window,

        @Setting(value = "maximum bytes per second; 0: as fast as the site or source reads", min = "0B", max = "1TB")
        @DefaultValue("0B")
        DataSize limit,

        @Setting("whether copies and sources are read from the disk instead of memory, where possible")
        @DefaultValue("true")
        boolean cold,

        @Setting(
                value =
                        "how many random ranges of stored copies a scrub asks a site for; 688: if 1 % of the bytes is gone, it is noticed with a chance of 99.9 %; 0: none",
                min = "0",
                max = "100000")
        @DefaultValue("688")
        int challenges) {

    private static final String NEVER = "-";

    public ScrubSettings {
        if (!window.strip().equals(NEVER)) {
            check(window);
        }
        boolean possible =
                homeAge.compareTo(ScrubForecast.MAX_AGE_MIN) >= 0 && homeAge.compareTo(ScrubForecast.MAX_AGE_MAX) <= 0;
        if (!homeAge.isZero() && !possible) {
            throw new WrongSetting("home-age");
        }
    }

    /** Returns when the schedule reads; empty: never. */
    public Optional<ReadingWindow> reading() {
        return window.strip().equals(NEVER) ? Optional.empty() : Optional.of(ReadingWindow.of(window));
    }

    /** Returns the limit; null: none. */
    public @Nullable Long bytesPerSecond() {
        return limit.toBytes() == 0 ? null : limit.toBytes();
    }

    /** Returns the budget of the schedule; for a schedule that never reads, that of a whole day. */
    public ReadingBudget budget() {
        return new ReadingBudget(
                bytesPerSecond(), reading().orElse(ReadingWindow.WHOLE_DAY).secondsADay());
    }

    private static void check(String window) {
        try {
            ReadingWindow.of(window);
        } catch (IllegalArgumentException refused) {
            throw new WrongSetting("window");
        }
    }
}
