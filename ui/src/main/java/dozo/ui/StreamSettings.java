package dozo.ui;

import dozo.setting.Setting;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** Limits for live pages of runs, because each open one keeps a thread. */
@ConfigurationProperties("dozo.streams")
public record StreamSettings(
        @Setting(value = "maximum number of live run pages per user", min = "1", max = "500") @DefaultValue("20")
        int perUser,

        @Setting(
                value =
                        "maximum number of live run pages per address; behind a proxy without `DOZO_HTTP_TLS_PROXY` all users have the proxy's address",
                min = "1",
                max = "500")
        @DefaultValue("50")
        int perAddress) {}
