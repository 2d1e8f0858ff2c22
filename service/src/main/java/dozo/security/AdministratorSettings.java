package dozo.security;

import dozo.setting.Setting;
import dozo.setting.Setting.Agree;
import dozo.setting.Setting.Secret;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** The user of the first start. */
@ConfigurationProperties("dozo.admin")
public record AdministratorSettings(
        @Setting(
                value = "the password of `admin`, from each start on",
                allowed = "a file whose only line is the secret, writable only by its owner",
                empty = "generated at the first start, in `admin-password` in `DOZO_WORK`",
                secret = Secret.IN_FILE,
                agree = Agree.NOBODY)
        @DefaultValue("")
        String passwordFile) {}
