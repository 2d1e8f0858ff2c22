package dozo.plan;

/**
 * The measured duration of one sending.
 *
 * @param work what was sent and verified, at least one entry
 * @param lanes the number of lanes, 1 to 64
 * @param seconds the duration, from the first to the last, above 0
 */
public record Measurement(Work work, int lanes, double seconds) {

    private static final int LANES_MAX = 64;

    public Measurement {
        if (work.entries() < 1
                || lanes < 1
                || lanes > LANES_MAX
                || !(seconds > 0)
                || seconds == Double.POSITIVE_INFINITY) {
            throw new IllegalArgumentException(
                    "invalid measurement: %s, %d lanes, %s s".formatted(work, lanes, seconds));
        }
    }

    /** Returns the measured time as a multiple of the one that a model predicts. */
    public double factor(CostModel model) {
        return laneSeconds() / model.seconds(work);
    }

    double laneSeconds() {
        return lanes * seconds;
    }
}
