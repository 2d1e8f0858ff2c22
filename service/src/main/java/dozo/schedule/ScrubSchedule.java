package dozo.schedule;

import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.plan.ReadingWindow.Opening;
import dozo.plan.ScrubForecast;
import dozo.plan.ScrubForecast.Need;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.Operations;
import dozo.run.Promises;
import dozo.run.ReadingCosts;
import dozo.run.ReadingCosts.KeptCost;
import dozo.run.RunTimes;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.ScrubRequest;
import dozo.run.ScrubSettings;
import dozo.run.SiteHours;
import dozo.verify.HomeReadings;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Starts the scrub of each site, then the home scrub, once in each reading window if there is something to read, and again after a
 * night has interrupted it. A scrub runs until the window ends.
 */
@Component
class ScrubSchedule {

    private static final Logger LOG = LoggerFactory.getLogger(ScrubSchedule.class);
    private static final int RUNS_LOOKED_AT = 100;

    /** No site has this number. */
    private static final int HOME = 0;

    private final ScrubSettings settings;
    private final Operations operations;
    private final Runs runs;
    private final RunTimes runTimes;
    private final Sites sites;
    private final Promises promises;
    private final ReadingCosts costs;
    private final HomeReadings home;
    private final SiteHours hours;
    private final InstantSource clock;
    private final ZoneId zone;

    /** Checks that found nothing to do. Repeating them would read the queue's whole index every 15 s. */
    private final Map<Integer, Look> idle = new HashMap<>();

    /** A check of a site: once per opening of the window, and again after each run of the site. */
    private record Look(Opening opening, long lastRun) {}

    ScrubSchedule(
            ScrubSettings settings,
            Operations operations,
            Runs runs,
            RunTimes runTimes,
            Sites sites,
            Promises promises,
            ReadingCosts costs,
            HomeReadings home,
            SiteHours hours,
            InstantSource clock,
            ZoneId zone) {
        this.settings = settings;
        this.operations = operations;
        this.runs = runs;
        this.runTimes = runTimes;
        this.sites = sites;
        this.promises = promises;
        this.costs = costs;
        this.home = home;
        this.hours = hours;
        this.clock = clock;
        this.zone = zone;
    }

    /** Starts the first scrub that is needed. Call it only while no run is in progress and no night is due. */
    void look() {
        Instant now = clock.instant();
        sites.all().forEach(this::distrustAhead);
        settings.reading().flatMap(window -> window.at(now, zone)).ifPresent(opening -> {
            for (Site site : sites.all()) {
                if (hours.isOpen(site.id()) && started(site, opening, now)) {
                    return;
                }
            }
            sites.first()
                    .filter(site -> !settings.homeAge().isZero() && hours.isOpen(site.id()))
                    .ifPresent(_ -> lookHome(opening, now));
        });
    }

    private void distrustAhead(Site site) {
        int ahead = promises.distrustAhead(site.id());
        if (ahead > 0) {
            LOG.warn(
                    "the last readings of {} receipts at {} were in the future: the clock was ahead then, or is behind now; they"
                            + " do not count",
                    ahead,
                    site.name());
        }
    }

    private boolean started(Site site, Opening opening, Instant now) {
        Optional<Run> last = last(run -> run.siteId() == site.id() && run.kind() != RunKind.HOME_SCRUB);
        Look look = new Look(opening, last.map(Run::id).orElse(0L));
        if (hasBegun(last, RunKind.SCRUB, opening, now) || look.equals(idle.get(site.id()))) {
            return false;
        }
        Need need = need(site, now);
        if (need == Need.NOTHING) {
            idle.put(site.id(), look);
            return false;
        }
        start(new ScrubRequest(
                site.name(), settings.maxAge(), need == Need.EVERYTHING, limit(), opening.ends(), settings.cold()));
        return true;
    }

    private void lookHome(Opening opening, Instant now) {
        Optional<Run> last = last(run -> run.kind() != RunKind.SCRUB);
        Look look = new Look(opening, last.map(Run::id).orElse(0L));
        if (hasBegun(last, RunKind.HOME_SCRUB, opening, now) || look.equals(idle.get(HOME))) {
            return;
        }
        ScrubRequest request =
                new ScrubRequest(true, null, settings.homeAge(), false, limit(), opening.ends(), settings.cold());
        home.enlist();
        if (home.oldest().filter(request.dueBefore(now)::isAfter).isPresent()) {
            start(request);
        } else {
            idle.put(HOME, look);
        }
    }

    private Optional<Run> last(Predicate<Run> which) {
        return runs.page(Sight.EVERYTHING, Long.MAX_VALUE, RUNS_LOOKED_AT).stream()
                .filter(which)
                .findFirst();
    }

    /** Returns whether the last run is one of this kind that was started in this opening. */
    private boolean hasBegun(Optional<Run> last, RunKind kind, Opening opening, Instant now) {
        return last.filter(run -> run.kind() == kind
                        && !run.startedAt().isBefore(opening.begins())
                        && !runTimes.isAhead(run, now))
                .isPresent();
    }

    private long limit() {
        return settings.limit().toBytes();
    }

    private Need need(Site site, Instant now) {
        Instant oldest = promises.at(site.id()).oldestReadAt();
        if (oldest == null) {
            return Need.NOTHING;
        }
        ScrubForecast forecast = costs.forecast(
                site.id(),
                now,
                settings.maxAge(),
                settings.budget(),
                costs.of(site.id(), settings.cold()).map(KeptCost::cost).orElse(null));
        return forecast.need(Duration.between(oldest, now));
    }

    private void start(ScrubRequest request) {
        String what = request.home() ? "the sources" : String.valueOf(request.site());
        try {
            Run run = operations.startScrub(request, Ledger.SYSTEM);
            LOG.info("scrub {} of {} started by the schedule, until {}", run.id(), what, request.until());
        } catch (Refusal refused) {
            LOG.info("the scrub of {} was not started: {}", what, refused.getMessage());
        }
    }
}
