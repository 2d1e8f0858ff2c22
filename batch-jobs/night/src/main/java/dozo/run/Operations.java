package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.file.Message;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.registry.Part;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;

/**
 * Starts, pauses, stops and recovers runs. When the process ends in an orderly way, an active run finishes the current
 * units and begins no more. The next start continues it, as after a crash.
 */
@Component
public class Operations implements SmartLifecycle {

    /** How long the current units may take when the process ends. */
    private static final Duration LEAVING_LIMIT = Duration.ofSeconds(25);

    /** How long a night waits for a scrub that makes way: its current reading may be 1 GiB or a range. */
    private static final Duration MAKE_WAY_LIMIT = Duration.ofSeconds(60);

    private static final Duration POLL = Duration.ofMillis(50);

    /**
     * How long the current work may take when a run is paused; then the lanes are closed, and the work is repeated
     * later.
     */
    private static final Duration PAUSE_LIMIT = Duration.ofSeconds(60);

    /** The same when the site closes: its hours are a promise to others who use the link. */
    private static final Duration CLOSING_LIMIT = Duration.ofMillis(300);

    private static final Logger LOG = LoggerFactory.getLogger(Operations.class);

    private final Executions executions;
    private final Runs runs;
    private final Retries retries;
    private final Replications replications;
    private final Sites sites;
    private final Senders senders;
    private final RunEnd runEnd;
    private final NightFlows flows;
    private final SiteHours hours;
    private final InstantSource clock;
    private volatile boolean alive;

    public Operations(
            Executions executions,
            Runs runs,
            Retries retries,
            Replications replications,
            Sites sites,
            Senders senders,
            RunEnd runEnd,
            NightFlows flows,
            SiteHours hours,
            InstantSource clock) {
        this.executions = executions;
        this.runs = runs;
        this.retries = retries;
        this.replications = replications;
        this.sites = sites;
        this.senders = senders;
        this.runEnd = runEnd;
        this.flows = flows;
        this.hours = hours;
        this.clock = clock;
    }

    /**
     * Starts the nightly backup and returns while it runs. A night has priority: it asks an active scrub to stop, and
     * waits for it at most a minute.
     *
     * @param site null: the only one
     * @throws Refusal if a night is active, a scrub has not ended in that time, there is no such site, or it is closed
     */
    public Run start(@Nullable String site, String requestedBy) {
        return start(site, requestedBy, MAKE_WAY_LIMIT);
    }

    /**
     * Starts a night of a part of the experiments, otherwise like {@link #start(String, String)}.
     *
     * @throws Refusal as for a whole night
     */
    public Run start(String site, Part part, String requestedBy) {
        return start(site, part, requestedBy, MAKE_WAY_LIMIT);
    }

    Run start(@Nullable String name, String requestedBy, Duration limit) {
        return start(name, Part.WHOLE, requestedBy, limit);
    }

    private Run start(@Nullable String name, Part part, String requestedBy, Duration limit) {
        Site site = open(name);
        return start(() -> runs.openNight(site, part, requestedBy), requestedBy, limit);
    }

    /**
     * Starts a backup of only those experiments that have open findings in a run, to the same site, and returns while
     * it runs. A scrub makes way for it as for a night. The experiments are stored, so that the retry continues with
     * them after a crash.
     *
     * @throws Refusal if there is no such run, it has no such findings, another run is active, or a scrub has not ended
     * in time
     */
    public Run retry(long runId, String requestedBy) {
        Run tried = find(runId);
        // Before a scrub is stopped for it.
        retries.check(runId);
        Site site = open(tried.site());
        return start(() -> runs.openRetry(site, runId, requestedBy), requestedBy, MAKE_WAY_LIMIT);
    }

    /**
     * Starts a backup of only the experiments with these names, {@code project/experiment}, and returns while it runs. A scrub
     * makes way for it as for a night. The experiments are stored, so that the run continues with them after a crash.
     *
     * @param site null: the only one
     * @param sight what the user may see: other experiments do not exist for them
     * @throws Refusal if none or too many are named, one does not exist or is retired, another run is active, a scrub has not
     *     ended in time, there is no such site, or it is closed
     */
    public Run backUp(@Nullable String site, List<String> names, Sight sight, String requestedBy) {
        // Before a scrub is stopped for it.
        int[] chosen = retries.named(sight, names);
        Site to = open(site);
        return start(() -> runs.openChosen(to, chosen, requestedBy), requestedBy, MAKE_WAY_LIMIT);
    }

    /**
     * Starts a copy of experiments from one site to another, and returns while it runs. A scrub makes way for it as for
     * a night. The experiments are stored, so that the replication continues with them after a crash.
     *
     * @throws Refusal if the request is invalid, there is nothing to copy, another run is active, or a scrub has not
     *     ended in time
     */
    public Run replicate(ReplicationRequest request, String requestedBy) {
        // Before a scrub is stopped for it.
        hours.requireOpen(replications.checked(request).to());
        return start(() -> runs.openReplication(request, requestedBy), requestedBy, MAKE_WAY_LIMIT);
    }

