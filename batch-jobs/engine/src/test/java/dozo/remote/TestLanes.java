package dozo.remote;

import java.time.Duration;

/** Lanes that tests of other rooms cannot have otherwise. */
public final class TestLanes {

    private TestLanes() {}

    /** Lanes that are closed when they owe an answer for so long while another answers. */
    public static Lanes impatient(SiteAddress site, int lanes, Duration silenceAloneMax) {
        return new Lanes(site, lanes, 1, false, silenceAloneMax);
    }
}
