package dozo.schedule;

import dozo.db.ActiveService;
import dozo.ledger.Ledger;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Part;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.Forecasts;
import dozo.run.NightTimes;
import dozo.run.NightTimes.NightTime;
import dozo.run.Operations;
import dozo.run.RunTimes;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.run.SiteHours;
import dozo.run.Timetable;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.dao.DataAccessException;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/**
 * Starts the nightly backup of each site when it is due, one at a time. A backup that is due during another run, or a
 * paused one, starts when that run has ended; if several are due, one after the other. A scrub makes way: what it has not read stays due. The schedule keeps no
 * decisive state in memory, so a missed night is due at the next start. When no night is due, a scrub may start.
 */
@Component
class NightlySchedule {

    private static final Logger LOG = LoggerFactory.getLogger(NightlySchedule.class);

    private final NightTimes times;
    private final Operations operations;
    private final Runs runs;
    private final RunTimes runTimes;
    private final Sites sites;
    private final Experiments experiments;
    private final ScrubSchedule scrubs;
    private final SiteHours hours;
    private final Forecasts forecasts;
    private final ActiveService active;
    private final InstantSource clock;

    /** The paused run that was last logged. Guarded by this. */
    private long told;

    /** Whether this service has begun its work as the active one. Guarded by this. */
    private boolean begun;

    /**
     * A night that is due.
     *
     * @param at since when
     */
    private record Due(Site site, Part part, Instant at) {}

    NightlySchedule(
            NightTimes times,
            Operations operations,
            Runs runs,
            RunTimes runTimes,
            Sites sites,
            Experiments experiments,
            ScrubSchedule scrubs,
            SiteHours hours,
            Forecasts forecasts,
            ActiveService active,
            InstantSource clock) {
        this.times = times;
        this.operations = operations;
        this.runs = runs;
        this.runTimes = runTimes;
        this.sites = sites;
        this.experiments = experiments;
        this.scrubs = scrubs;
        this.hours = hours;
        this.forecasts = forecasts;
        this.active = active;
        this.clock = clock;
    }

    /**
     * Continues what a dead process left, then checks whether a night was missed, as soon as this service is the active
     * one.
     */
    @EventListener(ApplicationReadyEvent.class)
    @Scheduled(initialDelay = 500, fixedDelay = 500)
    synchronized void begin() {
        if (active.isHere() && !begun) {
            begun = true;
            operations.recover();
            look();
            sites.all().forEach(this::announce);
        }
    }

    private void announce(Site site) {
        times.next(site.id(), clock.instant())
                .ifPresent(next ->
                        LOG.info("the next nightly backup to {} is due at {}", site.name(), next.atZone(times.zone())));
    }

    /**
     * Starts the backup that has been due for the longest time, unless a night is in progress. Recovers a run that no
     * process works on.
     */
    @Scheduled(initialDelay = 15_000, fixedDelay = 15_000)
    synchronized void look() {
        if (!active.isHere()) {
            return;
        }
        runTimes.distrustAhead(clock.instant())
                .forEach(start -> LOG.warn(
                        "a run started at {}, in the future: the clock was ahead then, or is behind now; its start does not count,"
                                + " check the clock",
                        start));
        Optional<Run> goingOn = runs.goingOn();
        Optional<Due> night = sites.all().stream()
                .flatMap(site -> due(site).stream())
                .filter(due -> hours.isOpen(due.site.id()))
                .min(Comparator.comparing(Due::at));
        boolean free = goingOn.filter(run -> !run.kind().isScrub()).isEmpty();
        if (free && night.isPresent()) {
            start(night.get());
        } else if (goingOn.isPresent()) {
            night.ifPresent(due -> tell(due.site, goingOn.get()));
            operations.recover();
        } else {
            scrubs.look();
        }
    }

    /** Compares the forecasts of windows that are over with what had become true. */
    @Scheduled(initialDelay = 60_000, fixedDelay = 60_000)
    void compareForecasts() {
        if (!active.isHere()) {
            return;
        }
        try {
            forecasts.compare();
        } catch (DataAccessException | TransactionException e) {
            LOG.debug("the forecasts wait for the database", e);
        }
    }

    /** Applies the timetables of the sites. */
    @Scheduled(initialDelay = 500, fixedDelay = 500)
    void keepHours() {
        if (!active.isHere()) {
            return;
        }
        try {
            operations.keepHours();
        } catch (Refusal ended) {
            LOG.info("the timetable changed nothing: {}", ended.getMessage());
        } catch (DataAccessException | TransactionException e) {
            LOG.debug("the timetables of the sites wait for the database", e);
        }
    }

    /** Logs once that a paused run delays this night, because a forgotten pause delays every night. */
    private void tell(Site site, Run goingOn) {
        if (goingOn.state() == RunState.PAUSED && !goingOn.isClosed() && told != goingOn.id()) {
            told = goingOn.id();
            LOG.warn(
                    "the nightly backup to {} is due and waits for run {}, which {} has paused since {}: resume it or stop it",
                    site.name(),
                    goingOn.id(),
                    goingOn.pausedBy(),
                    goingOn.pausedAt());
        }
    }

    /**
     * Returns what is due at a site: a night of all experiments, or else the part that has been due for the longest time. A night
     * of all has those of the parts, too, so it is the last start of them.
     */
    private Optional<Due> due(Site site) {
        Instant now = clock.instant();
        return times.of(site.id()).stream()
                .flatMap(time -> dueAt(site, time, now).map(at -> new Due(site, time.part(), at)).stream())
                .filter(due -> !due.at.isAfter(now))
                .min(Comparator.comparing((Due due) -> !due.part.isWhole()).thenComparing(Due::at));
    }

    /** Returns the first time after the last start: it was missed, if it is in the past. Times of a wrong clock delay no night. */
    private Optional<Instant> dueAt(Site site, NightTime time, Instant now) {
        return runTimes.lastNight(site.id(), time.part(), now)
                .or(() -> firstRegistration().map(first -> later(first, site.changedAt(), now)))
                .flatMap(last -> time.times().next(later(last, time.since(), now)));
    }

    /**
     * Returns the later time. A new site waits for the night, as a new experiment does: nobody expects a full copy
     * within seconds.
     */
    private static Instant later(Instant one, Instant other, Instant now) {
        return Stream.of(one, other)
                .filter(at -> !Timetable.isAhead(at, now))
                .max(Comparator.naturalOrder())
                .orElse(Instant.EPOCH);
    }

    private Optional<Instant> firstRegistration() {
        List<Experiment> first = experiments.page(0, 1);
        return first.stream().map(Experiment::registeredAt).findFirst();
    }

    private void start(Due due) {
        try {
            Run run = operations.start(due.site.name(), due.part, Ledger.SYSTEM);
            LOG.info("run {} started by the schedule", run.id());
        } catch (Refusal refused) {
            LOG.info("the nightly backup to {} was not started: {}", due.site.name(), refused.getMessage());
        }
    }
}
