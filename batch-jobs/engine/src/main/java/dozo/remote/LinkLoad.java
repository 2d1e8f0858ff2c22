package dozo.remote;

/**
 * What the lanes to a site do at a moment. One sample says little; several say what holds the data up.
 *
 * @param lanes open lanes
 * @param writing those whose connection is taking data; if nearly all of them nearly always are, it takes no more
 * @param unanswered requests without an answer
 * @param answers answers so far. Those of a closed lane are no longer counted
 * @param bytes moved so far, of the same lanes
 * @param windowBytes what the site's windows allow to be under way at once
 * @param roundTripNanos how long one request and its answer took while nothing else was in flight; 0 without lanes
 * @param serverNanos how long the SSH server itself needs for an answer now, behind the data on its way; 0: unknown
 */
public record LinkLoad(
        int lanes,
        int writing,
        int unanswered,
        long answers,
        long bytes,
        long windowBytes,
        long roundTripNanos,
        long serverNanos) {

    public static final LinkLoad NONE = new LinkLoad(0, 0, 0, 0, 0, 0, 0, 0);

    /** Returns what two sets of lanes do together; the round trip is the shorter one, the answer the later one. */
    LinkLoad and(LinkLoad other) {
        return new LinkLoad(
                lanes + other.lanes,
                writing + other.writing,
                unanswered + other.unanswered,
                answers + other.answers,
                bytes + other.bytes,
                windowBytes + other.windowBytes,
                lanes == 0 ? other.roundTripNanos : Math.min(roundTripNanos, other.roundTripNanos),
                Math.max(serverNanos, other.serverNanos));
    }
}
