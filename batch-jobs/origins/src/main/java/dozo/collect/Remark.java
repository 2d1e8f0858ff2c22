package dozo.collect;

/**
 * A word about something in an origin: that it is missing here and why, or something else that is worth it.
 *
 * @param name for people, without control characters; no subject's name
 * @param id the thing's in the origin
 * @param reason a word in capitals, as {@code DENIED}
 * @param message says more, and nothing secret
 */
public record Remark(String name, String id, String reason, String message) {}
