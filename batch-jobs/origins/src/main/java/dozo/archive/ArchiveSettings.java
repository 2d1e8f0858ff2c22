package dozo.archive;

import dozo.setting.Setting;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/** How restores fill archives. */
@ConfigurationProperties("dozo.archive")
public record ArchiveSettings(
        @Setting(
                value = "the limit of restores into archives in a second, of what is read at the site; 0B: no limit",
                min = "0B",
                max = "100GB")
        @DefaultValue("0B")
        DataSize rate) {}
