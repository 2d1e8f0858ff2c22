package dozo.manifest;

import dozo.setting.Setting;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** How sources are read. */
@ConfigurationProperties("dozo.ingest")
public record IngestSettings(
        @Setting(
                value =
                        "how old a [file list](file-lists.md) may be before it is a finding, for it hides what came since",
                min = "1m",
                max = "366d")
        @DefaultValue("36h")
        Duration listAgeMax,

        @Setting(value = "sources that are looked at side by side", min = "1", max = "64") @DefaultValue("4")
        int looks,

        @Setting(
                value =
                        "a source that answers nothing for this long, while it is looked at or read, is given up with a finding; the run goes on with the others",
                min = "1s",
                max = "1d")
        @DefaultValue("10m")
        Duration patience) {}
