package dozo.ui;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Wanted;
import dozo.ledger.Sight;
import dozo.manifest.Freezes;
import dozo.manifest.Freezes.Freeze;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.Promises;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import java.security.Principal;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
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
    private static final int FROZEN_SHOWN = 10;

    private final Coverage coverage;
    private final Freezes freezes;
    private final Experiments experiments;
    private final Runs runs;
    private final Findings findings;
    private final Sites sites;
    private final Promises promises;
    private final InstantSource clock;
    private final Format format;

    /** A frozen experiment. */
    record Frozen(String experiment, Freeze freeze) {}

    OverviewPage(
            Coverage coverage,
            Freezes freezes,
            Experiments experiments,
            Runs runs,
            Findings findings,
            Sites sites,
            Promises promises,
            InstantSource clock,
            ZoneId zone) {
        this.coverage = coverage;
        this.freezes = freezes;
        this.experiments = experiments;
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
        addFrozen(sight, model);
        model.addAttribute("promise", promises.at(sight, siteId));
        model.addAttribute("running", runs.goingOn().isPresent());
        // A scrub takes no night's place on the page, for a night's findings are still to be seen.
        runs.latest(sight, RunKind.SCRUB).ifPresent(run -> model.addAttribute("scrub", run));
        runs.latestBackup(sight).ifPresent(run -> addRun(sight, model, run));
        addFindings(sight, siteId, model);
        return "overview";
    }

    private void addFrozen(Sight sight, Model model) {
        List<Freeze> shown = freezes.page(sight, 0, FROZEN_SHOWN);
        Map<Integer, String> names = experiments
                .of(shown.stream().mapToInt(Freeze::experimentId).toArray())
                .stream()
                .collect(Collectors.toMap(Experiment::id, Experiment::name));
        model.addAttribute("frozenCount", freezes.count(sight));
        model.addAttribute(
                "frozen",
                shown.stream()
                        .map(freeze -> new Frozen(requireNonNull(names.get(freeze.experimentId())), freeze))
                        .toList());
    }

    private static void addExperiments(Model model, List<ExperimentCoverage> found) {
        boolean more = found.size() > EXPERIMENTS_SHOWN;
        List<ExperimentCoverage> shown = more ? found.subList(0, EXPERIMENTS_SHOWN) : found;
        model.addAttribute("experiments", shown);
        model.addAttribute("next", more ? shown.getLast().experimentId() : null);
    }

    private void addRun(Sight sight, Model model, Run run) {
        model.addAttribute("run", run);
        model.addAttribute("sending", run.goesOn());
        model.addAttribute("progress", runs.progress(sight, run.id()));
    }

    /** Those that need a person, whichever run found them; what was acknowledged is counted no more. */
    private void addFindings(Sight sight, int siteId, Model model) {
        model.addAttribute("findingsOpen", findings.countOpen(sight, siteId));
        model.addAttribute("findings", findings.page(sight, Wanted.openAt(siteId), Long.MAX_VALUE, FINDINGS_SHOWN));
    }
}
