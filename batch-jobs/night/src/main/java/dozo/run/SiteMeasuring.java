package dozo.run;

import dozo.registry.Refusal;
import dozo.registry.SiteLanes;
import dozo.registry.Sites.Site;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.TuningGrid;
import dozo.remote.TuningGrid.Cell;
import dozo.run.SiteTunings.SiteTuning;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.stereotype.Component;

/** Measures sites with made-up data, one at a time, while no run is active (ADR 0077). */
@Component
public class SiteMeasuring {

    private final SiteTunings tunings;
    private final Runs runs;
    private final SiteHours hours;
    private final SiteLanes lanes;
    private final Semaphore free = new Semaphore(1);

    SiteMeasuring(SiteTunings tunings, Runs runs, SiteHours hours, SiteLanes lanes) {
        this.tunings = tunings;
        this.runs = runs;
        this.hours = hours;
        this.lanes = lanes;
    }

    /**
     * Measures a site and keeps the result. It takes up to two minutes. If a run starts or the site closes meanwhile,
     * it ends early, and nothing is kept: what was not measured may be best.
     *
     * @throws Refusal if a run is or becomes active, the site is or becomes closed by its timetable, or another
     *     measurement is active
     * @throws RemoteException if the site cannot be reached, or refuses the temporary files
     */
    public SiteTuning measure(Site site, String actor) throws RemoteException, InterruptedException {
        hours.requireOpen(site);
        runs.goingOn().ifPresent(run -> {
            throw Refusal.conflict("site", "run %d is active; wait for its end, or stop it", run.id());
        });
        if (!free.tryAcquire()) {
            throw Refusal.conflict("site", "another measurement is active; wait for its end");
        }
        try {
            AtomicBoolean undisturbed = new AtomicBoolean(true);
            List<Cell> cells =
                    TuningGrid.measure(site.address(), lanes.check(), hours.throttle(site.id())::pass, () -> {
                        if (!mayGoOn(site)) {
                            undisturbed.set(false);
                        }
                        return undisturbed.get();
                    });
            if (!undisturbed.get()) {
                throw Refusal.conflict(
                        "site",
                        "the measurement ended early because a run started or the site closed; repeat it later");
            }
            if (cells.isEmpty()) {
                throw new RemoteException(
                        Reason.REFUSED, "nothing could be measured at site %s; try again later".formatted(site.name()));
            }
            return tunings.keep(site, cells, actor);
        } finally {
            free.release();
        }
    }

    private boolean mayGoOn(Site site) {
        return hours.isOpen(site.id()) && runs.goingOn().isEmpty();
    }
}
