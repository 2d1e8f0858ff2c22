package dozo.api;

import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Coverage.Totals;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What is safe at a site. */
@RestController
@RequestMapping("/api/v1/coverage")
class CoverageApi {

    /** No site has this id, so nothing is safe there: the truth while none is registered. */
    private static final int NO_SITE = 0;

    private final Coverage coverage;
    private final Sites sites;

    /**
     * A site's coverage.
     *
     * @param site missing while none is registered
     */
    record ShownCoverage(@Nullable String site, Totals totals, List<Totals> projects) {}

    CoverageApi(Coverage coverage, Sites sites) {
        this.coverage = coverage;
        this.sites = sites;
    }

    @GetMapping
    ShownCoverage totals(@RequestParam(required = false) @Nullable String site) {
        Optional<Site> at = site(site);
        int id = at.map(Site::id).orElse(NO_SITE);
        return new ShownCoverage(at.map(Site::name).orElse(null), coverage.all(id), coverage.projects(id));
    }

    @GetMapping("/experiments")
    Page<ExperimentCoverage> experiments(
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(defaultValue = "0") int after,
            @RequestParam(defaultValue = Page.LIMIT) int limit) {
        int id = site(site).map(Site::id).orElse(NO_SITE);
        return Page.of(limit, most -> coverage.experiments(id, after, most), ExperimentCoverage::experimentId);
    }

    private Optional<Site> site(@Nullable String name) {
        if (name != null) {
            return Optional.of(sites.find(name).orElseThrow(Missing.thing("site", name)));
        }
        List<Site> all = sites.all();
        if (all.size() > 1) {
            throw new Refusal("site", "there are %d sites; name one".formatted(all.size()));
        }
        return all.stream().findFirst();
    }
}
