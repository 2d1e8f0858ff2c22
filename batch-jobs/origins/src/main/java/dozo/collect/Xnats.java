package dozo.collect;

import dozo.collect.Origins.Origin;
import dozo.registry.Refusal;
import dozo.source.delivery.Limits;
import dozo.source.xnat.Xnat;
import java.time.InstantSource;

/** The XNATs of origins of the kind {@link OriginKind#XNAT}. */
public final class Xnats {

    private Xnats() {}

    /**
     * Opens an origin's XNAT, without a request.
     *
     * @throws Refusal if its login cannot be read
     */
    public static Xnat of(Origin origin, Limits limits, InstantSource clock) {
        return XnatCollector.open(origin.terms(), limits, clock);
    }
}
