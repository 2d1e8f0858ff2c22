package dozo.run;

import dozo.plan.Planner.Limits;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * How a run sends.
 *
 * @param lanes SSH connections to the site, 1 to 64
 * @param partitions worker steps at the same time, 1 to 64; each holds one database connection while it works
 * @param chunk transfer units a worker step has under way and commits together, 1 to 100
 * @param bundle how many bytes of small files go as one unit, 1 KB to 1 GB
 * @param bundleEntries how many entries go as one unit, 1 to 100,000
 * @param range the length of a large file's ranges, 64 KB to 16 GB; a file longer than two of them is large
 */
@ConfigurationProperties("dozo.transfer")
public record TransferSettings(
        @DefaultValue("4") int lanes,
        @DefaultValue("4") int partitions,
        @DefaultValue("4") int chunk,
        @DefaultValue("32MB") DataSize bundle,
        @DefaultValue("1000") int bundleEntries,
        @DefaultValue("64MB") DataSize range) {

    public TransferSettings {
        check("lanes", lanes, 1, 64);
        check("partitions", partitions, 1, 64);
        check("chunk", chunk, 1, 100);
        check("bundle", bundle.toBytes(), 1 << 10, 1 << 30);
        check("bundle-entries", bundleEntries, 1, 100_000);
        check("range", range.toBytes(), 64 << 10, 16L << 30);
    }

    Limits limits() {
        return new Limits(bundle.toBytes(), bundleEntries, range.toBytes());
    }

    private static void check(String key, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    "dozo.transfer.%s is %d; %d to %d is allowed".formatted(key, value, min, max));
        }
    }
}
