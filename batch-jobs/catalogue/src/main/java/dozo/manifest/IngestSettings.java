package dozo.manifest;

import dozo.setting.Setting;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** How sources are looked at. */
@ConfigurationProperties("dozo.ingest")
public record IngestSettings(
        @Setting(
                value =
                        "how old a [file list](file-lists.md) may be before it is a finding, for it hides what came since",
                min = "1m",
                max = "366d")
        @DefaultValue("36h")
        Duration listAgeMax) {}
