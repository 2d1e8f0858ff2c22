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
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Starts the scrub of each site once in each reading window if there is something to read, and again after a night has
 * interrupted it. A scrub runs until the window ends.
 */
@Component
class ScrubSchedule {

    private static final Logger LOG = LoggerFactory.getLogger(ScrubSchedule.class);
    private static final int RUNS_LOOKED_AT = 100;

    private final ScrubSettings settings;
    private final Operations operations;
    private final Runs runs;
    private final RunTimes runTimes;
    private final Sites sites;
    private final Promises promises;
    private final ReadingCosts costs;
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
        Optional<Run> last = runs.page(Sight.EVERYTHING, Long.MAX_VALUE, RUNS_LOOKED_AT).stream()
                .filter(run -> run.siteId() == site.id())
                .findFirst();
        Look look = new Look(opening, last.map(Run::id).orElse(0L));
        boolean scrubbed = last.filter(run -> run.kind() == RunKind.SCRUB
                        && !run.startedAt().isBefore(opening.begins())
                        && !runTimes.isAhead(run, now))
                .isPresent();
        if (scrubbed || look.equals(idle.get(site.id()))) {
            return false;
        }
        Need need = need(site, now);
        if (need == Need.NOTHING) {
            idle.put(site.id(), look);
            return false;
        }
        start(site, need == Need.EVERYTHING, opening.ends());
        return true;
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

    private void start(Site site, boolean everything, Instant until) {
        Long limit = settings.bytesPerSecond();
        ScrubRequest request = new ScrubRequest(
                site.name(), settings.maxAge(), everything, limit == null ? 0 : limit, until, settings.cold());
        try {
            Run run = operations.startScrub(request, Ledger.SYSTEM);
            LOG.info("scrub {} of {} started by the schedule, until {}", run.id(), site.name(), until.atZone(zone));
        } catch (Refusal refused) {
            LOG.info("the scrub of {} was not started: {}", site.name(), refused.getMessage());
        }
    }
}