    private Run start(Supplier<Run> open, String requestedBy, Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        while (true) {
            Optional<Run> started = startUnlessScrubbing(open, requestedBy);
            if (started.isPresent()) {
                return started.get();
            }
            // Without the lock, so that further callers are refused as soon as a night is active.
            awaitUntil(end, Message.of("the scrub is stopping but has not finished its current reading; try again"));
        }
    }

    /**
     * Starts a scrub and returns while it runs; it stops no other run. The request is stored, so that the scrub
     * continues with it after a crash.
     *
     * @throws Refusal if a run is active, or there is no such site, or it is closed
     */
    public synchronized Run startScrub(ScrubRequest request, String requestedBy) {
        refuseWhilePaused();
        Run run = runs.openScrub(open(request.home() ? home() : request.site()), request, requestedBy);
        executions.launch(run);
        return run;
    }

    /**
     * Asks a run to stop, paused or not: it finishes its current work and begins no more. A run without a working
     * process ends when its workers have left, or can send nothing any more. Only the one process that works on this
     * database may call it.
     *
     * @throws Refusal if the run is not active
     */
    public void stop(long runId, String requestedBy) {
        if (!askToStop(runId, requestedBy)) {
            // It was paused, or a dead process left it and it was not recovered yet.
            endStopped(runId);
        }
    }

    /** Returns false if no process works on the run. */
    private synchronized boolean askToStop(long runId, String requestedBy) {
        runs.stop(runId, requestedBy);
        boolean working = isWorking();
        if (working) {
            executions.askToStop(find(runId));
        }
        return working;
    }

    /**
     * Ends a run that no process works on and that was asked to stop. NB: without the lock, because it waits for a worker
     * that hangs as long as its lease. Meanwhile the run cannot be resumed, and it is still the active one, so no other
     * can start.
     */
    private void endStopped(long runId) {
        flows.dismiss(runId);
        runs.close(runId, RunState.STOPPED, RunEnd.STOPPED);
    }

    /**
     * Pauses a run: it finishes its current work and begins no more until it is resumed, in this process or a later
     * one. Work that is unfinished after a minute loses its lanes, and is sent or read again later. Returns at once.
     * Only the one process that works on this database may call it.
     *
     * @throws Refusal if the run is not running
     */
    public synchronized void pause(long runId, String requestedBy) {
        if (find(runId).kind() == RunKind.REBUILD) {
            throw Refusal.conflict("run", "run %d is not a job of the service", runId);
        }
        runs.pause(runId, requestedBy);
        if (isWorking()) {
            executions.askToStop(find(runId));
        }
    }

    /**
     * Continues a paused run where it was, and returns while it runs. It waits at most a minute for the work that was
     * under way at the pause. Only the one process that works on this database may call it.
     *
     * @throws Refusal if the run is not paused, or that work has not ended in that time
     */
    public Run resume(long runId, String requestedBy) {
        return resume(runId, requestedBy, MAKE_WAY_LIMIT);
    }

    Run resume(long runId, String requestedBy, Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        while (!resumeUnlessBusy(runId, requestedBy)) {
            awaitUntil(end, Message.of("run %d has not finished its current work; try again", runId));
        }
        return find(runId);
    }

    /** Returns whether this process works on any run. */
    public boolean isWorking() {
        return !executions.idle();
    }

    /** Returns whether this process works on a run, or finishes the current work of a paused run. */
    public boolean worksOn(Run run) {
        return run.goesOn() && isWorking();
    }

    /**
     * Continues the run that has no working process, if there is one: a dead process left it, or the database was away
     * when its job ended. A run that was asked to stop is closed instead. A paused run stays paused; its current work
     * is interrupted if it takes more than a minute. A run that this process works on is asked again to stop or pause, if
     * it was asked before. Only the one process that works on this database may call it, at its start and then from time
     * to time.
     */
    public void recover() {
        recover(PAUSE_LIMIT);
    }

    void recover(Duration pauseLimit) {
        recoverUnlessStopped(pauseLimit).ifPresent(run -> endStopped(run.id()));
    }

    /** Returns the run that no process works on and that was asked to stop, if there is one. */
    private synchronized Optional<Run> recoverUnlessStopped(Duration pauseLimit) {
        // NB: first. Jobs begin only under this lock, so a run that goes on after nobody worked has no process. A run
        // that was read before its job ended may be closed by now.
        boolean working = isWorking();
        Optional<Run> active = runs.goingOn();
        if (working) {
            active.ifPresent(run -> remind(run, pauseLimit));
            return Optional.empty();
        }
        active.filter(run -> !run.stops() && run.state() == RunState.RUNNING && run.kind() != RunKind.REBUILD)
                .ifPresent(executions::recover);
        return active.filter(Run::stops);
    }

