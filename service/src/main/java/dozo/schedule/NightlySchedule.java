package dozo.schedule;

import dozo.ledger.Ledger;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.Forecasts;
import dozo.run.Operations;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.run.SiteHours;
import dozo.run.Timetable;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
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
 * paused one, starts when that run has ended. A scrub makes way: what it has not read stays due. The schedule keeps no
 * decisive state in memory, so a missed night is due at the next start. When no night is due, a scrub may start.
 */
@Component
class NightlySchedule {

    private static final Logger LOG = LoggerFactory.getLogger(NightlySchedule.class);

    private final Timetable timetable;
    private final Operations operations;
    private final Runs runs;
    private final Sites sites;
    private final Experiments experiments;
    private final ScrubSchedule scrubs;
    private final SiteHours hours;
    private final Forecasts forecasts;
    private final InstantSource clock;

    /** The paused run that was last logged. Guarded by this. */
    private long told;

    NightlySchedule(
            Timetable timetable,
            Operations operations,
            Runs runs,
            Sites sites,
            Experiments experiments,
            ScrubSchedule scrubs,
            SiteHours hours,
            Forecasts forecasts,
            InstantSource clock) {
        this.timetable = timetable;
        this.operations = operations;
        this.runs = runs;
        this.sites = sites;
        this.experiments = experiments;
        this.scrubs = scrubs;
        this.hours = hours;
        this.forecasts = forecasts;
        this.clock = clock;
    }

    /** Continues what a dead process left, then checks whether a night was missed. */
    @EventListener(ApplicationReadyEvent.class)
    void ready() {
        operations.recover();
        look();
        timetable
                .next(clock.instant())
                .ifPresent(next -> LOG.info("the next nightly backup is due at {}", next.atZone(timetable.zone())));
    }

    /**
     * Starts the backup of the first site for which it is due, unless a night is in progress. Recovers a run that no
     * process works on.
     */
    @Scheduled(initialDelay = 15_000, fixedDelay = 15_000)
    synchronized void look() {
        Optional<Run> goingOn = runs.goingOn();
        Optional<Site> night = sites.all().stream()
                .filter(site -> due(site) && hours.isOpen(site.id()))
                .findFirst();
        boolean free = goingOn.filter(run -> run.kind() != RunKind.SCRUB).isEmpty();
        if (free && night.isPresent()) {
            start(night.get());
        } else if (goingOn.isPresent()) {
            night.ifPresent(site -> tell(site, goingOn.get()));
            operations.recover();
        } else {
            scrubs.look();
        }
    }

    /** Compares the forecasts of windows that are over with what had become true. */
    @Scheduled(initialDelay = 60_000, fixedDelay = 60_000)
    void compareForecasts() {
        try {
            forecasts.compare();
        } catch (DataAccessException | TransactionException e) {
            LOG.debug("the forecasts wait for the database", e);
        }
    }

    /** Applies the timetables of the sites. */
    @Scheduled(initialDelay = 500, fixedDelay = 500)
    void keepHours() {
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

    private boolean due(Site site) {
        Optional<Instant> last = runs.latest(RunKind.NIGHTLY_BACKUP, site.id()).map(Run::startedAt);
        return last.or(() -> firstRegistration().map(first -> later(first, site.changedAt())))
                .filter(since -> timetable.due(since, clock.instant()))
                .isPresent();
    }

    /**
     * Returns the later time. A new site waits for the night, as a new experiment does: nobody expects a full copy
     * within seconds.
     */
    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    private Optional<Instant> firstRegistration() {
        List<Experiment> first = experiments.page(0, 1);
        return first.stream().map(Experiment::registeredAt).findFirst();
    }

    private void start(Site site) {
        try {
            Run run = operations.start(site.name(), Ledger.SYSTEM);
            LOG.info("run {} started by the schedule", run.id());
        } catch (Refusal refused) {
            LOG.info("the nightly backup to {} was not started: {}", site.name(), refused.getMessage());
        }
    }
}
