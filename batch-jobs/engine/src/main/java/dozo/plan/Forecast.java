package dozo.plan;

import dozo.plan.Shares.Bottleneck;
import dozo.plan.Shares.Share;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A forecast of sending lots: how they are shared out, and how long that takes with a given number of lanes.
 *
 * @param experiments the number of experiments in the lots; 0 if unknown
 * @param linkBytesPerSecond null if unknown: it then never limits
 * @param ways for each number of lanes first without splitting lots, for comparison, then as a run does it; before them
 *     the regions, if the lots have any
 */
public record Forecast(
        long lots,
        long experiments,
        Work work,
        CostModel cost,
        @Nullable Long linkBytesPerSecond,
        Parts parts,
        List<Way> ways) {

    /** No forecast covers more lanes or partitions, because no run uses more. */
    public static final int LANES_MAX = 64;

    /**
     * The parts of the time. More lanes shorten those of one lane only.
     *
     * @param bytesLaneSeconds the time that one lane needs for the bytes
     * @param entriesLaneSeconds the time that one lane needs for the files, folders and links, besides their bytes
     * @param experimentsSeconds the time for what is done once for each experiment, with any number of lanes
     */
    public record Parts(double bytesLaneSeconds, double entriesLaneSeconds, double experimentsSeconds) {}

    /** How lots are shared out. */
    public enum Sharing {
        /** As already placed: a partition for each region. */
        REGIONS,
        /** Each lot undivided, the largest first. */
        WHOLE,
        /** Split inside lots. */
        SPLIT
    }

    /**
     * One way to share them out.
     *
     * @param largestToIdeal the largest partition as a multiple of the mean
     * @param imbalance the same minus 1
     */
    public record Way(
            Sharing sharing,
            int lanes,
            double largestToIdeal,
            double imbalance,
            double seconds,
            Bottleneck bottleneck,
            List<Share> partitions) {}

    /**
     * Makes a forecast.
     *
     * @param partitions 0: as many as lanes
     * @throws ArithmeticException if the total exceeds 2⁶³ − 1 bytes, entries or experiments
     */
    public static Forecast of(
            List<Lot> lots, CostModel cost, List<Integer> lanes, int partitions, @Nullable Long linkBytesPerSecond) {
        double link = linkBytesPerSecond == null ? Double.POSITIVE_INFINITY : linkBytesPerSecond.doubleValue();
        Work work = lots.stream().map(Lot::work).reduce(Work.NONE, Work::plus);
        long experiments = lots.stream().mapToLong(Lot::experiments).reduce(0, Math::addExact);
        Parts parts = new Parts(
                cost.seconds(work.bytes(), 0),
                cost.seconds(0, work.entries()),
                experiments * CostModel.SECONDS_PER_EXPERIMENT);
        List<Way> ways = new ArrayList<>();
        if (lots.stream().anyMatch(lot -> !lot.region().isEmpty())) {
            Shares regions = Shares.regions(lots, cost);
            ways.add(way(Sharing.REGIONS, regions, regions.shares().size(), link, parts));
        }
        for (int each : lanes) {
            int shares = partitions == 0 ? each : partitions;
            ways.add(way(Sharing.WHOLE, Shares.whole(lots, shares, cost), each, link, parts));
            ways.add(way(Sharing.SPLIT, Shares.split(lots, shares, cost), each, link, parts));
        }
        return new Forecast(lots.size(), experiments, work, cost, linkBytesPerSecond, parts, ways);
    }

    private static Way way(Sharing sharing, Shares shares, int lanes, double link, Parts parts) {
        Shares.Duration takes = shares.takes(lanes, link).orLonger(parts.experimentsSeconds(), Bottleneck.EXPERIMENTS);
        return new Way(
                sharing,
                lanes,
                shares.largestToIdeal(),
                shares.imbalance(),
                takes.seconds(),
                takes.bottleneck(),
                shares.shares());
    }
}
