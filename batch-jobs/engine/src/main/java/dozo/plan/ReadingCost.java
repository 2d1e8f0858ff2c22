package dozo.plan;

import java.util.List;
import java.util.Optional;

/** The cost of reading at a site, learnt from measurements there; never faster than most of them. */
public final class ReadingCost {

    /** The share of the measurements that were no slower than the result: one in ten may have been a bad hour. */
    private static final double TRUSTED = 0.9;

    /**
     * How often the fit is repeated from its own result, because a disk's cost per file is far from the cost of sending
     * one.
     */
    private static final int FITS = 20;

    private ReadingCost() {}

    /**
     * Returns the cost of reading with all lanes of a scrub, as if they were one; empty without measurements, because
     * nothing is assumed.
     *
     * @param measurements each as if of one lane
     */
    public static Optional<CostModel> of(List<Measurement> measurements) {
        if (measurements.isEmpty()) {
            return Optional.empty();
        }
        CostModel fitted = fit(measurements);
        double[] slower = measurements.stream()
                .mapToDouble(each -> each.laneSeconds() / fitted.seconds(each.work()))
                .sorted()
                .toArray();
        double slow = Math.max(1, slower[(int) Math.ceil(TRUSTED * slower.length) - 1]);
        return Optional.of(new CostModel(
                Math.max(CostModel.BYTES_PER_SECOND_MIN, fitted.bytesPerSecond() / slow),
                Math.min(CostModel.SECONDS_PER_ENTRY_MAX, fitted.secondsPerEntry() * slow)));
    }

    /** Returns the cost fitted to the measurements alone: nothing is assumed about the site. */
    static CostModel fit(List<Measurement> measurements) {
        CostModel model = CostModel.DEFAULT;
        for (int i = 0; i < FITS; i++) {
            model = CostFit.of(model, measurements);
        }
        return model;
    }
}
