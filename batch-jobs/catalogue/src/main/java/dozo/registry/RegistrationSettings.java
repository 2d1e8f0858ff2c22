package dozo.registry;

import dozo.setting.Setting;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** What is [suggested](registration.md#suggestions) for the registration of a folder. */
@ConfigurationProperties("dozo.registration")
public record RegistrationSettings(
        @Setting(
                "whether names of folders may be suggested as titles and subjects; false where they contain names of people")
        @DefaultValue("true")
        boolean folderTitles) {}
