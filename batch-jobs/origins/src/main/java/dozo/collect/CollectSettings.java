package dozo.collect;

import dozo.setting.Setting;
import dozo.source.delivery.Limits;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/** How a night collects from [origins](origins.md). */
@ConfigurationProperties("dozo.collect")
public record CollectSettings(
        @Setting(
                value = "the time limit for collecting in a night; the rest is collected in the next night",
                min = "1s",
                max = "24h")
        @DefaultValue("4h")
        Duration limit,

        @Setting(value = "the number of files of an item that are downloaded in parallel", min = "1", max = "16")
        @DefaultValue("4")
        int atOnce,

        @Setting(value = "the wait before the first retry; doubled for each further retry", min = "1ms", max = "1m")
        @DefaultValue("1s")
        Duration firstWait,

        @Setting(
                value = "the maximum time without any part of an answer; then the request is repeated",
                min = "100ms",
                max = "10m")
        @DefaultValue("1m")
        Duration stall,

        @Setting(
                value =
                        "the space on a spool's file system that is kept free; items that do not fit are reported and not downloaded",
                min = "0B",
                max = "100TB")
        @DefaultValue("1GB")
        DataSize roomLeft,

        @Setting(
                value = "the promised maximum age of the last check of each delivered file in its origin; 0s: never",
                min = "0s",
                max = "3660d")
        @DefaultValue("365d")
        Duration checkAge,

        @Setting(value = "the time limit for such checks in a night", min = "1s", max = "24h") @DefaultValue("1h")
        Duration checkLimit,

        @Setting(
                value = "the maximum number of bytes downloaded for such checks in a night",
                min = "1B",
                max = "1000TB")
        @DefaultValue("500GB")
        DataSize checkBytes) {

    /** Returns the time limits and retries for origins' servers. */
    public Limits limits() {
        return Limits.usual(stall, firstWait);
    }
}
