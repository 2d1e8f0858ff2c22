package dozo.collect;

import dozo.collect.Origins.Origin;
import dozo.registry.Refusal;
import dozo.source.delivery.Limits;
import dozo.source.flywheel.Flywheel;
import java.time.InstantSource;

/** The Flywheels of origins of the kind {@link OriginKind#FLYWHEEL}. */
public final class Flywheels {

    private Flywheels() {}

    /**
     * Opens an origin's Flywheel, without a request.
     *
     * @throws Refusal if its key cannot be read, or is for another address
     */
    public static Flywheel of(Origin origin, Limits limits, InstantSource clock) {
        return FlywheelCollector.open(origin.terms(), limits, clock);
    }
}
