package dozo.ui;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Coverage;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Filter;
import dozo.ledger.Findings.Reason;
import dozo.ledger.Sight;
import dozo.manifest.Freezes;
import dozo.manifest.Freezes.Freeze;
import dozo.registry.Capacities;
import dozo.registry.ExperimentSearch;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.Promises;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Timetable;
import dozo.verify.Losses;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** The first page: whether everything is safe. */
@Controller
class OverviewPage {

    /** The id of no site. While none is registered, nothing is safe at this id, which is correct. */
    static final int NO_SITE = 0;

    private static final int FINDINGS_SHOWN = 5;
    private static final int LOST_SHOWN = 10;
    private static final int FROZEN_SHOWN = 10;
    private static final int OLDEST_SHOWN = 5;

    private final Coverage coverage;
    private final Losses losses;
    private final Freezes freezes;
    private final ExperimentSearch search;
    private final Experiments experiments;
    private final Runs runs;
    private final Findings findings;
    private final Sites sites;
    private final Capacities capacities;
    private final Promises promises;
    private final Timetable nights;
    private final InstantSource clock;

    /** A frozen experiment. */
    record Frozen(String project, String code, Freeze freeze) {

        public String name() {
            return project + "/" + code;
        }
    }

    OverviewPage(
            Coverage coverage,
            Losses losses,
            Freezes freezes,
            ExperimentSearch search,
            Experiments experiments,
            Runs runs,
            Findings findings,
            Sites sites,
            Capacities capacities,
            Promises promises,
            Timetable nights,
            InstantSource clock) {
        this.coverage = coverage;
        this.losses = losses;
        this.freezes = freezes;
        this.search = search;
        this.experiments = experiments;
        this.runs = runs;
        this.findings = findings;
        this.sites = sites;
        this.capacities = capacities;
        this.promises = promises;
        this.nights = nights;
        this.clock = clock;
    }

    @GetMapping("/")
    String overview(@RequestParam(name = "site", required = false) @Nullable String name, Sight sight, Model model) {
        List<Site> all = sites.all();
        Optional<Site> site = all.stream()
                .filter(each -> name == null || each.name().equals(name))
                .findFirst();
        int siteId = site.map(Site::id).orElse(NO_SITE);
        model.addAttribute("sites", all);
        model.addAttribute("several", all.size() > 1);
        model.addAttribute("addresses", sight.ofEverything());
        model.addAttribute("site", site.orElse(null));
        model.addAttribute("all", coverage.all(sight, siteId, null));
        model.addAttribute("projects", coverage.projects(sight, siteId, null));
        model.addAttribute("oldest", coverage.oldestUnprotected(sight, siteId, OLDEST_SHOWN));
        model.addAttribute("losses", losses.all(sight, LOST_SHOWN));
        addFrozen(sight, model);
        long atRisk = search.countAtRisk(sight, siteId);
        model.addAttribute("atRiskCount", atRisk);
        model.addAttribute("atRiskWords", Findings.words(atRisk));
        model.addAttribute("promise", promises.at(sight, siteId));
        model.addAttribute("capacity", capacities.of(siteId).orElse(null));
        model.addAttribute("nextNight", nights.next(clock.instant()).orElse(null));
        model.addAttribute("running", runs.goingOn().isPresent());
        // A scrub does not replace the last backup on the page, whose findings must stay visible.
        runs.latest(sight, RunKind.SCRUB).ifPresent(run -> model.addAttribute("scrub", run));
        runs.latestBackup(sight).ifPresent(run -> addRun(sight, model, run));
        addFindings(sight, siteId, model);
        return "overview";
    }

    private void addFrozen(Sight sight, Model model) {
        List<Freeze> shown = freezes.page(sight, 0, FROZEN_SHOWN);
        Map<Integer, Experiment> frozen =
                experiments.of(shown.stream().mapToInt(Freeze::experimentId).toArray()).stream()
                        .collect(Collectors.toMap(Experiment::id, Function.identity()));
        model.addAttribute("frozenCount", freezes.count(sight));
        model.addAttribute(
                "frozen",
                shown.stream()
                        .map(freeze -> frozen(requireNonNull(frozen.get(freeze.experimentId())), freeze))
                        .toList());
    }

    private static Frozen frozen(Experiment experiment, Freeze freeze) {
        return new Frozen(experiment.project(), experiment.code(), freeze);
    }

    private void addRun(Sight sight, Model model, Run run) {
        model.addAttribute("run", run);
        model.addAttribute("sending", run.goesOn());
        model.addAttribute("progress", runs.progress(sight, run.id()));
    }

    /** Adds findings that need a person, from all runs. Acknowledged ones are not counted. */
    private void addFindings(Sight sight, int siteId, Model model) {
        List<Reason> reasons = findings.openReasons(sight, siteId);
        model.addAttribute("reasons", reasons);
        model.addAttribute(
                "findingsOpen", reasons.stream().mapToLong(Reason::count).sum());
        model.addAttribute("findings", findings.page(sight, Filter.openAt(siteId), Long.MAX_VALUE, FINDINGS_SHOWN));
    }
}
