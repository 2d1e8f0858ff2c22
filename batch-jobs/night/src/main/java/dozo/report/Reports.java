package dozo.report;

import dozo.alert.Alerts;
import dozo.alert.Alerts.Alert;
import dozo.alert.Condition;
import dozo.file.Problem;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Coverage.Unprotected;
import dozo.ledger.Findings;
import dozo.ledger.Sight;
import dozo.plan.NightForecast;
import dozo.registry.Refusal;
import dozo.registry.WrittenDay;
import dozo.report.Report.Backup;
import dozo.report.Report.Need;
import dozo.report.Report.NightState;
import dozo.report.Report.SiteNight;
import dozo.report.Report.Tonight;
import dozo.report.Report.Waiting;
import dozo.run.Forecasts;
import dozo.run.Forecasts.Line;
import dozo.run.Forecasts.Made;
import dozo.run.Headlines;
import dozo.run.Headlines.Headline;
import dozo.run.Nights;
import dozo.run.Nights.Night;
import dozo.run.Nights.NightSite;
import dozo.run.Nights.Proven;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.transfer.TransferUnits.Progress;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Reports what the night before a morning did. That of today says how everything stands now; that of an earlier day says
 * only what the catalogue knows of that time. A report is read in one snapshot.
 */
@Component
public class Reports {

    /** How many experiments that are not safe are named for each site. */
    private static final int WAITING_MAX = 10;

    private static final int NEEDS_MAX = 100;

    private final ReportedNights reported;
    private final Coverage coverage;
    private final Findings findings;
    private final Headlines headlines;
    private final Alerts alerts;
    private final Nights nights;
    private final Runs runs;
    private final Forecasts forecasts;
    private final InstantSource clock;
    private final ZoneId zone;

    /**
     * How everything stands, or stood.
     *
     * @param moment null: now
     */
    private record Asked(
            Sight sight, Span span, Instant at, @Nullable Instant moment, Instant now) {

        boolean current() {
            return moment == null;
        }
    }

    /** All that is known of the nights of a morning. */
    private record Known(List<Night> nights, List<Run> backups, Map<Long, Proven> proven) {

        Optional<Night> last(String site) {
            return nights.stream().filter(night -> night.site().equals(site)).reduce((_, later) -> later);
        }

        List<Run> at(String site) {
            return backups.stream().filter(run -> run.site().equals(site)).toList();
        }
    }

    Reports(
            ReportedNights reported,
            Coverage coverage,
            Findings findings,
            Headlines headlines,
            Alerts alerts,
            Nights nights,
            Runs runs,
            Forecasts forecasts,
            InstantSource clock,
            ZoneId zone) {
        this.reported = reported;
        this.coverage = coverage;
        this.findings = findings;
        this.headlines = headlines;
        this.alerts = alerts;
        this.nights = nights;
        this.runs = runs;
        this.forecasts = forecasts;
        this.clock = clock;
        this.zone = zone;
    }

    /** Returns the day of the latest report. */
    public LocalDate today() {
        return LocalDate.ofInstant(clock.instant(), zone);
    }

    /** Returns the day of the first report; empty: no night has started yet. */
    public Optional<LocalDate> first() {
        return Stream.concat(
                        nights.sites().stream().map(NightSite::firstAt).map(start -> Span.dayOf(start, zone)),
                        reported.first().stream())
                .min(Comparator.naturalOrder());
    }

    /**
     * Returns the report of a day that somebody has typed; null or blank: of today.
     *
     * @throws Refusal if it is no date, in the future, or before the first night
     */
    @Transactional(readOnly = true, isolation = Isolation.REPEATABLE_READ)
    public Report of(Sight sight, @Nullable String typed) {
        return of(sight, typed == null || typed.isBlank() ? today() : WrittenDay.ofIso("date", typed));
    }

    /**
     * Returns the report of a day.
     *
     * @throws Refusal if it is in the future, or before the first night
     */
    @Transactional(readOnly = true, isolation = Isolation.REPEATABLE_READ)
    public Report of(Sight sight, LocalDate day) {
        return of(sight, day, clock.instant());
    }

