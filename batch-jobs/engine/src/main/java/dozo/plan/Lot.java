package dozo.plan;

/**
 * Something to send of which only the sums are known: a project, an experiment.
 *
 * @param region where somebody has placed it already; empty if nobody has
 * @param experiments the number of experiments; 0 if unknown
 */
public record Lot(String name, String region, long experiments, Work work) {

    public Lot {
        if (experiments < 0) {
            throw new IllegalArgumentException("experiments must not be negative: " + experiments);
        }
    }
}
