package dozo.plan;

import dozo.file.Entry;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Cuts entries into transfer units as they come and gives each unit to the partition with the least to do so far. Units
 * are small, so partitions end up within one unit of each other, whatever the directory tree looks like. Keeps one
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
     * @param rangeBytes the length of a range; files longer than two of them are sent as ranges
     */
    public record Limits(long bundleBytesMax, int bundleEntriesMax, long rangeBytes) {

        public static final Limits DEFAULT = new Limits(32L << 20, 1_000, 64L << 20);

        public Limits {
            if (bundleBytesMax < 1 || bundleEntriesMax < 1 || rangeBytes < 1) {
                throw new IllegalArgumentException("limits are positive");
            }
        }

        boolean large(long sizeBytes) {
            return sizeBytes > 2 * rangeBytes;
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
            ranges(entry, units);
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
        units.accept(new PlannedUnit(UnitKind.BUNDLE, Arrays.copyOf(bundle, bundleEntries), 0, bundleBytes, partition));
        bundleEntries = 0;
        bundleBytes = 0;
    }

    /** What a partition has to do so far, in seconds of one lane. */
    public double seconds(int partition) {
        return partitionSeconds[partition];
    }

    private void ranges(Entry entry, Consumer<PlannedUnit> units) {
        long size = entry.facts().sizeBytes();
        int[] number = {entry.number()};
        for (long offset = 0; offset < size; offset += limits.rangeBytes()) {
            long length = Math.min(limits.rangeBytes(), size - offset);
            units.accept(new PlannedUnit(UnitKind.RANGE, number, offset, length, charge(length, 1)));
        }
        units.accept(new PlannedUnit(UnitKind.WHOLE, number, 0, size, charge(0, 1)));
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
