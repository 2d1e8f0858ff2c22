package dozo.api;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Audit;
import dozo.ledger.Audit.Change;
import dozo.ledger.Audit.Wait;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Coverage.Group;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Coverage.Unprotected;
import dozo.ledger.Dimension;
import dozo.ledger.Findings;
import dozo.ledger.Sight;
import dozo.manifest.Freezes;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What is safe at a site, what was, and what changed. */
@RestController
@RequestMapping("/api/v1/coverage")
class CoverageApi {

    private final Coverage coverage;
    private final Audit audit;
    private final Freezes freezes;
    private final Findings findings;
    private final SiteChoice sites;
    private final Moments moments;

    /**
     * A site's coverage.
     *
     * @param site missing while none is registered
     * @param asOf the moment it was so; missing: now
     * @param frozen how many experiments are frozen, at whatever site; missing as of an earlier moment
     * @param openFindings how many findings at the site need a person; missing as of an earlier moment
     * @param recordedSince as of an earlier moment, nothing is known to have been safe; missing: nothing is kept yet
     */
    record ShownCoverage(
            @Nullable String site,
            @Nullable Instant asOf,
            @Nullable Instant recordedSince,
            @Nullable Long frozen,
            @Nullable Long openFindings,
            Totals totals,
            List<Totals> projects) {}

    /** What was between two moments, from the first until before the second. */
    record Between<T>(Instant from, Instant until, List<T> items) {}

    CoverageApi(Coverage coverage, Audit audit, Freezes freezes, Findings findings, SiteChoice sites, Moments moments) {
        this.coverage = coverage;
        this.audit = audit;
        this.freezes = freezes;
        this.findings = findings;
        this.sites = sites;
        this.moments = moments;
    }

    @GetMapping
    ShownCoverage totals(
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(required = false) @Nullable String asOf,
            Sight sight) {
        int id = sites.idOf(site);
        Instant at = moments.endOrNull("asOf", asOf);
        return new ShownCoverage(
                sites.of(site).map(Site::name).orElse(null),
                at,
                coverage.recordedSince(id).orElse(null),
                at == null ? freezes.count(sight) : null,
                at == null ? findings.countOpen(sight, id) : null,
                coverage.all(sight, id, at),
                coverage.projects(sight, id, at));
    }

    @GetMapping("/experiments")
    Page<ExperimentCoverage> experiments(
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(defaultValue = "0") int after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        int id = sites.idOf(site);
        return Page.of(limit, most -> coverage.experiments(sight, id, after, most), ExperimentCoverage::experimentId);
    }

    @GetMapping("/groups")
    Page<Group> groups(
            @RequestParam String by,
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(required = false) @Nullable String asOf,
            @RequestParam(defaultValue = "") String after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        Dimension dimension = dimension(by);
        int id = sites.idOf(site);
        Instant at = moments.endOrNull("asOf", asOf);
        // The unknown has no name and comes last: no page comes after it.
        return Page.of(
                limit,
                most -> coverage.groups(sight, dimension, id, at, after, most),
                group -> requireNonNull(group.name()));
    }

    /** The experiments that have waited longest; there is no second page. */
    @GetMapping("/unprotected")
    Page<Unprotected> unprotected(
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        return new Page<>(coverage.oldestUnprotected(sight, sites.idOf(site), Page.checked(limit)), null);
    }

    @GetMapping("/changes")
    Between<Change> changes(
            @RequestParam String from,
            @RequestParam String until,
            @RequestParam(defaultValue = "project") String by,
            @RequestParam(required = false) @Nullable String site,
            Sight sight) {
        Instant first = moments.begin("from", from);
        Instant last = moments.end("until", until);
        return new Between<>(first, last, audit.changes(sight, dimension(by), sites.idOf(site), first, last));
    }

    @GetMapping("/waits")
    Between<Wait> waits(
            @RequestParam String from,
            @RequestParam String until,
            @RequestParam(defaultValue = "project") String by,
            @RequestParam(required = false) @Nullable String site,
            Sight sight) {
        Instant first = moments.begin("from", from);
        Instant last = moments.end("until", until);
        return new Between<>(first, last, audit.waits(sight, dimension(by), sites.idOf(site), first, last));
    }

    private static Dimension dimension(String word) {
        return Dimension.of(word).orElseThrow(() -> {
            String known =
                    Arrays.stream(Dimension.values()).map(Dimension::word).collect(Collectors.joining(", "));
            return new Refusal("by", "\"%s\": one of %s is accepted".formatted(word, known));
        });
    }
}
