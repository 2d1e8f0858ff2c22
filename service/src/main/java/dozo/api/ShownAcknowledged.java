package dozo.api;

/**
 * The result of acknowledging many findings.
 *
 * @param acknowledged how many are acknowledged now and were not before
 */
public record ShownAcknowledged(int acknowledged) {}
