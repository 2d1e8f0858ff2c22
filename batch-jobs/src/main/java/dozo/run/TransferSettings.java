package dozo.run;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How a run sends.
 *
 * @param lanes SSH connections to the site, 1 to 64
 * @param partitions worker steps at the same time, 1 to 1,000; each holds one database connection while it works
 * @param chunk transfer units a worker step has under way and commits together, 1 to 100
 */
@ConfigurationProperties("dozo.transfer")
public record TransferSettings(
        @DefaultValue("4") int lanes,
        @DefaultValue("4") int partitions,
        @DefaultValue("4") int chunk) {

    public TransferSettings {
        check("dozo.transfer.lanes", lanes, 64);
        check("dozo.transfer.partitions", partitions, 1_000);
        check("dozo.transfer.chunk", chunk, 100);
    }

    private static void check(String key, int value, int max) {
        if (value < 1 || value > max) {
            throw new IllegalArgumentException("%s is %d; 1 to %d is allowed".formatted(key, value, max));
        }
    }
}
