package dozo.plan;

import dozo.file.Entry;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Cuts entries into transfer units as they come and assigns the units to partitions, independently of the directory
 * tree (ADR 0018). A bundle goes to the partition with the least work so far. A large file is sent over all lanes at
 * once, so it is equally work of every partition, whichever of them claims it. No partition has more than 1 % more work
 * than the mean, or than the mean and one file of 1 MiB if that is more. Keeps one bundle in memory, however many
 * entries there are. Not thread-safe.
 */
public final class Planner {

    /** By how much of the mean the largest partition may exceed it. */
    static final double IMBALANCE_MAX = 0.01;

    /** Files up to this size are never large, however little work there is: a unit costs more than they do. */
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
     * @param bundleBytesMax a bundle is closed before a file that would take it above this
     * @param bundleEntriesMax the limit of entries in a bundle
     * @param largeBytes longer files are large: each is a unit of its own, sent as ranges. Shorter ones may be large if
     *     they would unbalance the plan
     */
    public record Limits(long bundleBytesMax, int bundleEntriesMax, long largeBytes) {

        public Limits {
            if (bundleBytesMax < 1 || bundleEntriesMax < 1 || largeBytes < 1) {
                throw new IllegalArgumentException("limits must be positive");
            }
        }

        /** Returns the seconds of the most expensive unit that is not a large file. */
        double unitSeconds(CostModel cost) {
            return Math.max(cost.seconds(bundleBytesMax, bundleEntriesMax), cost.seconds(largeBytes, 1));
        }
    }

    /** Answers questions about the entries before they come. */
    public interface FirstPass {
        /** Returns the sum of the coming entries up to this size. */
        Work upTo(long sizeBytes);
    }

    /** Creates a planner that expects a lot of work: units are cut at their limits. */
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

    /** Creates a planner that expects this much work. */
    public Planner(int partitions, Limits limits, CostModel cost, Work total, FirstPass firstPass) {
        this(partitions, limits, cost);
        expect(total, firstPass);
    }

    /** Cuts all further units at the limits, without regard to balance at the end. */
    public void expectPlenty() {
        smallBytes = limits.largeBytes();
        smallSeconds = cost.seconds(smallBytes, 1);
        smallSecondsLeft = Double.POSITIVE_INFINITY;
    }

    /**
     * Cuts further units so finely that the work is balanced at the end.
     *
     * @param total the expected work; a wrong value only costs balance
     * @param firstPass asked at most once, and only if there is so little work that units must be cut finer: below
     *     about 70 GB for four partitions and usual limits
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

    /** Adds one entry. Passes on the units that are complete with it. */
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

    /** Returns a unit of further names of files. They are work by their number; their content is sent only once. */
    public PlannedUnit links(int[] entryNumbers) {
        int partition = least(bundleSeconds);
        bundleSeconds[partition] += cost.seconds(0, entryNumbers.length);
        return new PlannedUnit(UnitKind.LINKS, entryNumbers, 0, partition);
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

    /**
     * Returns the work of a partition so far, in seconds of one lane: its bundles, and its share of all large files.
     */
    public double seconds(int partition) {
        return bundleSeconds[partition] + largeSecondsSum / bundleSeconds.length;
    }

    /** Returns by what part of the mean the largest partition exceeds it; 0 if there is no work. */
    public double imbalance() {
        double mean = (Arrays.stream(bundleSeconds).sum() + largeSecondsSum) / bundleSeconds.length;
        double most = Arrays.stream(bundleSeconds).max().orElseThrow() + largeSecondsSum / bundleSeconds.length;
        return mean == 0 ? 0 : most / mean - 1;
    }

    /**
     * Returns the limit for a unit's cost. While it is no more than an equal part of the small files still to come,
     * they will level any imbalance. After that, the cost of one small file is the least possible limit.
     */
    private double unitSecondsMax() {
        return Math.max(smallSeconds, smallSecondsLeft / bundleSeconds.length);
    }

    /**
     * Assigns a large file. Any partition could claim it; it goes to the one with the fewest, so that no worker waits
     * for all of them.
     */
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