    /** Returns the report of a day as it is at a moment. */
    @Transactional(readOnly = true, isolation = Isolation.REPEATABLE_READ)
    Report of(Sight sight, LocalDate day, Instant now) {
        LocalDate today = LocalDate.ofInstant(now, zone);
        if (day.isAfter(today)) {
            throw new Refusal("date", "%s is in the future", day);
        }
        if (day.isBefore(today)) {
            LocalDate first = first().orElseThrow(() -> new Refusal("date", "%s: no night has started yet", day));
            if (day.isBefore(first)) {
                throw new Refusal("date", "%s: the first night was that of %s", day, first);
            }
        }
        Span span = Span.of(day, zone);
        Known known = known(sight, span);
        Instant at = day.equals(today) ? now : moment(span, known.backups, now);
        return report(new Asked(sight, span, at, day.equals(today) ? null : at, now), known);
    }

    private Known known(Sight sight, Span span) {
        return new Known(
                nights.since(span.from()).stream()
                        .filter(night -> span.contains(night.startedAt()))
                        .toList(),
                runs.backups(sight, span.from(), span.until()),
                nights.proven(sight, span.from()).stream().collect(Collectors.toMap(Proven::run, Function.identity())));
    }

    /** Returns the moment of an earlier report: when it was made, but not before its last backup ended. */
    private Instant moment(Span span, List<Run> backups, Instant now) {
        Instant made = reported.madeAt(span.day()).orElse(span.until());
        return backups.stream()
                .map(run -> run.endedAt() == null ? now : run.endedAt())
                .filter(made::isBefore)
                .max(Comparator.naturalOrder())
                .orElse(made);
    }

    private Report report(Asked asked, Known known) {
        List<Headline> now = asked.current() ? headlines.all(asked.sight) : List.of();
        List<SiteNight> sites = reported.sites(asked.span, asked.now, asked.current()).stream()
                .map(site -> site(asked, known, site, now))
                .toList();
        return new Report(
                asked.span.day(),
                asked.span.from(),
                asked.at,
                asked.current(),
                sites.isEmpty()
                        ? now.stream()
                                .mapToLong(each -> each.all().experiments())
                                .max()
                                .orElse(0)
                        : sites.stream().mapToLong(SiteNight::experiments).max().orElse(0),
                sites,
                needs(asked, now));
    }

    private SiteNight site(Asked asked, Known known, PlannedSite site, List<Headline> now) {
        Optional<Headline> headline =
                now.stream().filter(each -> site.name().equals(each.siteName())).findFirst();
        Optional<Night> last = known.last(site.name());
        List<Run> backups = known.at(site.name());
        NightState state = state(site, last, asked.now);
        Totals totals = coverage.all(asked.sight, site.id(), asked.moment);
        Instant dueBefore = dueBefore(site, state, asked);
        long unsafe = coverage.unprotectedSince(asked.sight, site.id(), asked.moment, dueBefore);
        return new SiteNight(
                site.name(),
                state,
                site.dueAt(),
                backups.stream().map(run -> backup(asked, known, run)).toList(),
                totals.experiments(),
                totals.experimentsSafe(),
                totals.bytes(),
                totals.bytesSafe(),
                unsafe,
                totals.experiments() - totals.experimentsSafe() - unsafe,
                totals.oldestUnprotected(),
                waiting(asked, site, backups, dueBefore),
                asked.current() ? headline.map(Headline::reasons).orElse(List.of()) : null,
                headline.map(Headline::nextNight)
                        .filter(_ -> state != NightState.RUNNING && state != NightState.PAUSED)
                        .map(next -> tonight(asked.sight, site, next))
                        .orElse(null));
    }

    private static NightState state(PlannedSite site, Optional<Night> last, Instant now) {
        Instant due = site.dueAt();
        boolean goesOn = last.map(Night::state)
                .map(state -> NightState.valueOf(state.name()))
                .filter(state -> state == NightState.RUNNING || state == NightState.PAUSED)
                .isPresent();
        boolean started = last.filter(night -> due == null || !night.startedAt().isBefore(due))
                .isPresent();
        if (goesOn || started) {
            return NightState.valueOf(last.orElseThrow().state().name());
        }
        if (due == null) {
            return site.recorded() ? NightState.NONE : NightState.UNRECORDED;
        }
        return due.isAfter(now) ? NightState.NOT_YET : NightState.NOT_STARTED;
    }

