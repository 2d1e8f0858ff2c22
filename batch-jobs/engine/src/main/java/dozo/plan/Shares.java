package dozo.plan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Lots shared out to partitions: evenly, whole, or as already placed; and how long each way takes. */
public record Shares(List<Share> shares) {

    /** The number of pieces of a partition's work here. A run's units are smaller if there is much to send. */
    private static final int PIECES = 10_000;

    /** A cause that adds less than this part of the time is not reported as the bottleneck. */
    private static final double MATTERS = 0.001;

    /**
     * One partition's work.
     *
     * @param seconds the time that one lane needs for it
     */
    public record Share(double bytes, double entries, double seconds) {

        private static final Share NOTHING = new Share(0, 0, 0);

        private Share plus(Share more) {
            return new Share(bytes + more.bytes, entries + more.entries, seconds + more.seconds);
        }

        private Share times(double part) {
            return new Share(bytes * part, entries * part, seconds * part);
        }
    }

    /** What limits the speed. */
    public enum Bottleneck {
        /** More lanes would help. */
        LANES,
        /** The link is full. */
        LINK,
        /** One share is so large that lanes are idle while it is sent. */
        LARGEST_SHARE,
        /** The work that is done once for each experiment takes longer than sending; more lanes would not help. */
        EXPERIMENTS
    }

    /** The duration, and its bottleneck. */
    public record Duration(double seconds, Bottleneck bottleneck) {

        /** Returns the longer of this and another duration; if they are equal, this. */
        Duration orLonger(double otherSeconds, Bottleneck other) {
            return otherSeconds > seconds ? new Duration(otherSeconds, other) : this;
        }
    }

    public Shares {
        shares = List.copyOf(shares);
        if (shares.isEmpty()) {
            throw new IllegalArgumentException("no shares");
        }
    }

    /**
     * Shares lots out as a run does: in pieces, each to the partition with the least so far, the last ones shrinking.
     */
    public static Shares split(List<Lot> lots, int partitions, CostModel cost) {
        double left = lots.stream().mapToDouble(lot -> cost.seconds(lot.work())).sum();
        double pieceMax = left / partitions / PIECES;
        double[] seconds = new double[partitions];
        Share[] shares = shares(partitions);
        for (Lot lot : lots) {
            Share whole = share(lot, cost);
            double rest = whole.seconds();
            while (rest > 0) {
                double piece = Math.min(rest, Math.max(pieceMax / PIECES, Math.min(pieceMax, left / partitions)));
                int least = least(seconds);
                seconds[least] += piece;
                shares[least] = shares[least].plus(whole.times(piece / whole.seconds()));
                rest -= piece;
                left -= piece;
            }
        }
        return new Shares(Arrays.asList(shares));
    }

    /** Shares lots out undivided: the largest first, each to the partition with the least so far. */
    public static Shares whole(List<Lot> lots, int partitions, CostModel cost) {
        double[] seconds = new double[partitions];
        Share[] shares = shares(partitions);
        List<Share> largestFirst = lots.stream()
                .map(lot -> share(lot, cost))
                .sorted(Comparator.comparingDouble(Share::seconds).reversed())
                .toList();
        for (Share share : largestFirst) {
            int least = least(seconds);
            seconds[least] += share.seconds();
            shares[least] = shares[least].plus(share);
        }
        return new Shares(Arrays.asList(shares));
    }

    /** Returns a share for each region, in the order of their first occurrence. */
    public static Shares regions(List<Lot> lots, CostModel cost) {
        Map<String, Share> regions = new LinkedHashMap<>();
        lots.forEach(lot -> regions.merge(lot.region(), share(lot, cost), Share::plus));
        return new Shares(new ArrayList<>(regions.values()));
    }

    /** Returns the largest share as a multiple of the mean; 1 if there is no work. */
    public double largestToIdeal() {
        double sum = shares.stream().mapToDouble(Share::seconds).sum();
        return sum == 0 ? 1 : largest() * shares.size() / sum;
    }

    /** Returns by what part of the mean the largest share exceeds it. */
    public double imbalance() {
        return largestToIdeal() - 1;
    }

    /**
     * Returns the duration if all shares begin at once and each keeps its part of the lanes to its end. A full link
     * slows all shares equally.
     *
     * @param linkBytesPerSecond the capacity of the link; infinite if unknown
     */
    public Duration takes(int lanes, double linkBytesPerSecond) {
        double lanesEach = lanes / (double) shares.size();
        double[] ends = shares.stream()
                .mapToDouble(share -> share.seconds() / lanesEach)
                .sorted()
                .toArray();
        double[] bytesPerSecond = shares.stream()
                .sorted(Comparator.comparingDouble(Share::seconds))
                .mapToDouble(share -> share.seconds() == 0 ? 0 : share.bytes() * lanesEach / share.seconds())
                .toArray();
        double seconds = 0;
        double before = 0;
        for (int i = 0; i < ends.length; i++) {
            double wanted = IntStream.range(i, ends.length)
                    .mapToDouble(j -> bytesPerSecond[j])
                    .sum();
            seconds += (ends[i] - before) * Math.max(1, wanted / linkBytesPerSecond);
            before = ends[i];
        }
        return new Duration(seconds, bottleneck(seconds, before));
    }

    private Bottleneck bottleneck(double seconds, double withoutLink) {
        double byLink = seconds - withoutLink;
        double byImbalance = withoutLink - withoutLink / largestToIdeal();
        if (Math.max(byLink, byImbalance) <= seconds * MATTERS) {
            return Bottleneck.LANES;
        }
        return byLink >= byImbalance ? Bottleneck.LINK : Bottleneck.LARGEST_SHARE;
    }

    private double largest() {
        return shares.stream().mapToDouble(Share::seconds).max().orElseThrow();
    }

    private static Share share(Lot lot, CostModel cost) {
        return new Share((double) lot.work().bytes(), (double) lot.work().entries(), cost.seconds(lot.work()));
    }

    private static Share[] shares(int partitions) {
        if (partitions < 1) {
            throw new IllegalArgumentException("at least one partition, not " + partitions);
        }
        Share[] shares = new Share[partitions];
        Arrays.fill(shares, Share.NOTHING);
        return shares;
    }

    private static int least(double[] seconds) {
        int least = 0;
        for (int i = 1; i < seconds.length; i++) {
            least = seconds[i] < seconds[least] ? i : least;
        }
        return least;
    }
}
