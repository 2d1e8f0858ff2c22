package dozo.run;

import dozo.setting.Setting;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** How long the details of runs are kept. */
@ConfigurationProperties("dozo.retention")
public record RetentionSettings(
        @Setting(
                value =
                        "how long the details of a run are kept after its end ([what is deleted then](../run/database.md#retention)); evidence"
                                + " is always kept",
                min = "100d",
                max = "3660d")
        @DefaultValue("400d")
        Duration runs) {}
