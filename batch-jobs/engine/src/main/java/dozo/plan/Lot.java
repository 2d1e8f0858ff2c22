package dozo.plan;

/**
 * Something to send of which only the sums are known: a project, an experiment.
 *
 * @param region where somebody has placed it already; empty if nobody has
 */
public record Lot(String name, String region, Work work) {}
