package dozo.record;

import dozo.setting.Setting;
import dozo.setting.WrongSetting;
import java.util.Arrays;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** Who can read the records of the catalogue at the sites. */
@ConfigurationProperties("dozo.recovery")
public record RecoverySettings(
        @Setting(
                value =
                        "more public keys that can read the records of the catalogue at the sites, beside the service's own"
                                + " `recovery-key`",
                allowed = "age1…, several with commas between them",
                empty = "none")
        @DefaultValue("")
        String recipients) {

    public RecoverySettings {
        if (!listed(recipients).stream().allMatch(Age::isRecipient)) {
            throw new WrongSetting("recipients");
        }
    }

    /** Returns the public keys that stand in for the own one; empty: none. */
    public List<String> list() {
        return listed(recipients);
    }

    private static List<String> listed(String text) {
        return Arrays.stream(text.split(","))
                .map(String::strip)
                .filter(key -> !key.isEmpty())
                .toList();
    }
}
