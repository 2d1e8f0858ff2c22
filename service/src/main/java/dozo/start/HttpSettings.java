package dozo.start;

import dozo.setting.Setting;
import dozo.setting.WrongSetting;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** Where the service answers. */
@ConfigurationProperties("dozo.http")
public record HttpSettings(
        @Setting(value = "where it listens; plain HTTP", allowed = "an address or a name of this machine")
        @DefaultValue("127.0.0.1")
        String address,

        @Setting(value = "on which port; 0: any free one", min = "0", max = "65535") @DefaultValue("8080")
        int port,

        @Setting(
                value =
                        "the proxies with TLS that stand before it. `X-Forwarded-For` and `-Proto` are taken from them and nobody"
                                + " else, cookies are `Secure`, answers over TLS have HSTS; nobody logs in to pages without TLS any more",
                allowed = "addresses in numbers with commas",
                empty = "there is none")
        @DefaultValue("")
        String tlsProxy) {

    private static final Pattern ADDRESS = Pattern.compile("[0-9a-fA-F.:]{2,45}");
    private static final Pattern NAME_OR_ADDRESS = Pattern.compile("[0-9a-zA-Z.:%_-]{1,253}");

    public HttpSettings {
        if (!NAME_OR_ADDRESS.matcher(address).matches()) {
            throw new WrongSetting("address");
        }
        if (!proxies(tlsProxy).stream().allMatch(proxy -> ADDRESS.matcher(proxy).matches())) {
            throw new WrongSetting("tlsProxy");
        }
    }

    /** Their addresses. */
    public List<String> proxies() {
        return proxies(tlsProxy);
    }

    private static List<String> proxies(String text) {
        return Arrays.stream(text.split(",", -1))
                .map(String::strip)
                .filter(address -> !address.isEmpty())
                .toList();
    }
}
