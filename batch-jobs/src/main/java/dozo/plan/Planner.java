package dozo.plan;

import dozo.file.Entry;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Cuts entries into transfer units as they come and gives each unit to the partition with the least to do so far, so
 * partitions end up within one unit of each other, whatever the directory tree looks like. Keeps one
 * bundle in memory, however many entries there are. Not thread-safe.
 */
public final class Planner {

    private final Limits limits;
    private final CostModel cost;
    private final double[] partitionSeconds;

    private int[] bundle;
    private int bundleEntries;
    private long bundleBytes;

    /**
     * How units are cut.
     *
     * @param bundleBytesMax a bundle is closed when the next file would take it above this
     * @param bundleEntriesMax and when it has this many entries
     * @param largeBytes files longer than this are large: a unit each, sent as ranges
     */
    public record Limits(long bundleBytesMax, int bundleEntriesMax, long largeBytes) {

        public Limits {
            if (bundleBytesMax < 1 || bundleEntriesMax < 1 || largeBytes < 1) {
                throw new IllegalArgumentException("limits are positive");
            }
        }

        boolean large(long sizeBytes) {
            return sizeBytes > largeBytes;
        }
    }

    public Planner(int partitions, Limits limits, CostModel cost) {
        if (partitions < 1) {
            throw new IllegalArgumentException("at least one partition, not " + partitions);
        }
        this.limits = limits;
        this.cost = cost;
        this.partitionSeconds = new double[partitions];
        this.bundle = new int[limits.bundleEntriesMax()];
    }

    /** Takes one entry; hands over the units that are finished with it. */
    public void add(Entry entry, Consumer<PlannedUnit> units) {
        long size = entry.facts().sizeBytes();
        if (limits.large(size)) {
            int[] number = {entry.number()};
            units.accept(new PlannedUnit(UnitKind.LARGE, number, size, charge(size, 1)));
            return;
        }
        if (bundleEntries > 0 && bundleBytes + size > limits.bundleBytesMax()) {
            flush(units);
        }
        bundle[bundleEntries++] = entry.number();
        bundleBytes += size;
        if (bundleEntries == bundle.length) {
            flush(units);
        }
    }

    /** Closes the open bundle: at the end, and wherever units must not be shared. */
    public void flush(Consumer<PlannedUnit> units) {
        if (bundleEntries == 0) {
            return;
        }
        int partition = charge(bundleBytes, bundleEntries);
        units.accept(new PlannedUnit(UnitKind.BUNDLE, Arrays.copyOf(bundle, bundleEntries), bundleBytes, partition));
        bundleEntries = 0;
        bundleBytes = 0;
    }

    /** What a partition has to do so far, in seconds of one lane. */
    public double seconds(int partition) {
        return partitionSeconds[partition];
    }

    private int charge(long bytes, int entries) {
        int least = 0;
        for (int i = 1; i < partitionSeconds.length; i++) {
            if (partitionSeconds[i] < partitionSeconds[least]) {
                least = i;
            }
        }
        partitionSeconds[least] += cost.seconds(bytes, entries);
        return least;
    }
}