    /**
     * Applies the timetables of the sites: the limits that hold now; a run whose site is closed is paused until it opens, and
     * what it sends is cut off soon. To be called twice a second, by the one process that works on this database.
     */
    public synchronized void keepHours() {
        if (!alive) {
            return;
        }
        hours.apply();
        runs.goingOn()
                .filter(run -> run.kind() != RunKind.REBUILD && !run.stops())
                .ifPresent(this::keepHours);
    }

    private void keepHours(Run run) {
        boolean open = hours.isOpen(run.siteId());
        if (run.state() == RunState.RUNNING && !open) {
            LOG.info("run {} pauses: site {} is closed by its timetable", run.id(), run.site());
            pause(run.id(), Ledger.SYSTEM);
        } else if (run.isClosed() && !open && isWorking()) {
            windUp(run, CLOSING_LIMIT);
        } else if (run.isClosed() && open && resumeUnlessBusy(run.id(), Ledger.SYSTEM)) {
            LOG.info("run {} continues: site {} is open", run.id(), run.site());
        }
    }

    @Override
    public void start() {
        alive = true;
    }

    @Override
    public boolean isRunning() {
        return alive;
    }

    /**
     * Waits for the job's thread, which still writes after the run. Spring calls this before it closes anything that a
     * run needs.
     */
    @Override
    public void stop() {
        alive = false;
        runEnd.leave();
        try {
            if (isWorking()) {
                runs.goingOn().ifPresent(executions::askToStop);
            }
        } catch (DataAccessException e) {
            LOG.warn("the active run could not be asked to stop: {}", e.getMessage());
        } finally {
            awaitJob();
        }
    }

    /** Starts a run. Empty: a scrub is active, and was asked to stop. The lock excludes other runs of this process. */
    private synchronized Optional<Run> startUnlessScrubbing(Supplier<Run> open, String requestedBy) {
        Optional<Run> scrub = runs.goingOn().filter(run -> run.kind().isScrub());
        if (scrub.isPresent()) {
            makeWay(scrub.get(), requestedBy);
            return Optional.empty();
        }
        refuseWhilePaused();
        Run run = open.get();
        executions.launch(run);
        return Optional.of(run);
    }

    private void refuseWhilePaused() {
        runs.goingOn().filter(run -> run.state() == RunState.PAUSED).ifPresent(run -> {
            throw Refusal.conflict("run", "%s; resume it or stop it first", Runs.pausedWords(run));
        });
    }

    private Site open(@Nullable String name) {
        Site site = sites.chosen(name);
        hours.requireOpen(site);
        return site;
    }

    /** Returns the site that stands for reading at home; null: there is none. */
    private @Nullable String home() {
        return sites.first().map(Site::name).orElse(null);
    }

    /** Returns false if the work that was under way at the pause has not ended yet. */
    private synchronized boolean resumeUnlessBusy(long runId, String requestedBy) {
        if (!alive) {
            throw Refusal.conflict("run", "the service is stopping");
        }
        Run run = find(runId);
        runs.refuseStopping(runId);
        hours.requireOpen(sites.find(run.siteId()).orElseThrow());
        if (run.state() == RunState.PAUSED && isWorking()) {
            return false;
        }
        runs.resume(runId, requestedBy);
        executions.resume(run);
        return true;
    }

    /** Repeats a request to pause or stop. It is lost if it comes while the flows begin, or the database is away. */
    private void remind(Run run, Duration pauseLimit) {
        if (run.state() == RunState.PAUSED) {
            windUp(run, pauseLimit);
        } else if (run.stops() && run.kind() != RunKind.REBUILD) {
            executions.askToStop(run);
        }
    }

    /** Repeats the request to stop, and closes the lanes of work that takes too long: a file may be a terabyte. */
    private void windUp(Run paused, Duration limit) {
        executions.askToStop(paused);
        if (clock.instant().isAfter(requireNonNull(paused.pausedAt()).plus(limit))) {
            LOG.info("run {} is paused; its unfinished work was interrupted", paused.id());
            senders.close(paused.id());
        }
    }

    private Run find(long runId) {
        return runs.find(runId).orElseThrow(() -> Refusal.conflict("run", "run %d does not exist", runId));
    }

    private void makeWay(Run scrub, String requestedBy) {
        if (!alive) {
            // The active run is left for the next start, which must find it unchanged.
            throw Refusal.conflict("run", "the service is stopping");
        }
        if (scrub.stops() && isWorking()) {
            return;
        }
        try {
            stop(scrub.id(), requestedBy);
            LOG.info("scrub {} was asked to stop for a nightly backup", scrub.id());
        } catch (Refusal ended) {
            LOG.info("scrub {} had ended before it could be stopped", scrub.id());
        }
    }

    private static void awaitUntil(long end, Message tooLate) {
        if (System.nanoTime() >= end) {
            throw Refusal.conflict("run", tooLate);
        }
        try {
            Thread.sleep(POLL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Refusal.conflict("run", "interrupted while waiting for another run to end");
        }
    }

    private void awaitJob() {
        try {
            long limit = System.nanoTime() + LEAVING_LIMIT.toNanos();
            while (isWorking() && System.nanoTime() < limit) {
                Thread.sleep(POLL);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
