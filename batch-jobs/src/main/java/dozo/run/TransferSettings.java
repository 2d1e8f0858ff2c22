package dozo.run;

import dozo.plan.Planner.Limits;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * How a run sends.
 *
 * @param lanes SSH connections to the site, 1 to 64; 0: as many as help
 * @param partitions worker steps at the same time, 1 to 64; each holds one database connection while it works
 * @param chunk transfer units a worker step has under way and commits together, 1 to 100
 * @param bundle how many bytes of small files go as one unit, 1 KB to 1 GB
 * @param bundleEntries how many entries go as one unit, 1 to 100,000
 * @param large files longer than this go as a unit of their own, over all lanes at once, 64 KB to 16 GB
 * @param learnFrom sending that took less than this says nothing of what it costs, 0 to 1 d: it is beginning and ending that was
 *     measured
 * @param patience a command at the site that reads nothing is waited for so long, 100 ms to 1 h; one that reads, longer
 * @param readBackOneIn of so many files whose digest was computed at the site one is also read back, 1 to 1,000,000,000; 0: none
 */
@ConfigurationProperties("dozo.transfer")
public record TransferSettings(
        @DefaultValue("0") int lanes,
        @DefaultValue("4") int partitions,
        @DefaultValue("4") int chunk,
        @DefaultValue("32MB") DataSize bundle,
        @DefaultValue("1000") int bundleEntries,
        @DefaultValue("64MB") DataSize large,
        @DefaultValue("10s") Duration learnFrom,
        @DefaultValue("1m") Duration patience,
        @DefaultValue("1000") int readBackOneIn) {

    public TransferSettings {
        check("lanes", lanes, 0, 64);
        check("partitions", partitions, 1, 64);
        check("chunk", chunk, 1, 100);
        check("bundle", bundle.toBytes(), 1 << 10, 1 << 30);
        check("bundle-entries", bundleEntries, 1, 100_000);
        check("large", large.toBytes(), 64 << 10, 16L << 30);
        check("learn-from", learnFrom.toSeconds(), 0, Duration.ofDays(1).toSeconds());
        check("patience", patience.toMillis(), 100, Duration.ofHours(1).toMillis());
        check("read-back-one-in", readBackOneIn, 0, 1_000_000_000);
    }

    Limits limits() {
        return new Limits(bundle.toBytes(), bundleEntries, large.toBytes());
    }

    private static void check(String key, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    "dozo.transfer.%s is %d; %d to %d is allowed".formatted(key, value, min, max));
        }
    }
}
