package dozo.plan;

import dozo.file.Entry;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Cuts entries into transfer units as they come and shares the units out to partitions, whatever the directory tree looks
 * like (ADR 0018). A bundle goes to the partition with the least to do so far; a large file goes over all lanes at once, so it
 * is work of every partition alike, whichever of them claims it. No partition has more than 1 % more to do than the mean, or
 * than the mean and one file of 1 MiB where that is more. Keeps one bundle in memory, however many entries there are. Not
 * thread-safe.
 */
public final class Planner {

    /** By how much of the mean the largest partition may exceed it. */
    static final double IMBALANCE_MAX = 0.01;

    /** Files up to this size are never large, however little there is to do: a unit costs more than they weigh. */
    static final long SMALL_BYTES_MIN = 1 << 20;

    private final Limits limits;
    private final CostModel cost;
    private final double[] bundleSeconds;
    private final double[] largeSeconds;
    private long smallBytes;
    private double smallSeconds;
    private double smallSecondsLeft;
    private double largeSecondsSum;

    private int[] bundle;
    private int openEntries;
    private long openBytes;
    private double openSeconds;
    private double openSecondsMax;

    /**
     * How units are cut.
     *
     * @param bundleBytesMax a bundle is closed when the next file would take it above this
     * @param bundleEntriesMax and when it has this many entries
     * @param largeBytes files longer than this are large: a unit each, sent as ranges. Shorter ones may be, where they would
     *     unbalance the plan
     */
    public record Limits(long bundleBytesMax, int bundleEntriesMax, long largeBytes) {

        public Limits {
            if (bundleBytesMax < 1 || bundleEntriesMax < 1 || largeBytes < 1) {
                throw new IllegalArgumentException("limits are positive");
            }
        }

        /** Seconds of the most expensive unit that is no large file. */
        double unitSeconds(CostModel cost) {
            return Math.max(cost.seconds(bundleBytesMax, bundleEntriesMax), cost.seconds(largeBytes, 1));
        }
    }

    /** What is told of the entries before they come. */
    public interface FirstPass {
        /** The sum of the entries that are to come and are no longer than this. */
        Work upTo(long sizeBytes);
    }

    /** A planner that expects plenty: units are cut at their limits. */
    public Planner(int partitions, Limits limits, CostModel cost) {
        if (partitions < 1) {
            throw new IllegalArgumentException("at least one partition, not " + partitions);
        }
        this.limits = limits;
        this.cost = cost;
        this.bundleSeconds = new double[partitions];
        this.largeSeconds = new double[partitions];
        this.bundle = new int[limits.bundleEntriesMax()];
        expectPlenty();
    }

    /** A planner that expects so much. */
    public Planner(int partitions, Limits limits, CostModel cost, Work total, FirstPass firstPass) {
        this(partitions, limits, cost);
        expect(total, firstPass);
    }

    /** Has what comes next cut at the limits, however it ends. */
    public void expectPlenty() {
        smallBytes = limits.largeBytes();
        smallSeconds = cost.seconds(smallBytes, 1);
        smallSecondsLeft = Double.POSITIVE_INFINITY;
    }

    /**
     * Has what comes next cut so finely that it ends in balance.
     *
     * @param total what is to come, as far as is known; wrong, it costs balance and nothing else
     * @param firstPass asked at most once, and only when so little is to come that units must be cut finer for it: below about 70
     *     GB for four partitions and usual limits
     */
    public void expect(Work total, FirstPass firstPass) {
        int partitions = bundleSeconds.length;
        double unitSecondsMax = IMBALANCE_MAX * cost.seconds(total) / partitions;
        if (partitions == 1 || limits.unitSeconds(cost) <= unitSecondsMax) {
            expectPlenty();
            return;
        }
        double withoutEntry = (unitSecondsMax - cost.secondsPerEntry()) * cost.bytesPerSecond();
        smallBytes = Math.min(limits.largeBytes(), Math.max(SMALL_BYTES_MIN, (long) withoutEntry));
        smallSeconds = cost.seconds(smallBytes, 1);
        smallSecondsLeft = cost.seconds(firstPass.upTo(smallBytes));
    }

    /** Takes one entry; hands over the units that are finished with it. */
    public void add(Entry entry, Consumer<PlannedUnit> units) {
        long size = entry.facts().sizeBytes();
        double seconds = cost.seconds(size, 1);
        boolean small = size <= smallBytes;
        if (size > limits.largeBytes() || (!small && seconds > unitSecondsMax())) {
            int[] number = {entry.number()};
            units.accept(new PlannedUnit(UnitKind.LARGE, number, size, chargeAll(seconds)));
            return;
        }
        if (openEntries > 0 && (openBytes + size > limits.bundleBytesMax() || openSeconds + seconds > openSecondsMax)) {
            flush(units);
        }
        if (openEntries == 0) {
            openSecondsMax = unitSecondsMax();
        }
        bundle[openEntries++] = entry.number();
        openBytes += size;
        openSeconds += seconds;
        smallSecondsLeft -= small ? seconds : 0;
        if (openEntries == bundle.length) {
            flush(units);
        }
    }

    /** Closes the open bundle: at the end, and wherever units must not be shared. */
    public void flush(Consumer<PlannedUnit> units) {
        if (openEntries == 0) {
            return;
        }
        int partition = least(bundleSeconds);
        bundleSeconds[partition] += openSeconds;
        units.accept(new PlannedUnit(UnitKind.BUNDLE, Arrays.copyOf(bundle, openEntries), openBytes, partition));
        openEntries = 0;
        openBytes = 0;
        openSeconds = 0;
    }

    /** What a partition has to do so far, in seconds of one lane: its bundles, and its share of all large files. */
    public double seconds(int partition) {
        return bundleSeconds[partition] + largeSecondsSum / bundleSeconds.length;
    }

    /** By what part of the mean the largest partition exceeds it. 0 when there is nothing to do. */
    public double imbalance() {
        double mean = (Arrays.stream(bundleSeconds).sum() + largeSecondsSum) / bundleSeconds.length;
        double most = Arrays.stream(bundleSeconds).max().orElseThrow() + largeSecondsSum / bundleSeconds.length;
        return mean == 0 ? 0 : most / mean - 1;
    }

    /**
     * How much a unit may cost: as long as this is no more than an equal part of what small files are still to bring, they
     * will level what it leaves uneven. Behind that, one small file's worth is the least that can be promised.
     */
    private double unitSecondsMax() {
        return Math.max(smallSeconds, smallSecondsLeft / bundleSeconds.length);
    }

    /** Any partition could claim it; the one with the least of this kind does, so that no worker waits for all of them. */
    private int chargeAll(double seconds) {
        int partition = least(largeSeconds);
        largeSeconds[partition] += seconds;
        largeSecondsSum += seconds;
        return partition;
    }

    private static int least(double[] seconds) {
        int least = 0;
        for (int i = 1; i < seconds.length; i++) {
            if (seconds[i] < seconds[least]) {
                least = i;
            }
        }
        return least;
    }
}
