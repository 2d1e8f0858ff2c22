package dozo.ui;

import dozo.run.Limit;
import dozo.run.Runs.Run;
import dozo.transfer.TransferUnits.PartitionProgress;
import dozo.transfer.TransferUnits.Progress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a run at a moment, as far as the viewer may see it.
 *
 * @param entriesDone number of proven files, folders and links; for a scrub, of those read
 * @param bytes bytes planned so far; 0 for a scrub, which reads until it is stopped
 * @param bytesMoved bytes of those planned that have probably arrived, verified or not
 * @param lanes lanes that are open now; null if the viewer may not see them
 * @param rate null if not known yet
 * @param limit the bottleneck; null if not known yet, or if no units are under way
 */
record RunSample(
        Run run,
        long units,
        long unitsDone,
        long unitsFailed,
        long entriesDone,
        long bytes,
        long bytesDone,
        long bytesMoved,
        List<PartitionProgress> partitions,
        @Nullable List<Lane> lanes,
        @Nullable Rate rate,
        @Nullable Limit limit) {

    /** Maximum number of partitions that are shown one by one. */
    static final int PARTITIONS_SHOWN = 24;

    /** The rate over the last seconds. */
    record Rate(double bytesPerSecond, double entriesPerSecond) {}

    /**
     * An open lane.
     *
     * @param bytes bytes that it has carried so far
     * @param bytesPerSecond rate over the last seconds; null if not known yet
     */
    record Lane(int number, long bytes, @Nullable Double bytesPerSecond) {}

    /** Returns the sample with values that need several observations. */
    RunSample with(@Nullable List<Lane> lanes, @Nullable Rate rate, @Nullable Limit limit) {
        return new RunSample(
                run,
                units,
                unitsDone,
                unitsFailed,
                entriesDone,
                bytes,
                bytesDone,
                bytesMoved,
                partitions,
                lanes,
                rate,
                limit);
    }

    /** Returns a lane's rate in percent of the fastest one. */
    public int shareOf(Lane of) {
        double fastest = lanes == null
                ? 0
                : lanes.stream().mapToDouble(RunSample::rateOf).max().orElse(0);
        return fastest < 1 ? 0 : (int) Math.round(100 * rateOf(of) / fastest);
    }

    private static double rateOf(Lane lane) {
        return lane.bytesPerSecond == null ? 0 : lane.bytesPerSecond;
    }

    /** Lists the unfinished partitions, at most {@link #PARTITIONS_SHOWN}. */
    public List<PartitionProgress> unfinished() {
        return partitions.stream()
                .filter(each -> each.unitsDone() < each.units())
                .limit(PARTITIONS_SHOWN)
                .toList();
    }

    public long partitionsDone() {
        return partitions.stream()
                .filter(each -> each.unitsDone() == each.units())
                .count();
    }

    /** Returns the verified share in percent. */
    public int share() {
        return progress().percent();
    }

    /** Returns the share that has been moved in percent, at least what is verified. */
    public int shareMoved() {
        return progress().percentMoved();
    }

    private Progress progress() {
        return new Progress(units, unitsDone, unitsFailed, entriesDone, bytes, bytesDone, bytesMoved);
    }

    /** Returns the verified share of a partition in percent. */
    public int shareOf(PartitionProgress of) {
        return of.progress().percent();
    }

    /**
     * Returns how long the remaining planned bytes take at the present rate; empty if unknown, or if nothing is left.
     */
    public Optional<Duration> left() {
        return rate == null || rate.bytesPerSecond < 1 || bytes <= bytesMoved
                ? Optional.empty()
                : Optional.of(Duration.ofSeconds((long) Math.ceil((bytes - bytesMoved) / rate.bytesPerSecond)));
    }
}
