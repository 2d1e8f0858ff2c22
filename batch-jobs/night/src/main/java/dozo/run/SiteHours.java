package dozo.run;

import dozo.plan.Hours;
import dozo.plan.Hours.Step;
import dozo.registry.Refusal;
import dozo.registry.SiteTimetable;
import dozo.registry.SiteTimetable.Allowance;
import dozo.registry.SiteTimetables;
import dozo.registry.Sites.Site;
import dozo.restore.Restores;
import dozo.send.Throttle;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** What the timetables of the sites allow now, and one limit for each site that all its runs share. */
@Component
public class SiteHours {

    private static final Logger LOG = LoggerFactory.getLogger(SiteHours.class);

    private final SiteTimetables timetables;
    private final Restores restores;
    private final ZoneId zone;
    private final InstantSource clock;
    private final Map<Integer, Throttle> throttles = new ConcurrentHashMap<>();
    private final Map<Integer, Integer> shares = new ConcurrentHashMap<>();

    /**
     * What holds at a site.
     *
     * @param rules of its timetable
     * @param until empty: for ever
     */
    public record Now(List<String> rules, Allowance allowance, Optional<ZonedDateTime> until) {}

    SiteHours(SiteTimetables timetables, Restores restores, ZoneId zone, InstantSource clock) {
        this.timetables = timetables;
        this.restores = restores;
        this.zone = zone;
        this.clock = clock;
    }

    /** Returns what holds at a site now. */
    public Now now(int siteId) {
        SiteTimetable timetable = timetables.of(siteId);
        ZonedDateTime local = local();
        return new Now(timetable.rules(), timetable.at(local), timetable.nextChange(local));
    }

    /** Returns whether runs may use a site now. */
    public boolean isOpen(int siteId) {
        return timetables.of(siteId).at(local()).open();
    }

    /**
     * Refuses if no run may use the site now.
     *
     * @throws Refusal with the time at which it opens
     */
    void requireOpen(Site site) {
        Now now = now(site.id());
        if (!now.allowance.open()) {
            throw Refusal.conflict(
                    "site",
                    "site %s is closed until %s by its timetable; wait, or change the timetable",
                    site.name(),
                    now.until.orElseThrow().toInstant());
        }
    }

    /**
     * Returns when the window of a night that begins at a moment ends: when the site closes or slows down, or the next night begins,
     * or after a day.
     *
     * @param nextNight after the moment; empty: none is planned
     */
    public Instant windowEnd(int siteId, Instant begin, Optional<Instant> nextNight) {
        Instant end = begin.plus(Duration.ofDays(1));
        return new Hours(ahead(siteId, begin, end), end, 1).windowEnd(begin, nextNight);
    }

    /** Returns what will hold at a site from a moment until another one. */
    List<Step> ahead(int siteId, Instant from, Instant until) {
        return ahead(timetables.of(siteId), from.atZone(zone), until);
    }

    /** Returns what a timetable says about the time from a moment until another one. */
    public static List<Step> ahead(SiteTimetable timetable, ZonedDateTime from, Instant until) {
        List<Step> steps = new ArrayList<>();
        Optional<ZonedDateTime> next = Optional.of(from);
        while (next.isPresent() && next.get().toInstant().isBefore(until)) {
            steps.add(step(next.get(), timetable));
            next = timetable.nextChange(next.get());
        }
        return steps;
    }

    private static Step step(ZonedDateTime moment, SiteTimetable timetable) {
        Allowance allowance = timetable.at(moment);
        double most = allowance.bytesPerSecond() == 0 ? Double.POSITIVE_INFINITY : allowance.bytesPerSecond();
        return new Step(moment.toInstant(), allowance.open() ? most : 0);
    }

    /** Returns the limit of a site. It follows the timetable from the next {@link #apply} on. */
    Throttle throttle(int siteId) {
        return throttles.computeIfAbsent(siteId, id -> {
            Throttle throttle = new Throttle(0, change -> LOG.info("site {} yields to other users: {}", id, change));
            apply(id, timetables.of(id), restores.sitesInUse(), throttle);
            return throttle;
        });
    }

    /** Sets among how many processes the limit of a site is divided, from the next {@link #apply} on. */
    void share(int siteId, int processes) {
        shares.put(siteId, processes);
    }

    /** Gives all limits the rates that hold now. */
    void apply() {
        if (throttles.isEmpty()) {
            return;
        }
        Map<Integer, SiteTimetable> all = timetables.all();
        Set<Integer> restored = restores.sitesInUse();
        throttles.forEach(
                (site, throttle) -> apply(site, all.getOrDefault(site, SiteTimetable.NONE), restored, throttle));
    }

    /** NB: runs yield to restores, too: somebody waits for these. */
    private void apply(int siteId, SiteTimetable timetable, Set<Integer> restored, Throttle throttle) {
        Allowance now = timetable.at(local());
        throttle.limit(Math.ceilDiv(now.bytesPerSecond(), (long) shares.getOrDefault(siteId, 1)));
        throttle.yielding(now.yielding() || restored.contains(siteId));
    }

    private ZonedDateTime local() {
        return clock.instant().atZone(zone);
    }
}
