package dozo.message;

import dozo.setting.Setting;
import dozo.setting.WrongSetting;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** Webhooks of [alerts](alerts.md). */
@ConfigurationProperties("dozo.webhook")
public record WebhookSettings(
        @Setting(
                value =
                        "hosts of webhooks that may have internal addresses (loopback, private, link-local), as those in URLs of recipients; others are refused",
                allowed = "names and addresses separated by commas",
                empty = "none")
        @DefaultValue("")
        String internalHosts) {

    public WebhookSettings {
        WrongSetting.unless(internalHosts.matches("[A-Za-z0-9.:,_ \\[\\]-]*"), "internal-hosts");
    }

    Set<String> internal() {
        return Arrays.stream(internalHosts.split(","))
                .map(host -> host.strip().toLowerCase(Locale.ROOT))
                .filter(host -> !host.isEmpty())
                .collect(Collectors.toUnmodifiableSet());
    }
}
