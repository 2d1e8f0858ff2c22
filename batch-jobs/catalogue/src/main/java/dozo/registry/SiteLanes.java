package dozo.registry;

import dozo.db.ActiveService;
import dozo.registry.Sites.Site;
import dozo.remote.Lanes;
import dozo.remote.TuningStart;
import dozo.remote.WriteCheck;
import java.io.IOException;
import org.springframework.stereotype.Component;

/**
 * Opens the lanes of the service to its sites. Each packet is sent only while no other service can have taken over: a service
 * that was suspended must change nothing at a site, or for a restore here, when it goes on (ADR 0081).
 */
@Component
public class SiteLanes {

    private final ActiveService active;

    public SiteLanes(ActiveService active) {
        this.active = active;
    }

    /** Returns a set of up to so many lanes, as {@link Lanes#to}. */
    public Lanes to(Site site, int lanes) {
        return Lanes.to(site.address(), lanes).checked(check());
    }

    /** Returns a set with as many lanes as help, as {@link Lanes#tuned}. */
    public Lanes tuned(Site site, TuningStart start) {
        return Lanes.tuned(site.address(), start).checked(check());
    }

    /** Returns the check of each packet, for those that open lanes themselves. */
    public WriteCheck check() {
        return () -> {
            if (!active.isSure()) {
                throw new IOException("this service may not be the active one any more; nothing is sent");
            }
        };
    }
}
