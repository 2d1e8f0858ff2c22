package dozo.plan;

import dozo.plan.Shares.Bottleneck;
import dozo.plan.Shares.Share;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A forecast of sending lots: how they are shared out, and how long that takes with a given number of lanes.
 *
 * @param linkBytesPerSecond null if unknown: it then never limits
 * @param ways for each number of lanes first without splitting lots, for comparison, then as a run does it; before them
 *     the regions, if the lots have any
 */
public record Forecast(
        long lots, Work work, CostModel cost, @Nullable Long linkBytesPerSecond, List<Way> ways) {

    /** No forecast covers more lanes or partitions, because no run uses more. */
    public static final int LANES_MAX = 64;

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
     * @throws ArithmeticException if the total exceeds 2⁶³ − 1 bytes
     */
    public static Forecast of(
            List<Lot> lots, CostModel cost, List<Integer> lanes, int partitions, @Nullable Long linkBytesPerSecond) {
        double link = linkBytesPerSecond == null ? Double.POSITIVE_INFINITY : linkBytesPerSecond.doubleValue();
        List<Way> ways = new ArrayList<>();
        if (lots.stream().anyMatch(lot -> !lot.region().isEmpty())) {
            Shares regions = Shares.regions(lots, cost);
            ways.add(way(Sharing.REGIONS, regions, regions.shares().size(), link));
        }
        for (int each : lanes) {
            int parts = partitions == 0 ? each : partitions;
            ways.add(way(Sharing.WHOLE, Shares.whole(lots, parts, cost), each, link));
            ways.add(way(Sharing.SPLIT, Shares.split(lots, parts, cost), each, link));
        }
        Work work = lots.stream().map(Lot::work).reduce(Work.NONE, Work::plus);
        return new Forecast(lots.size(), work, cost, linkBytesPerSecond, ways);
    }

    private static Way way(Sharing sharing, Shares shares, int lanes, double link) {
        Shares.Duration takes = shares.takes(lanes, link);
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
