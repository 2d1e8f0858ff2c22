package dozo.registry;

import dozo.setting.Setting;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** When an experiment is [at risk](registration.md#states). */
@ConfigurationProperties("dozo.risk")
public record RiskSettings(
        @Setting(
                value =
                        "an experiment with data that has waited longer than this for its second copy is at risk, unless its project has another time",
                min = "1h",
                max = "3660d")
        @DefaultValue("3d")
        Duration after) {

    /** Returns {@link #after} as an interval of PostgreSQL. */
    public String interval() {
        return after.toSeconds() + " seconds";
    }
}
