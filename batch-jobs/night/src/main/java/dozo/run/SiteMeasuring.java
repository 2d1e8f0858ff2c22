package dozo.run;

import dozo.file.Message;
import dozo.registry.Refusal;
import dozo.registry.SiteLanes;
import dozo.registry.Sites.Site;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.TuningGrid;
import dozo.remote.TuningGrid.Cell;
import dozo.run.SiteTunings.SiteTuning;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Measures sites with made-up data, one at a time, while no run is active (ADR 0077). */
@Component
public class SiteMeasuring {

    /** A thread that gets less of a processor measures this machine, and not the site. */
    private static final double PROCESSOR_SHARE_MIN = 0.05;

    private static final Duration PROBE = Duration.ofMillis(200);

    private final SiteTunings tunings;
    private final Runs runs;
    private final SiteHours hours;
    private final SiteLanes lanes;
    private final Semaphore free = new Semaphore(1);
    private volatile double processorShareMin = PROCESSOR_SHARE_MIN;

    SiteMeasuring(SiteTunings tunings, Runs runs, SiteHours hours, SiteLanes lanes) {
        this.tunings = tunings;
        this.runs = runs;
        this.hours = hours;
        this.lanes = lanes;
    }

    /**
     * Changes the share of a processor, 0 to 1, below which a measurement is not trusted. For tests, which run beside others:
     * 0 trusts every measurement.
     */
    public void requireProcessorShare(double min) {
        processorShareMin = min;
    }

    /**
     * Measures a site and keeps the result. It takes up to two minutes. If a run starts or the site closes meanwhile, or this
     * machine is too busy, it ends early, and nothing is kept: what was not measured may be best.
     *
     * @throws Refusal if a run is or becomes active, the site is or becomes closed by its timetable, another
     *     measurement is active, or this machine is too busy
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
            AtomicReference<@Nullable Message> disturbance = new AtomicReference<>();
            List<Cell> cells =
                    TuningGrid.measure(site.address(), lanes.check(), hours.throttle(site.id())::pass, () -> {
                        if (disturbance.get() == null) {
                            disturbance.set(disturbance(site));
                        }
                        return disturbance.get() == null;
                    });
            Message why = disturbance.get();
            if (why != null) {
                throw Refusal.conflict("site", why);
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

    /** Returns why the measurement cannot go on; null: it can. */
    private @Nullable Message disturbance(Site site) {
        if (!hours.isOpen(site.id()) || runs.goingOn().isPresent()) {
            return Message.of("the measurement ended early because a run started or the site closed; repeat it later");
        }
        return processorShare() < processorShareMin
                ? Message.of(
                        "the site cannot be measured because the service's machine is too busy; nothing is kept; repeat it when the machine is less busy")
                : null;
    }

    /** Returns the share of a processor that a thread of this process gets now. */
    private static double processorShare() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Supplier<Double> probe = () -> {
            long used = threads.getCurrentThreadCpuTime();
            long began = System.nanoTime();
            while (System.nanoTime() - began < PROBE.toNanos()) {
                Thread.onSpinWait();
            }
            return (threads.getCurrentThreadCpuTime() - used) / (double) (System.nanoTime() - began);
        };
        // Only the processor time of a platform thread is known.
        return CompletableFuture.supplyAsync(probe, Thread.ofPlatform().name("processor-probe")::start)
                .join();
    }
}
