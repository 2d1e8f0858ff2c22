package dozo.db;

/**
 * How long the tests with the tag {@code campaign} go on: once in the suite, longer by {@code ./dozo campaign TIMES}.
 *
 * <p>These tests look for what nobody thought of (kills, random names, random bytes, generated requests), so more of the same
 * finds more. All of them print what they did.
 */
public final class Campaign {

    /** The tag of such a test. */
    public static final String TAG = "campaign";

    /** How many times as long as usual: 1 or more. NB: not named as a setting of Dozo, which would be refused. */
    public static final int TIMES = Math.max(1, Integer.getInteger("campaign.times", 1));

    private Campaign() {}

    /** Returns how often something is to be done that the suite does {@code usual} times. */
    public static int times(int usual) {
        return Math.multiplyExact(usual, TIMES);
    }
}
