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
import dozo.registry.Capacities;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.FirstSteps;
import dozo.run.FirstSteps.FirstStep;
import dozo.run.FirstSteps.Step;
import dozo.run.Headlines;
import dozo.run.Headlines.Headline;
import dozo.run.Nights;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Services;
import dozo.worklist.Gaps;
import dozo.worklist.Gaps.Gap;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
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
        FirstSteps steps,
        Arrivals arrivals,
        Gaps gaps,
        Services services,
        Nights nights,
        Days days,
        MyExperiments mine,
        InstantSource clock) {

    /** Until these are done, the page is about nothing else. */
    private static final Set<Step> BEGINNING = Set.of(Step.SITE, Step.EXPERIMENT, Step.BACKUP);

    private static final int CAUSES_SHOWN = 5;
    private static final int FROZEN_SHOWN = 10;
    private static final int OLDEST_SHOWN = 5;
    private static final int TODAY_SHOWN = 6;
    private static final int PROJECTS_SHOWN = 10;

    /** Scanners have purged what is older, and to count all gaps of ten years takes seconds. */
    private static final int GAPS_DAYS = 31;

    private static final Arrivals.Filter PROPOSED = new Arrivals.Filter(null, null, true, null);

    /** A frozen experiment. */
    record Frozen(Experiment experiment, Freeze freeze) {}

    @GetMapping("/")
    String overview(
            @RequestParam(name = "site", required = false) @Nullable String name,
            Sight sight,
            Locale locale,
            HttpServletRequest request,
            Model model) {
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
        addSteps(Viewer.of(request), site, model);
        model.addAttribute("promise", headline.promise());
        if (site != null) {
            addPictures(site, all.size() > 1, new Format(days.zone(), locale), model);
        }
        addToday(sight, siteId, model);
        model.addAttribute("nextNight", headline.nextNight());
        model.addAttribute("running", runs.goingOn().isPresent());
        model.addAttribute("notStandingBy", sight.ofEverything() ? Services.missing(services.all()) : List.of());
        model.addAttribute("unlike", sight.ofEverything() ? services.unlike() : List.of());
        model.addAttribute("proposals", arrivals.count(sight, PROPOSED));
        LocalDate since = days.today().minusDays(GAPS_DAYS - 1);
        Gaps.Filter open = new Gaps.Filter(since, days.today(), clock.instant(), null, null, false);
        model.addAttribute("gapsSince", since);
        model.addAttribute(
                "gaps",
                gaps.page(sight, open, siteId, "", Findings.COUNTED_MAX + 1).size());
        // A scrub does not replace the last backup on the page, whose findings must stay visible.
        runs.latest(sight, null, RunKind.SCRUB, RunKind.HOME_SCRUB).ifPresent(run -> model.addAttribute("scrub", run));
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

    /** Adds the first steps that the viewer may take: all until a backup was made, then those that are open. */
    private void addSteps(Viewer viewer, @Nullable Site site, Model model) {
        List<FirstStep> all = steps.all();
        boolean first = all.stream().anyMatch(each -> BEGINNING.contains(each.step()) && each.open());
        model.addAttribute("first", first);
        model.addAttribute(
                "steps",
                NextStep.all(all, site, viewer).stream()
                        .filter(each -> each.of().open() || (first && each.of().done()))
                        .toList());
    }

    /** Adds how the last nights went, of one site if there are several, and the room that is left. */
    private void addPictures(Site site, boolean several, Format format, Model model) {
        Instant now = clock.instant();
        Instant from = days.begin(days.today().minusDays(NightCalendar.DAYS_LATELY));
        model.addAttribute(
                "strip",
                Charts.tried(() -> NightCalendar.of(
                        nights.since(from).stream()
                                .filter(night -> !several || night.site().equals(site.name()))
                                .toList(),
                        nights.sites().stream()
                                .filter(each -> !several || each.site().equals(site.name()))
                                .toList(),
                        now,
                        format)));
        capacities.of(site.id()).ifPresent(capacity -> {
            model.addAttribute("capacity", capacity);
            model.addAttribute("space", Charts.space(capacities, site, capacity, now));
        });
    }

    /** Adds what is booked for today, and what origins have delivered or proposed today. */
    private void addToday(Sight sight, int siteId, Model model) {
        LocalDate today = days.today();
        Gaps.Filter booked = new Gaps.Filter(today, today, clock.instant(), null, null, true);
        model.addAttribute("day", today);
        model.addAttribute("booked", Cut.of(TODAY_SHOWN, most -> gaps.page(sight, booked, siteId, "", most), Gap::key));
        model.addAttribute(
                "came",
                Cut.of(TODAY_SHOWN, most -> arrivals.since(sight, days.begin(today), most), each -> "" + each.id()));
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
