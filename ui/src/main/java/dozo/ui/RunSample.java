package dozo.ui;

import dozo.run.Runs.Run;
import dozo.transfer.TransferUnits.PartitionProgress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How far a run is at a moment, as far as somebody may see it.
 *
 * @param entriesDone files, folders and links that are proven; of a scrub, that are read
 * @param bytes planned so far; 0 of a scrub, which reads until it is told to stop
 * @param lanes that are open now; null: not to be seen
 * @param rate null: not known yet
 * @param limit what it waits for most; null: not known yet, or nothing is on its way
 */
record RunSample(
        Run run,
        long units,
        long unitsDone,
        long unitsFailed,
        long entriesDone,
        long bytes,
        long bytesDone,
        List<PartitionProgress> partitions,
        @Nullable List<Lane> lanes,
        @Nullable Rate rate,
        @Nullable Limit limit) {

    /** As many as are shown one by one. */
    static final int PARTITIONS_SHOWN = 24;

    /** How fast it is, over the last seconds. */
    record Rate(double bytesPerSecond, double entriesPerSecond) {}

    /**
     * A lane that is open.
     *
     * @param bytes that went over it so far
     * @param bytesPerSecond over the last seconds; null: not known yet
     */
    record Lane(int number, long bytes, @Nullable Double bytesPerSecond) {}

    /** The same with what takes several looks. */
    RunSample with(@Nullable List<Lane> lanes, @Nullable Rate rate, @Nullable Limit limit) {
        return new RunSample(
                run, units, unitsDone, unitsFailed, entriesDone, bytes, bytesDone, partitions, lanes, rate, limit);
    }

    /** How fast a lane is, in percent of the fastest. */
    public int shareOf(Lane of) {
        double fastest = lanes == null
                ? 0
                : lanes.stream().mapToDouble(RunSample::rateOf).max().orElse(0);
        return fastest < 1 ? 0 : (int) Math.round(100 * rateOf(of) / fastest);
    }

    private static double rateOf(Lane lane) {
        return lane.bytesPerSecond == null ? 0 : lane.bytesPerSecond;
    }

    /** Those that are not finished, at most {@link #PARTITIONS_SHOWN}. */
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

    /** In percent, cut off: 100 only if all is done. */
    public int share() {
        return share(unitsDone, units, bytesDone, bytes);
    }

    /** How far a partition is, in percent. */
    public int shareOf(PartitionProgress of) {
        return share(of.unitsDone(), of.units(), of.bytesDone(), of.bytes());
    }

    private static int share(long unitsDone, long units, long bytesDone, long bytes) {
        if (units > 0 && unitsDone == units) {
            return 100;
        }
        return bytes == 0 ? 0 : (int) Math.min(99, 100.0 * bytesDone / bytes);
    }

    /** How long what is planned so far takes at the present rate; empty: not known, or nothing is left. */
    public Optional<Duration> left() {
        return rate == null || rate.bytesPerSecond < 1 || bytes <= bytesDone
                ? Optional.empty()
                : Optional.of(Duration.ofSeconds((long) Math.ceil((bytes - bytesDone) / rate.bytesPerSecond)));
    }
}
