package dozo.plan;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What restoring from a site costs, learnt from restores there: seconds = start + bytes / rate + entries × cost per
 * entry. Its range is that of its own errors: each restore is forecast from all others, and compared with its time.
 *
 * @param startSeconds from the start of a restore to its first byte
 * @param model of the time after that
 * @param fastest the share of a forecast that a quick restore took, at most 1
 * @param slowest the share of a forecast that a slow restore took, at least 1
 * @param restores the number of restores it was learnt from
 * @param largest the largest amounts among them
 */
public record RestoreCost(
        double startSeconds, CostModel model, double fastest, double slowest, int restores, Work largest) {

    /** With fewer, the range would be a guess. */
    public static final int RESTORES_MIN = 5;

    /** One restore in ten may have been quicker than the range, and one in ten slower. */
    private static final double TRUSTED = 0.9;

    /** A forecast of more than this many times what was measured is marked. */
    private static final int KNOWN_FACTOR = 10;

    /** Shorter than any restore: a measurement needs a duration. */
    private static final double SECONDS_MIN = 0.001;

    /**
     * A restore that was measured.
     *
     * @param work what was restored and verified, at least one entry
     * @param startSeconds from its start to its first byte
     * @param seconds from its start to its end
     */
    public record Measured(Work work, double startSeconds, double seconds) {

        private Measurement after(double start) {
            return new Measurement(work, 1, Math.max(SECONDS_MIN, seconds - start));
        }
    }

    /**
     * How long restoring takes, as a forecast.
     *
     * @param leastSeconds the lower end of the range, {@code mostSeconds} the upper
     * @param beyond whether it is about more than ten times what was ever measured
     */
    public record RestoreTime(double seconds, double leastSeconds, double mostSeconds, boolean beyond) {}

    /** Returns the cost; empty with fewer than {@value #RESTORES_MIN} restores. */
    public static Optional<RestoreCost> of(List<Measured> restores) {
        if (restores.size() < RESTORES_MIN) {
            return Optional.empty();
        }
        List<Double> shares = new ArrayList<>();
        for (int i = 0; i < restores.size(); i++) {
            List<Measured> others = new ArrayList<>(restores);
            Measured left = others.remove(i);
            shares.add(left.seconds / fit(others, 1, 1).seconds(1, left.work));
        }
        shares.sort(Comparator.naturalOrder());
        int untrusted = shares.size() - (int) Math.ceil(TRUSTED * shares.size());
        return Optional.of(fit(
                restores, Math.min(1, shares.get(untrusted)), Math.max(1, shares.get(shares.size() - 1 - untrusted))));
    }

    private static RestoreCost fit(List<Measured> restores, double fastest, double slowest) {
        double start =
                restores.stream().map(Measured::startSeconds).sorted().toList().get(restores.size() / 2);
        CostModel model =
                ReadingCost.fit(restores.stream().map(each -> each.after(start)).toList());
        Work largest = new Work(
                restores.stream().mapToLong(each -> each.work.bytes()).max().orElse(0),
                restores.stream().mapToLong(each -> each.work.entries()).max().orElse(0));
        return new RestoreCost(start, model, fastest, slowest, restores.size(), largest);
    }

    /**
     * Returns the forecast for restores one after the other.
     *
     * @param count the number of restores
     * @param work of all of them together
     */
    public RestoreTime of(long count, Work work) {
        double seconds = seconds(count, work);
        return new RestoreTime(
                seconds,
                seconds * fastest,
                seconds * slowest,
                work.bytes() / KNOWN_FACTOR > largest.bytes() || work.entries() / KNOWN_FACTOR > largest.entries());
    }

    private double seconds(long count, Work work) {
        return count * startSeconds + model.seconds(work);
    }
}
