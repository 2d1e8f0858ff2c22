package dozo.remote;

/** Why lanes and channels were chosen, changed or kept. */
public enum TuningReason {
    /** The first choice, by the round trip and a rate of 1.5 Gbit/s. */
    ASSUMED_RATE,

    /** The first choice, by the round trip and the rate that the site carried before. */
    EARLIER_RATE,

    /** The first choice, as {@link TuningGrid} has measured. */
    TUNED,

    /** The channels could carry at least twice the measured rate, so that no more are needed. */
    ENOUGH,

    /** The channels' windows may be the limit, so that more are tried. */
    WINDOWS,

    /** Over a long distance, lost packets may hold each connection back, so that more are tried. */
    LOSS,

    /** After a drop the rate has risen again, so that more are tried. */
    RISEN,

    /** More are tried again after a while, because links change. */
    AGAIN,

    /** More were faster by at least a tenth, so that they are kept. */
    MORE_FASTER,

    /** More were not faster by a tenth, so that the earlier numbers are used again. */
    MORE_NO_FASTER,

    /** The rate has stayed below half of the highest one, so that fewer are tried. */
    DROPPED,

    /** Fewer were about as fast, so that the others are given up. */
    FEWER_AS_FAST,

    /** Fewer were slower, so that the earlier numbers are used again. */
    FEWER_SLOWER,

    /** The site allows no more, so that those it allows are used. */
    SITE_LIMIT
}
