package dozo.backup;

import dozo.setting.Setting;
import dozo.setting.Setting.Agree;
import dozo.setting.WrongSetting;
import java.nio.file.Path;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** Whether and where the service backs up itself every day. */
@ConfigurationProperties("dozo.backup")
public record BackupSettings(
        @Setting(
                value =
                        "where the active service backs up [itself](../run/database.md#backup-of-dozo) every day, as `dozo backup` does;"
                                + " best a file system of another machine. Whoever can read it has the service's keys",
                allowed = "the absolute path of a folder that exists",
                empty = "it does not",
                agree = Agree.SERVICES_WHETHER_SET)
        @DefaultValue("")
        String folder,

        @Setting(value = "how many of these backups stay", min = "1", max = "1000") @DefaultValue("7")
        int keep) {

    public BackupSettings {
        if (!folder.isEmpty() && !Path.of(folder).isAbsolute()) {
            throw new WrongSetting("folder");
        }
    }
}
