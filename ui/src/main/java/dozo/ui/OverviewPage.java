package dozo.ui;

import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Findings;
import dozo.ledger.Sight;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.Promises;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.security.Principal;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** The first page: is everything safe? */
@Controller
class OverviewPage {

    /** No site has this id, so nothing is safe there: the truth while none is registered. */
    private static final int NO_SITE = 0;

    private static final int EXPERIMENTS_SHOWN = 200;
    private static final int FINDINGS_SHOWN = 100;
    private static final int RUNS_LOOKED_AT = 100;

    private final Coverage coverage;
    private final Runs runs;
    private final Findings findings;
    private final Sites sites;
    private final Promises promises;
    private final InstantSource clock;
    private final Format format;

    OverviewPage(
            Coverage coverage,
            Runs runs,
            Findings findings,
            Sites sites,
            Promises promises,
            InstantSource clock,
            ZoneId zone) {
        this.coverage = coverage;
        this.runs = runs;
        this.findings = findings;
        this.sites = sites;
        this.promises = promises;
        this.clock = clock;
        this.format = new Format(zone);
    }

    @GetMapping("/")
    String overview(
            @RequestParam(name = "site", required = false) @Nullable String name,
            @RequestParam(defaultValue = "0") int after,
            @Nullable Principal person,
            Sight sight,
            Model model) {
        List<Site> all = sites.all();
        Optional<Site> site = all.stream()
                .filter(each -> name == null || each.name().equals(name))
                .findFirst();
        int siteId = site.map(Site::id).orElse(NO_SITE);
        model.addAttribute("format", format);
        model.addAttribute("now", clock.instant());
        model.addAttribute("person", person == null ? "" : person.getName());
        model.addAttribute("sites", all);
        model.addAttribute("addresses", sight.ofEverything());
        model.addAttribute("site", site.orElse(null));
        model.addAttribute("all", coverage.all(sight, siteId, null));
        model.addAttribute("projects", coverage.projects(sight, siteId, null));
        addExperiments(model, coverage.experiments(sight, siteId, after, EXPERIMENTS_SHOWN + 1));
        model.addAttribute("promise", promises.at(sight, siteId));
        List<Run> latest = runs.page(sight, Long.MAX_VALUE, RUNS_LOOKED_AT);
        model.addAttribute("running", latest.stream().anyMatch(run -> run.state() == RunState.RUNNING));
        latest(latest, RunKind.SCRUB).ifPresent(run -> model.addAttribute("scrub", run));
        latest(latest, RunKind.NIGHTLY_BACKUP).ifPresent(run -> addRun(sight, model, run));
        return "overview";
    }

    /** A scrub takes no night's place on the page, for a night's findings are still to be seen. */
    private static Optional<Run> latest(List<Run> runs, RunKind kind) {
        return runs.stream().filter(run -> run.kind() == kind).findFirst();
    }

    private static void addExperiments(Model model, List<ExperimentCoverage> found) {
        boolean more = found.size() > EXPERIMENTS_SHOWN;
        List<ExperimentCoverage> shown = more ? found.subList(0, EXPERIMENTS_SHOWN) : found;
        model.addAttribute("experiments", shown);
        model.addAttribute("next", more ? shown.getLast().experimentId() : null);
    }

    private void addRun(Sight sight, Model model, Run run) {
        model.addAttribute("run", run);
        model.addAttribute("sending", run.state() == RunState.RUNNING);
        model.addAttribute("progress", runs.progress(sight, run.id()));
        model.addAttribute("findings", findings.of(sight, run.id(), 0, FINDINGS_SHOWN));
    }
}