    /**
     * Returns the moment before which data must have been known to be due: the end of the site's last night, or when a night was
     * due that did not start. While one goes on, or before the first one, everything is due that is known.
     */
    private Instant dueBefore(PlannedSite site, NightState state, Asked asked) {
        return switch (state) {
            case RUNNING, PAUSED -> asked.at;
            case NOT_STARTED -> site.dueAt() == null ? asked.at : site.dueAt();
            default -> reported.lastEnd(site.id(), asked.at).orElse(asked.at);
        };
    }

    private Backup backup(Asked asked, Known known, Run run) {
        Instant ended = run.endedAt();
        Proven proven = known.proven.get(run.id());
        if (proven == null) {
            Progress progress = runs.progress(asked.sight, run.id());
            proven = new Proven(
                    run.id(), run.site(), run.startedAt(), asked.at, progress.bytesDone(), progress.entriesDone());
        }
        return new Backup(
                run.id(),
                run.kind(),
                run.state(),
                run.startedAt(),
                ended,
                asked.sight.ofEverything() ? run.message() : "",
                run.findings(),
                coverage.becameSafe(asked.sight, run.siteId(), run.startedAt(), ended == null ? asked.at : ended),
                proven.bytes(),
                proven.entries(),
                proven.bytesPerSecond());
    }

    private List<Waiting> waiting(Asked asked, PlannedSite site, List<Run> backups, Instant dueBefore) {
        List<Unprotected> oldest = coverage.oldestUnprotected(asked.sight, site.id(), asked.moment, WAITING_MAX);
        Map<String, Problem> reasons = findings.reasons(
                backups.stream().mapToLong(Run::id).toArray(),
                oldest.stream().map(Reports::name).toList());
        return oldest.stream()
                .map(each -> new Waiting(
                        name(each),
                        each.since(),
                        each.files(),
                        each.bytes(),
                        reasons.get(name(each)),
                        each.since().isBefore(dueBefore)))
                .toList();
    }

    private static String name(Unprotected experiment) {
        return experiment.project() + "/" + experiment.code();
    }

    private Tonight tonight(Sight sight, PlannedSite site, Instant next) {
        Made made = forecasts.now(sight, site.id());
        List<Line> lines = made.lines();
        return new Tonight(
                next,
                made.outlook().untilAt(),
                made.outlook().nights(),
                lines.size(),
                lines.stream().mapToLong(Line::bytes).sum(),
                (int) lines.stream()
                        .filter(line -> line.probability() >= NightForecast.SURE)
                        .count());
    }

    /** Returns the alerts that stood, and of now also the gravest of each headline that is no alert, or not one of this user's. */
    private List<Need> needs(Asked asked, List<Headline> now) {
        List<Need> alerted = alerts.standing(asked.sight, asked.at, NEEDS_MAX).stream()
                .map(alert -> need(asked, alert))
                .toList();
        Stream<Need> more = now.stream()
                .filter(headline -> headline.kind().bad())
                .map(Reports::need)
                .filter(need -> alerted.stream().noneMatch(each -> each.kind() == need.kind()));
        return Stream.concat(alerted.stream(), more)
                .sorted(Comparator.comparing(Need::kind))
                .distinct()
                .toList();
    }

    private Need need(Asked asked, Alert alert) {
        return new Need(
                alert.kind(),
                alert.site(),
                alert.project(),
                alert.count(),
                alert.subject(),
                1,
                asked.current() ? headlines.frozen(alert.kind(), alert.project()) : null,
                alert.raisedAt());
    }

    private static Need need(Headline headline) {
        return new Need(
                Condition.Kind.valueOf(headline.kind().name()),
                headline.siteName(),
                null,
                headline.count(),
                String.valueOf(headline.subject()),
                headline.experiments(),
                headline.frozen(),
                null);
    }
}
