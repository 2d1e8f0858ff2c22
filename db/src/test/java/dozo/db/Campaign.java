package dozo.db;

/**
 * The length of the tests with the tag {@code campaign}: the usual one in the suite, a multiple of it with
 * {@code ./dozo campaign TIMES}.
 *
 * <p>These tests search for unknown defects with kills, random names, random bytes and generated requests, so a longer run finds
 * more. Each of them prints its counts or its seed.
 */
public final class Campaign {

    /** The JUnit tag of these tests. */
    public static final String TAG = "campaign";

    /** The multiple, 1 or more. NB: the property must not begin with {@code dozo.}: the service refuses unknown settings. */
    public static final int TIMES = Math.max(1, Integer.getInteger("campaign.times", 1));

    private Campaign() {}

    /** Returns the number of repetitions of what the suite repeats {@code usual} times. */
    public static int times(int usual) {
        return Math.multiplyExact(usual, TIMES);
    }
}
