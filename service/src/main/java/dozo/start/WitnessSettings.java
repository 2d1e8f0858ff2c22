package dozo.start;

import dozo.setting.Setting;
import dozo.setting.WrongSetting;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** [Witnesses](ledger.md#witnesses) of the ledger, and of the ledgers of others. */
@ConfigurationProperties("dozo.witness")
public record WitnessSettings(
        @Setting(
                value = "the name of the ledger as a log, from its first checkpoint on; a later change has no effect",
                allowed = "1 to 150 visible ASCII characters without +, such as dozo.example.org/ledger",
                empty = "the name of the service, and `/ledger`")
        @DefaultValue("")
        String origin,

        @Setting(
                value =
                        "people are told if a witness has not cosigned a checkpoint for this time, or a trusted log has sent none",
                min = "1h",
                max = "365d")
        @DefaultValue("3d")
        Duration late) {

    public WitnessSettings {
        WrongSetting.unless(origin.isEmpty() || origin.matches("[!-*,-~]{1,150}"), "origin");
    }

    /** Returns the name of the log, also if none is set. */
    String originOr(String service) {
        return origin.isEmpty() ? service + "/ledger" : origin;
    }
}
