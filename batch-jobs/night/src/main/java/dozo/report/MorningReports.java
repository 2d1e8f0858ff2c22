package dozo.report;

import dozo.alert.Alerts;
import dozo.registry.Experiments;
import dozo.run.NightTimes;
import dozo.run.Nights;
import dozo.run.Nights.Night;
import dozo.run.Runs.RunState;
import dozo.run.SiteHours;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Makes the report of each night once, and writes it to the outbox for everybody who wants it: when all nights that were due have
 * ended, or their windows are over; at noon at the latest. If no service was there until noon, it is made later that day or the next.
 */
@Component
public class MorningReports {

    private static final Set<RunState> GOING_ON = EnumSet.of(RunState.RUNNING, RunState.PAUSED);

    private final ReportedNights reported;
    private final Alerts alerts;
    private final Experiments experiments;
    private final NightTimes times;
    private final Nights nights;
    private final SiteHours hours;
    private final InstantSource clock;
    private final ZoneId zone;

    public record Written(LocalDate day, int messages) {}

    MorningReports(
            ReportedNights reported,
            Alerts alerts,
            Experiments experiments,
            NightTimes times,
            Nights nights,
            SiteHours hours,
            InstantSource clock,
            ZoneId zone) {
        this.reported = reported;
        this.alerts = alerts;
        this.experiments = experiments;
        this.times = times;
        this.nights = nights;
        this.hours = hours;
        this.clock = clock;
        this.zone = zone;
    }

    /** Makes the reports that are due. */
    @Transactional
    public List<Written> make() {
        return make(clock.instant());
    }

    @Transactional
    List<Written> make(Instant now) {
        LocalDate today = LocalDate.ofInstant(now, zone);
        return Stream.of(today.minusDays(1), today)
                .filter(day -> reported.madeAt(day).isEmpty() && isDue(day, today, now))
                .map(day -> Span.of(day, zone))
                .filter(span -> reported.make(span, now))
                .map(span -> new Written(span.day(), alerts.report(span.day(), now)))
                .toList();
    }

    private boolean isDue(LocalDate day, LocalDate today, Instant now) {
        if (experiments.page(0, 1).isEmpty()) {
            return false;
        }
        if (day.isBefore(today)) {
            // None is made up for from before the first one: nobody has missed it.
            return reported.first().filter(first -> first.isBefore(day)).isPresent();
        }
        Span span = Span.of(day, zone);
        return !now.isBefore(span.until()) || areOver(span, now);
    }

    /** Returns whether at least one night was due, and all are over. */
    private boolean areOver(Span span, Instant now) {
        List<PlannedSite> planned = reported.planned(span);
        List<Night> began = nights.since(span.from());
        return planned.stream().anyMatch(site -> site.dueAt() != null)
                && planned.stream().allMatch(site -> isOver(site, began, now));
    }

    private boolean isOver(PlannedSite site, List<Night> began, Instant now) {
        List<Night> here =
                began.stream().filter(night -> night.site().equals(site.name())).toList();
        boolean goesOn = here.stream().anyMatch(night -> GOING_ON.contains(night.state()));
        Instant due = site.dueAt();
        if (due == null) {
            return !goesOn;
        }
        boolean ended =
                !goesOn && here.stream().anyMatch(night -> !night.startedAt().isBefore(due));
        return !due.isAfter(now) && (ended || isWindowOver(site.id(), due, now));
    }

    private boolean isWindowOver(int siteId, Instant due, Instant now) {
        Optional<Instant> next = times.nextNight(siteId, due);
        return !hours.windowEnd(siteId, due, next).isAfter(now);
    }
}
