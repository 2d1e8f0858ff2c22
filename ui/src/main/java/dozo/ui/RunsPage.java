package dozo.ui;

import dozo.collect.Reconciliations;
import dozo.ledger.FindingFilter;
import dozo.ledger.Findings;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.registry.Sites;
import dozo.run.Forecasts;
import dozo.run.Limit;
import dozo.run.Limits;
import dozo.run.Limits.Bottleneck;
import dozo.run.Nights;
import dozo.run.Operations;
import dozo.run.Paces;
import dozo.run.RunExperiments;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Tunings;
import dozo.transfer.RunWorkers;
import dozo.ui.PageProblems.NotThere;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;

/** The runs: each of them live. */
@Controller
record RunsPage(
        Runs runs,
        Operations operations,
        RunExperiments experiments,
        Findings findings,
        Reconciliations reconciliations,
        Sites sites,
        RunWatch watch,
        Paces paces,
        Limits bottlenecks,
        RunWorkers workers,
        Tunings tunings,
        Forecasts forecasts,
        Nights nights,
        InstantSource clock,
        ZoneId zone) {

    private static final int SHOWN = 50;
    private static final int FINDINGS_SHOWN = 50;

    /** Lists the runs, latest first. The first page also has pictures of the nights. */
    @GetMapping("/runs")
    String list(@RequestParam(required = false) @Nullable Long after, Sight sight, Locale locale, Model model) {
        if (after == null) {
            draw(sight, new Format(zone, locale), model);
        }
        long before = after == null ? Long.MAX_VALUE : after;
        model.addAttribute("runs", Cut.of(SHOWN, most -> runs.page(sight, before, most), run -> "" + run.id()));
        model.addAttribute("goesOn", runs.goingOn().isPresent());
        model.addAttribute("sites", sites.all());
        return "runs";
    }

    private void draw(Sight sight, Format format, Model model) {
        Instant now = clock.instant();
        model.addAttribute("everything", sight.ofEverything());
        model.addAttribute(
                "calendar",
                Charts.tried(() -> NightCalendar.of(
                        nights.since(NightCalendar.begin(now, zone)
                                .atStartOfDay(zone)
                                .toInstant()),
                        nights.sites(),
                        now,
                        format)));
        model.addAttribute(
                "bars",
                Charts.tried(() -> Charts.Proofs.of(nights.proven(sight, Charts.Proofs.begin(now, zone)), zone)));
    }

    /** Follows the experiments of a run while it goes on. Nothing else of the page is needed for that. */
    @GetMapping(value = "/runs/{id}", headers = "HX-Request")
    String experiments(@PathVariable long id, @RequestParam(defaultValue = "0") long after, Sight sight, Model model) {
        addExperiments(find(sight, id), after, sight, model);
        return "runexperiments :: list";
    }

    private void addExperiments(Run run, long after, Sight sight, Model model) {
        model.addAttribute("run", run);
        model.addAttribute(
                "experiments",
                Cut.of(SHOWN, most -> experiments.page(sight, run.id(), after, most), each -> "" + each.place()));
    }

    @GetMapping("/runs/{id}")
    String run(@PathVariable long id, @RequestParam(defaultValue = "0") long after, Sight sight, Model model) {
        Run run = find(sight, id);
        addExperiments(run, after, sight, model);
        FindingFilter open = new FindingFilter(true, null, null, null, id, null);
        List<KeptFinding> shown = findings.of(sight, id, 0, FINDINGS_SHOWN);
        model.addAttribute("scrub", run.kind().isScrub());
        model.addAttribute("sample", watch.of(sight, run));
        model.addAttribute("limits", Limit.values());
        List<Bottleneck> slowed = bottlenecks.of(id);
        model.addAttribute("bottlenecks", slowed);
        model.addAttribute("helps", Limits.best(slowed).orElse(null));
        model.addAttribute("workers", sight.ofEverything() ? workers.of(id) : List.of());
        model.addAttribute("tuning", sight.ofEverything() ? tunings.of(id) : List.of());
        model.addAttribute("everything", sight.ofEverything());
        model.addAttribute("outlook", sight.ofEverything() ? forecasts.of(id).orElse(null) : null);
        // What the engine has moved is not known by project.
        model.addAttribute(
                "pace", Charts.tried(() -> new Charts.Speed(sight.ofEverything() ? paces.of(id) : List.of())));
        model.addAttribute("underWay", operations.worksOn(run));
        model.addAttribute("findings", shown);
        model.addAttribute("reports", sight.ofEverything() ? reconciliations.of(id) : List.of());
        model.addAttribute(
                "reconciled", !reconciliations.lines(sight, id, null, 0, 1).isEmpty());
        model.addAttribute(
                "retriable",
                !run.goesOn()
                        && !run.kind().isScrub()
                        && findings.page(sight, open, Long.MAX_VALUE, FINDINGS_SHOWN).stream()
                                .anyMatch(finding -> finding.experiment() != null));
        return "run";
    }

    private Run find(Sight sight, long id) {
        return runs.find(sight, id).orElseThrow(() -> new NotThere("run %d does not exist", id));
    }
}
