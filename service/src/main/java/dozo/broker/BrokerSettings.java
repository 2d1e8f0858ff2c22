package dozo.broker;

import dozo.run.Notices;
import dozo.setting.Setting;
import dozo.setting.Setting.Agree;
import dozo.setting.Setting.Secret;
import dozo.setting.WrongSetting;
import dozo.start.SecretFile;
import java.util.function.Supplier;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The message broker that tells workers at once that there is work. */
@ConfigurationProperties("dozo.broker")
public record BrokerSettings(
        @Setting(
                value =
                        "the RabbitMQ server that tells workers at once that there is work, without user and password. The"
                                + " service and all workers need the same one; without one workers look every 15 s",
                allowed = "amqp://host:port/virtual-host or amqps://…",
                empty = "none",
                agree = Agree.SERVICES_AND_WORKERS)
        @DefaultValue("")
        String url,

        @Setting(value = "the broker's user", allowed = "a name", empty = "`guest`") @DefaultValue("")
        String user,

        @Setting(
                value = "the password of the broker's user",
                allowed = SecretFile.ALLOWED,
                empty = "`guest`",
                secret = Secret.IN_FILE)
        @DefaultValue("")
        String passwordFile) {

    public BrokerSettings {
        WrongSetting.unless(
                url.isEmpty() || url.matches("amqps?://[A-Za-z0-9._-]{1,253}(:[0-9]{1,5})?(/[A-Za-z0-9._%-]{0,200})?"),
                "url");
        WrongSetting.unless(
                !url.isEmpty() || (user + passwordFile).isEmpty(), "url", "is missing, but a user or password is set");
    }

    String userName() {
        return user.isEmpty() ? "guest" : user;
    }

    Supplier<String> secret() {
        return passwordFile.isEmpty() ? () -> "guest" : SecretFile.followed(passwordFile);
    }

    /** The notices of this process: by the configured broker, or none. */
    @Configuration
    static class Made {

        @Bean
        Notices notices(BrokerSettings settings) {
            return settings.url.isEmpty() ? Notices.NONE : new RabbitNotices(settings);
        }
    }
}
