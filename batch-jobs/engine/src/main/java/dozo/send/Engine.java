package dozo.send;

import dozo.remote.Lanes;

/** What the parts of one {@link Sender} share. */
record Engine(
        Lanes lanes,
        Workers workers,
        KnownSite site,
        SiteTree tree,
        Prover prover,
        Throttle throttle,
        Gauges gauges,
        SourcePatience patience) {}
