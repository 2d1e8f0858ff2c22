package dozo.remote;

import java.time.Duration;

/** Creates lanes that tests of other rooms have no access to. */
public final class TestLanes {

    private TestLanes() {}

    /** Returns lanes that are closed if an answer is overdue for this long while another lane answers. */
    public static Lanes impatient(SiteAddress site, int lanes, Duration silenceAloneMax) {
        return new Lanes(site, lanes, 1, false, silenceAloneMax);
    }
}
