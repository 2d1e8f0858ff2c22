package dozo.plan;

import java.util.List;
import java.util.Optional;

/** What reading at a site costs, learnt from what it took there; never faster than most of it was. */
public final class ReadingCost {

    /** The part of the measurements that took no longer than what is said: one in ten may have been a bad hour. */
    private static final double TRUSTED = 0.9;

    /** How often the fit begins again with what it found: a disk's cost of a file is far from that of sending one. */
    private static final int FITS = 20;

    private ReadingCost() {}

    /**
     * The cost of reading with all lanes that a scrub has, as one: empty where nothing was measured, for nothing is assumed.
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

    private static CostModel fit(List<Measurement> measurements) {
        CostModel model = CostModel.DEFAULT;
        for (int i = 0; i < FITS; i++) {
            model = CostFit.of(model, measurements);
        }
        return model;
    }
}
