package dozo.remote;

import java.time.Duration;

/** Creates lanes that tests of other rooms have no access to. */
public final class TestLanes {

    private TestLanes() {}

    /** Returns lanes that are closed if an answer is overdue for this long while another lane answers. */
    public static Lanes impatient(SiteAddress site, int lanes, Duration silenceAloneMax) {
        return new Lanes(site, lanes, 1, null, silenceAloneMax, Duration.ofMinutes(1));
    }

    /** Returns lanes whose numbers may be changed, and which are closed after so long without use if they are too many. */
    static Lanes changeable(SiteAddress site, int lanes, int channels, Duration idleMin) {
        return new Lanes(site, lanes, channels, null, Duration.ofMinutes(2), idleMin);
    }
}
