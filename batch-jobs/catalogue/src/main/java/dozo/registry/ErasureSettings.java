package dozo.registry;

import dozo.setting.Setting;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** How an [erasure](erasure.md) goes. */
@ConfigurationProperties("dozo.erasure")
public record ErasureSettings(
        @Setting(
                value =
                        "how long an approved [erasure](erasure.md) waits before a night begins it; until then it can be withdrawn",
                min = "0s",
                max = "365d")
        @DefaultValue("7d")
        Duration waiting) {}
