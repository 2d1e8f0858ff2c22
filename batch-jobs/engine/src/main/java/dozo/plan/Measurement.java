package dozo.plan;

/**
 * What sending took once.
 *
 * @param work what was sent and proven, at least one entry
 * @param lanes over how many lanes, 1 to 64
 * @param seconds how long it took, from the first to the last, above 0
 */
public record Measurement(Work work, int lanes, double seconds) {

    private static final int LANES_MAX = 64;

    public Measurement {
        if (work.entries() < 1
                || lanes < 1
                || lanes > LANES_MAX
                || !(seconds > 0)
                || seconds == Double.POSITIVE_INFINITY) {
            throw new IllegalArgumentException("no measurement: %s, %d lanes, %s s".formatted(work, lanes, seconds));
        }
    }

    double laneSeconds() {
        return lanes * seconds;
    }
}
