package dozo.manifest;

import dozo.setting.Setting;
import dozo.setting.Setting.Agree;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** How sources are read. */
@ConfigurationProperties("dozo.ingest")
public record IngestSettings(
        @Setting(
                value =
                        "maximum age of a [file list](file-lists.md); an older list is a finding, because newer files are missing in it",
                min = "1m",
                max = "366d",
                agree = Agree.SERVICES_AND_WORKERS)
        @DefaultValue("36h")
        Duration listAgeMax,

        @Setting(value = "number of sources read at the same time", min = "1", max = "64") @DefaultValue("4")
        int looks,

        @Setting(
                value =
                        "timeout of a source: if it does not respond for this long while it is looked at or read, it is skipped with a finding, and the run continues with the others",
                min = "1s",
                max = "1d")
        @DefaultValue("10m")
        Duration patience,

        @Setting(
                value =
                        "whether the content of files is judged by the [rules of its format](content.md) while it is read, and what is not"
                                + " whole is a finding",
                agree = Agree.SERVICES_AND_WORKERS)
        @DefaultValue("true")
        boolean inspect,

        @Setting(
                value =
                        "whether it is recorded which DICOM object each file is, about 150 bytes a file, so that"
                                + " [Storage Commitment](worklist.md#storage-commitment) can answer; needs `DOZO_INGEST_INSPECT`",
                agree = Agree.SERVICES_AND_WORKERS)
        @DefaultValue("false")
        boolean images) {}
