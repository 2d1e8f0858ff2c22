package dozo.manifest;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How sources are looked at.
 *
 * @param listAgeMax an older file list is a finding, for it hides what came since; 1 min to 366 d
 */
@ConfigurationProperties("dozo.ingest")
public record IngestSettings(@DefaultValue("36h") Duration listAgeMax) {

    private static final Duration AGE_MIN = Duration.ofMinutes(1);
    private static final Duration AGE_MAX = Duration.ofDays(366);

    public IngestSettings {
        if (listAgeMax.compareTo(AGE_MIN) < 0 || listAgeMax.compareTo(AGE_MAX) > 0) {
            throw new IllegalArgumentException(
                    "dozo.ingest.list-age-max is %s; 1m to 366d is allowed".formatted(listAgeMax));
        }
    }
}
