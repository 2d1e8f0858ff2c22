package dozo.ui;

import static java.util.Objects.requireNonNull;

import dozo.collect.Arrivals;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.FindingFilter;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Reason;
import dozo.ledger.Sight;
import dozo.manifest.Freezes;
import dozo.manifest.Freezes.Freeze;
import dozo.registry.Capabilities;
import dozo.registry.Capacities;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.Headlines;
import dozo.run.Headlines.Headline;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Services;
import dozo.worklist.Gaps;
import jakarta.servlet.http.HttpServletResponse;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** The first page: whether everything is safe. */
@Controller
record OverviewPage(
        Coverage coverage,
        Freezes freezes,
        Experiments experiments,
        Runs runs,
        Findings findings,
        Capacities capacities,
        Headlines headlines,
        Capabilities capabilities,
        Projects projects,
        Arrivals arrivals,
        Gaps gaps,
        Services services,
        MyExperiments mine,
        InstantSource clock) {

    private static final int CAUSES_SHOWN = 5;
    private static final int FROZEN_SHOWN = 10;
    private static final int OLDEST_SHOWN = 5;
    private static final int PROJECTS_SHOWN = 10;

    private static final Arrivals.Filter PROPOSED = new Arrivals.Filter(null, null, true, null);

    /** A frozen experiment. */
    record Frozen(Experiment experiment, Freeze freeze) {}

    /**
     * What has been done on a new installation.
     *
     * @param site whether a check has found a usable site
     * @param project whether the user sees a project
     */
    record Steps(boolean site, boolean project) {}

    @GetMapping("/")
    String overview(@RequestParam(name = "site", required = false) @Nullable String name, Sight sight, Model model) {
        List<Headline> all = headlines.all(sight);
        Headline headline = all.stream()
                .filter(each -> name == null || name.equals(each.siteName()))
                .min(Comparator.comparing(Headline::kind))
                .orElseGet(() -> headlines.of(sight, null));
        Site site = headline.site();
        int siteId = site == null ? Sites.NO_SITE : site.id();
        model.addAttribute("several", all.size() > 1);
        model.addAttribute("addresses", sight.ofEverything());
        model.addAttribute("site", site);
        model.addAttribute("headlines", all);
        model.addAttribute("mine", mine.of(sight, siteId));
        model.addAttribute("all", headline.all());
        addProjects(coverage.projects(sight, siteId, null), model);
        model.addAttribute("oldest", coverage.oldestUnprotected(sight, siteId, null, OLDEST_SHOWN));
        model.addAttribute("headline", headline);
        model.addAttribute("retired", headline.retired());
        model.addAttribute("lost", headline.lost());
        addFrozen(sight, model);
        addSteps(sight, headline, model);
        model.addAttribute("promise", headline.promise());
        model.addAttribute("capacity", capacities.of(siteId).orElse(null));
        model.addAttribute("nextNight", headline.nextNight());
        model.addAttribute("running", runs.goingOn().isPresent());
        model.addAttribute("notStandingBy", sight.ofEverything() ? Services.missing(services.all()) : List.of());
        model.addAttribute("unlike", sight.ofEverything() ? services.unlike() : List.of());
        model.addAttribute("proposals", arrivals.count(sight, PROPOSED));
        Gaps.Filter open = new Gaps.Filter(null, null, clock.instant(), null, null, false);
        model.addAttribute(
                "gaps",
                gaps.page(sight, open, siteId, "", Findings.COUNTED_MAX + 1).size());
        // A scrub does not replace the last backup on the page, whose findings must stay visible.
        runs.latest(sight, RunKind.SCRUB).ifPresent(run -> model.addAttribute("scrub", run));
        runs.latestBackup(sight).ifPresent(run -> addRun(sight, model, run));
        addFindings(sight, headline, siteId, model);
        return "overview";
    }

    /** Follows the last night while a run goes on. Nothing else of the page is needed for that. */
    @GetMapping(value = "/", headers = "HX-Request")
    String night(Sight sight, Model model, HttpServletResponse response) {
        boolean running = runs.goingOn().isPresent();
        if (!running) {
            // The rest of the page has changed, too.
            response.setHeader("HX-Refresh", "true");
        }
        model.addAttribute("running", running);
        model.addAttribute("run", null);
        runs.latestBackup(sight).ifPresent(run -> addRun(sight, model, run));
        return "overview :: night";
    }

    /** Adds the projects with the most unprotected data. */
    private static void addProjects(List<Totals> all, Model model) {
        model.addAttribute("projectsCount", all.size());
        model.addAttribute(
                "projects",
                all.stream()
                        .sorted(Comparator.comparingLong((Totals each) -> each.bytesSafe() - each.bytes())
                                .thenComparingLong(each -> each.experimentsSafe() - each.experiments()))
                        .limit(PROJECTS_SHOWN)
                        .toList());
    }

    /** Adds the first steps until a backup has run. */
    private void addSteps(Sight sight, Headline headline, Model model) {
        Site site = headline.site();
        if (site == null
                || headline.all().experiments() + headline.retired().experiments() == 0
                || runs.latestBackup(sight).isEmpty()) {
            boolean checked = site != null && capabilities.of(site.id()).isPresent();
            model.addAttribute(
                    "steps", new Steps(checked, !projects.page(sight, "", 1).isEmpty()));
        }
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
                        .map(freeze -> new Frozen(requireNonNull(frozen.get(freeze.experimentId())), freeze))
                        .toList());
    }

    private void addRun(Sight sight, Model model, Run run) {
        model.addAttribute("run", run);
        model.addAttribute("sending", run.goesOn());
        model.addAttribute("progress", runs.progress(sight, run.id()));
    }

    /** Adds findings that need a person, from all runs. Acknowledged ones are not counted. */
    private void addFindings(Sight sight, Headline headline, int siteId, Model model) {
        List<Reason> reasons = headline.reasons();
        model.addAttribute("reasons", reasons);
        model.addAttribute(
                "findingsOpen", reasons.stream().mapToLong(Reason::count).sum());
        model.addAttribute(
                "causes",
                Cut.of(
                        CAUSES_SHOWN,
                        most -> findings.groups(sight, FindingFilter.openAt(siteId), null, most),
                        group -> "" + group.latest().id()));
    }
}
