package dozo.api;

import static java.util.Objects.requireNonNull;

import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.export.Columns;
import dozo.ledger.Audit;
import dozo.ledger.Audit.Change;
import dozo.ledger.Audit.Wait;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Coverage.Group;
import dozo.ledger.Coverage.RetiredSums;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Coverage.Unprotected;
import dozo.ledger.Dimension;
import dozo.ledger.FindingFilter;
import dozo.ledger.Findings;
import dozo.ledger.Sight;
import dozo.manifest.Freezes;
import dozo.registry.ExperimentSearch.Risk;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.Headlines;
import dozo.run.Headlines.Headline;
import dozo.verify.Losses.AllLost;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.context.MessageSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Coverage at a site: now, in the past, and changes. */
@RestController
@RequestMapping("/api/v1/coverage")
public record CoverageApi(
        Coverage coverage,
        Audit audit,
        Headlines headlines,
        MessageSource messages,
        Freezes freezes,
        Findings findings,
        SiteChoice sites,
        Moments moments) {

    private static final Columns<Totals> TOTALS = Columns.of(Totals.class).without("project");

    /**
     * A site's coverage.
     *
     * @param site missing: no site is registered
     * @param asOf the time of the state; missing: now
     * @param headline the gravest thing that is true: lost, damaged, frozen, source-missing, deleted-soon, late, site-key-changed, site-full,
     *     site-unreachable, site-unusable, run-failed, blocked, clock-set-back, no-night, old-night, unread, waiting, none or safe; missing with {@code asOf}
     * @param sentence says it in English, or in the language of {@code Accept-Language}; missing with {@code asOf}
     * @param risks the experiments at risk at the site by state, the gravest first; missing with {@code asOf}
     * @param lost files and links that are lost for good, at all sites; missing with {@code asOf}
     * @param frozen the number of frozen experiments, at any site; missing with {@code asOf}
     * @param atRisk the number of experiments at risk at the site; missing with {@code asOf}
     * @param openFindings the number of findings at the site that need a person, 1001: more than 1,000; missing with
     *     {@code asOf}
     * @param retired what the retired experiments have, which are in no sum; missing with {@code asOf}
     * @param recordedSince the time of the first record; what was safe before it is unknown; missing: nothing is recorded yet
     * @param totals missing: unknown, because {@code asOf} is before the first record
     * @param projects empty if that is unknown
     */
    public record ShownCoverage(
            @Nullable String site,
            @Nullable Instant asOf,
            @Nullable Instant recordedSince,
            @Nullable String headline,
            @Nullable String sentence,
            @Nullable List<Risk> risks,
            @Nullable AllLost lost,
            @Nullable Long frozen,
            @Nullable Long atRisk,
            @Nullable Long openFindings,
            @Nullable RetiredSums retired,
            @Nullable Totals totals,
            List<Totals> projects) {}

    /**
     * How the data stands at a site.
     *
     * @param site missing: no site is registered
     * @param headline the gravest thing that is true, as in {@code GET /coverage}
     * @param sentence says it in English, or in the language of {@code Accept-Language}
     * @param safe whether every experiment is safe and none is at risk; or all are retired
     * @param nextNight missing: none is planned
     */
    public record Stand(
            @Nullable String site,
            String headline,
            String sentence,
            boolean safe,
            @Nullable Instant nextNight) {}

    /** The results for a period; {@code until} is exclusive. */
    public record Between<T>(Instant from, Instant until, List<T> items) {}

    /** Shows what is safe at a site: totals, and sums by project. */
    @GetMapping
    @Nullable
    ShownCoverage totals(
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(required = false) @Nullable String asOf,
            Sight sight,
            Locale language,
            Sheet sheet) {
        Optional<Site> chosen = sites.of(site);
        int id = chosen.map(Site::id).orElse(Sites.NO_SITE);
        Instant at = moments.endOrNull("asOf", asOf);
        boolean known = coverage.isKnown(id, at);
        List<Totals> projects = known ? coverage.projects(sight, id, at) : List.of();
        Headline now = at == null ? headlines.of(sight, chosen.orElse(null)) : null;
        ShownCoverage shown = new ShownCoverage(
                chosen.map(Site::name).orElse(null),
                at,
                coverage.recordedSince(id).orElse(null),
                now == null ? null : now.kind().word(),
                now == null ? null : now.sentence().in(messages, language),
                now == null ? null : now.risks(),
                now == null ? null : now.lost(),
                at == null ? freezes.count(sight) : null,
                now == null ? null : now.atRisk(),
                at == null ? findings.count(sight, FindingFilter.openAt(id)) : null,
                now == null ? null : now.retired(),
                known ? Totals.together(projects) : null,
                projects);
        return sheet.or(
                () -> shown,
                "coverage",
                Columns.of(ShownCoverage.class)
                        .without("risks", "lost", "openFindings", "retired", "totals", "projects")
                        .and(TOTALS.in(ShownCoverage::totals)),
                line -> line.accept(shown));
    }

    /** Says in a sentence how the data stands at each site, the gravest first. There is only one page. */
    @GetMapping("/sentences")
    Page<Stand> sentences(Sight sight, Locale language) {
        return new Page<>(
                headlines.all(sight).stream()
                        .sorted(Comparator.comparing(Headline::kind))
                        .map(each -> new Stand(
                                each.siteName(),
                                each.kind().word(),
                                each.sentence().in(messages, language),
                                each.safe(),
                                each.nextNight()))
                        .toList(),
                null);
    }

    /** Lists what is safe of each experiment. */
    @GetMapping("/experiments")
    @Nullable
    Page<ExperimentCoverage> experiments(
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(defaultValue = "0") int after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight,
            Sheet sheet) {
        int id = sites.idOf(site);
        return sheet.page(
                "coverage-experiments",
                Columns.of(ExperimentCoverage.class),
                after,
                limit,
                (last, most) -> coverage.experiments(sight, id, last, most),
                ExperimentCoverage::experimentId);
    }

    /** Lists sums of what is safe, by group. The group without {@code name} contains what is unknown. */
    @GetMapping("/groups")
    @Nullable
    Page<Group> groups(
            @RequestParam Dimension by,
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(required = false) @Nullable String asOf,
            @RequestParam(defaultValue = "") String after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight,
            Sheet sheet) {
        int id = sites.idOf(site);
        Instant at = moments.endOrNull("asOf", asOf);
        Sheet.Pages<Group, String> pages = (last, most) -> coverage.groups(sight, by, id, at, last, most);
        // The group without a name comes last, so no page comes after it.
        Function<Group, String> key = group -> requireNonNull(group.name());
        // Only for experiments does a page cost no more than its rows. All other dimensions have few groups.
        int atOnce = by == Dimension.EXPERIMENT ? Sheet.PAGE : Integer.MAX_VALUE;
        return sheet.or(
                () -> Page.of(limit, most -> pages.page(after, most), key),
                "coverage-by-" + by.word(),
                Columns.<Group>of("asOf", group -> at).and("name", Group::name).and(TOTALS.in(Group::totals)),
                Sheet.paged(atOnce, after, pages, key));
    }

    /** Lists experiments that are not completely safe, the longest waiting first. There is only one page. */
    @GetMapping("/unprotected")
    @Nullable
    Page<Unprotected> unprotected(
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight,
            Sheet sheet) {
        int id = sites.idOf(site);
        return sheet.or(
                () -> new Page<>(coverage.oldestUnprotected(sight, id, null, Page.checked(limit)), null),
                "unprotected",
                Columns.of(Unprotected.class),
                line -> coverage.oldestUnprotected(sight, id, null, Integer.MAX_VALUE)
                        .forEach(line));
    }

    /** Shows what changed in a period. */
    @GetMapping("/changes")
    @Nullable
    Between<Change> changes(
            @RequestParam String from,
            @RequestParam String until,
            @RequestParam(defaultValue = "project") Dimension by,
            @RequestParam(required = false) @Nullable String site,
            Sight sight,
            Sheet sheet) {
        Instant first = moments.begin("from", from);
        Instant last = moments.end("until", until);
        List<Change> found = audit.changes(sight, by, sites.idOf(site), first, last);
        return between(sheet, "changes-by-" + by.word(), Change.class, new Between<>(first, last, found));
    }

    /** Shows how long experiments waited until they were safe. */
    @GetMapping("/waits")
    @Nullable
    Between<Wait> waits(
            @RequestParam String from,
            @RequestParam String until,
            @RequestParam(defaultValue = "project") Dimension by,
            @RequestParam(required = false) @Nullable String site,
            Sight sight,
            Sheet sheet) {
        Instant first = moments.begin("from", from);
        Instant last = moments.end("until", until);
        List<Wait> found = audit.waits(sight, by, sites.idOf(site), first, last);
        return between(sheet, "waits-by-" + by.word(), Wait.class, new Between<>(first, last, found));
    }

    private static <T extends Record> @Nullable Between<T> between(
            Sheet sheet, String name, Class<T> type, Between<T> found) {
        Columns<T> period = Columns.<T>of("from", each -> found.from()).and("until", each -> found.until());
        return sheet.or(() -> found, name, period.and(Columns.of(type)), found.items()::forEach);
    }
}
