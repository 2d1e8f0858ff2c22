package dozo.plan;

/**
 * Something to send of which only the sums are known: a project, an experiment.
 *
 * @param region where somebody has put it already; empty when nobody has
 */
public record Lot(String name, String region, Work work) {}
