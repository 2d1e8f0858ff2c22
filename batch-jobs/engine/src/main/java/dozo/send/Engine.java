package dozo.send;

import dozo.remote.Lanes;

/**
 * What the parts of one {@link Sender} share.
 *
 * @param inspects whether content is judged by the rules of its format while it is read
 */
record Engine(
        Lanes lanes,
        Workers workers,
        KnownSite site,
        SiteTree tree,
        Prover prover,
        Throttle throttle,
        Gauges gauges,
        SourcePatience patience,
        boolean inspects) {}
