package dozo.ui;

import dozo.ledger.Coverage;
import dozo.ledger.PastCoverage;
import dozo.ledger.Sight;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.RequestParam;
import org.thymeleaf.context.LazyContextVariable;

/** Adds the history of coverage to the page for auditors. */
@ControllerAdvice(assignableTypes = AuditPage.class)
class CoverageHistory {

    private final Coverage coverage;
    private final PastCoverage past;
    private final Sites sites;
    private final InstantSource clock;
    private final ZoneId zone;

    CoverageHistory(Coverage coverage, PastCoverage past, Sites sites, InstantSource clock, ZoneId zone) {
        this.coverage = coverage;
        this.past = past;
        this.sites = sites;
        this.clock = clock;
        this.zone = zone;
    }

    /** Returns the history of the site that the page shows. It is loaded only by a template that shows it. */
    @ModelAttribute("history")
    LazyContextVariable<Optional<CoverageChart>> history(
            @RequestParam(name = "site", required = false) @Nullable String name, Sight sight) {
        return new LazyContextVariable<>() {
            @Override
            protected Optional<CoverageChart> loadValue() {
                return Plot.tried(() -> load(name, sight));
            }
        };
    }

    private CoverageChart load(@Nullable String name, Sight sight) {
        int site = sites.all().stream()
                .filter(each -> name == null || name.isBlank() || each.name().equals(name))
                .findFirst()
                .map(Site::id)
                .orElse(Sites.NO_SITE);
        Instant now = clock.instant();
        List<Instant> moments =
                CoverageChart.moments(coverage.recordedSince(site).orElse(now), now, zone);
        return CoverageChart.of(moments, past.history(sight, site, moments));
    }
}
