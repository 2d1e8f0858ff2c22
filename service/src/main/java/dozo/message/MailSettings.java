package dozo.message;

import dozo.setting.Setting;
import dozo.setting.Setting.Secret;
import dozo.setting.WrongSetting;
import dozo.start.SecretFile;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** The mail server for [alerts](alerts.md). */
@ConfigurationProperties("dozo.mail")
public record MailSettings(
        @Setting(
                value = "the mail server (SMTP) that takes messages",
                allowed = "a host name or address",
                empty = "no mail is sent")
        @DefaultValue("")
        String host,

        @Setting(value = "the mail server's port", min = "1", max = "65535") @DefaultValue("587")
        int port,

        @Setting(
                value =
                        "how the connection is encrypted: by STARTTLS, without which nothing is sent; by TLS from the start; or not at all",
                allowed = "starttls, tls or none")
        @DefaultValue("starttls")
        String tls,

        @Setting(value = "the user at the mail server", allowed = "a name", empty = "it asks for no login")
        @DefaultValue("")
        String user,

        @Setting(
                value = "the password at the mail server",
                allowed = SecretFile.ALLOWED,
                empty = "not set",
                secret = Secret.IN_FILE)
        @DefaultValue("")
        String passwordFile,

        @Setting(
                value = "the sender of messages",
                allowed = "a mail address",
                empty = "`dozo@` and the name of this machine")
        @DefaultValue("")
        String from) {

    public MailSettings {
        WrongSetting.unless(host.isEmpty() || host.matches("[A-Za-z0-9.:_-]{1,253}"), "host");
        WrongSetting.unless(tls.matches("starttls|tls|none"), "tls");
        WrongSetting.unless(from.isEmpty() || from.matches("[^@\\s]{1,64}@[A-Za-z0-9.-]{1,253}"), "from");
    }
}
