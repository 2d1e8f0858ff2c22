package dozo.ui;

import dozo.drill.RestoreForecasts;
import dozo.file.FilePath;
import dozo.file.Selection;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.plan.RestoreCost.RestoreTime;
import dozo.plan.Work;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.FileQuestion;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.restore.KeptRestore;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.restore.SelectionForm;
import dozo.ui.PageProblems.NotThere;
import dozo.verify.AllSeries;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Restores by the service into a folder of its machine: requesting and following them. */
@Controller
@RequestMapping("/experiments/{project}/{code}")
record RestorePage(
        Experiments experiments,
        Projects projects,
        Manifests manifests,
        AllSeries series,
        Sites sites,
        RestoreQueue queue,
        Restores restores,
        RestoreForecasts forecasts,
        Coverage coverage,
        Days days) {

    private static final int FINDINGS_SHOWN = 100;

    private static final int SELECTED_SHOWN = 20;

    /** So many names of a folder are tried, and so many earlier restores are looked at. */
    private static final int NAMES_TRIED = 100;

    /** Longer addresses are refused by servers and proxies. */
    private static final int LINKED_BYTES_MAX = 2_000;

    private static final FileQuestion<Boolean> IS_FREE =
            new FileQuestion<>(folder -> Files.notExists(folder, LinkOption.NOFOLLOW_LINKS));

    /**
     * The pace of a restore since it began.
     *
     * @param percent of its entries and bytes that are verified; null: their number is not known yet
     * @param secondsLeft null: unknown
     */
    record Pace(
            @Nullable Integer percent,
            double bytesPerSecond,
            @Nullable Double secondsLeft) {

        /** @param whole what it restores in all; null: unknown */
        static Pace of(KeptRestore restore, @Nullable Work whole, Instant now) {
            Instant begun = restore.startedAt() == null ? now : restore.startedAt();
            double seconds = Math.max(1, Duration.between(begun, now).toMillis() / 1e3);
            // Small files take as long as their number, and large ones as their size.
            double share = whole == null
                    ? 0
                    : (share(restore.bytesVerified(), whole.bytes())
                                    + share(restore.entriesVerified(), whole.entries()))
                            / 2;
            return new Pace(
                    whole == null ? null : (int) (100 * share),
                    restore.bytesVerified() / seconds,
                    share == 0 ? null : seconds * (1 - share) / share);
        }

        private static double share(long done, long all) {
            return all == 0 ? 1 : Math.min(1, (double) done / all);
        }
    }

    /**
     * How long a restore takes.
     *
     * @param time null: unknown, there were too few drills
     */
    record SiteForecast(String site, @Nullable RestoreTime time) {}

    /**
     * Shows what a restore does, and asks for the folder.
     *
     * @param typed may have a manifest, a path in it, paths and patterns, and a site
     */
    @GetMapping("/restore")
    String ask(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam Map<String, String> typed,
            Model model) {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        Map<String, String> filled = new HashMap<>(typed);
        filled.computeIfAbsent("folder", _ -> proposed(experiment));
        sites.all().stream()
                .max(Comparator.comparingLong(site -> bytesSafe(experiment, site)))
                .ifPresent(best -> filled.putIfAbsent("site", best.name()));
        return ask(experiment, new Form(filled, Map.of()), model);
    }

    private long bytesSafe(Experiment experiment, Site site) {
        return coverage.experiment(site.id(), experiment.id())
                .map(ExperimentCoverage::bytesSafe)
                .orElse(0L);
    }

    /** Returns a folder that does not exist yet, below the project's first restore folder; empty if none is known. */
    private String proposed(Experiment experiment) {
        List<Path> roots = projects.find(experiment.project()).orElseThrow().restoreRoots();
        Set<String> asked = restores.page(experiment, Long.MAX_VALUE, NAMES_TRIED).stream()
                .map(KeptRestore::destination)
                .collect(Collectors.toSet());
        String name = experiment.code() + "-" + days.today();
        try {
            for (int n = 1; n <= NAMES_TRIED && !roots.isEmpty(); n++) {
                Path folder = roots.getFirst().resolve(n == 1 ? name : name + "-" + n);
                String text = FilePath.render(FilePath.rawBytes(folder));
                // A form has text: a folder whose name is not UTF-8 cannot be proposed.
                if (!asked.contains(text)
                        && RegistrationPage.path("folder", text).equals(folder)
                        && IS_FREE.about("folder", folder, FileQuestion.PERSON)) {
                    return text;
                }
            }
        } catch (IOException | Refusal silent) {
            // Nothing is known of any folder there.
        }
        return "";
    }

    @PostMapping("/restore")
    String request(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam Map<String, String> typed,
            Principal actor,
            Model model) {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        Form form = new Form(typed, Map.of());
        try {
            KeptRestore requested = requested(experiment, form, actor.getName());
            return "redirect:/experiments/%s/restores/%d".formatted(experiment.name(), requested.id());
        } catch (Refusal refused) {
            return ask(experiment, Form.refused(typed, refused), model);
        }
    }

    private KeptRestore requested(Experiment experiment, Form form, String actor) {
        Manifest manifest = ManifestPage.chosen(
                manifests, experiment, form.value("manifest").strip());
        Selection selection = selection(form, manifest);
        Site site = sites.chosen(form.given("site"));
        return form.value("inPlace").equals("true")
                ? queue.requestInPlace(experiment, manifest, selection, site, actor)
                : queue.request(
                        experiment,
                        manifest,
                        selection,
                        site,
                        RegistrationPage.path("folder", form.value("folder")),
                        actor);
    }

    /** Returns the typed paths, patterns and series, and the exact path that a link on another page contained. */
    private Selection selection(Form form, Manifest manifest) {
        List<byte[]> paths = new ArrayList<>(lines(form, "paths"));
        FilePath linked = Bytes.path("path", form.value("path"));
        if (!linked.isRoot()) {
            paths.add(linked.bytes());
        }
        List<String> uids = form.value("series")
                .lines()
                .map(String::strip)
                .filter(uid -> !uid.isEmpty())
                .toList();
        return SelectionForm.of(
                paths, lines(form, "patterns"), series.paths(manifest.experimentId(), manifest.number(), uids));
    }

    /** NB: names may begin or end with white space. */
    private static List<byte[]> lines(Form form, String field) {
        return form.value(field)
                .lines()
                .filter(line -> !line.isBlank())
                .map(line -> line.getBytes(StandardCharsets.UTF_8))
                .toList();
    }

    private String ask(Experiment experiment, Form form, Model model) {
        FilePath part = Bytes.path("path", form.value("path"));
        model.addAttribute("experiment", experiment);
        model.addAttribute("part", part.isRoot() ? null : part);
        model.addAttribute(
                "roots",
                projects.find(experiment.project()).orElseThrow().restoreRoots().stream()
                        .map(root -> FilePath.render(FilePath.rawBytes(root)))
                        .toList());
        model.addAttribute("sites", sites.all().stream().map(Site::name).toList());
        List<Manifest> all = manifests.all(experiment.id());
        model.addAttribute("manifests", all);
        // The form selects the latest, unless it is asked for another.
        Work work = all.stream()
                .filter(each -> form.value("manifest").isEmpty()
                        || form.value("manifest").equals("" + each.number()))
                .findFirst()
                .map(each -> new Work(each.bytes(), each.entries()))
                .orElse(Work.NONE);
        model.addAttribute(
                "forecasts",
                sites.all().stream()
                        .map(site -> new SiteForecast(
                                site.name(), forecasts.of(site.id(), work).orElse(null)))
                        .toList());
        model.addAttribute("form", form);
        return "restore";
    }

    @GetMapping("/restores/{id}")
    String restore(@PathVariable String project, @PathVariable String code, @PathVariable long id, Model model) {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        KeptRestore restore = restores.find(experiment, id)
                .orElseThrow(() -> new NotThere("%s has no restore with the number %d", experiment.name(), id));
        Manifest manifest = ManifestPage.found(manifests, experiment, restore.manifest());
        // The number of files that go into an archive is not known.
        boolean everything = restore.origin() == null
                && restore.paths().isEmpty()
                && restore.patterns().isEmpty();
        Work whole = everything ? new Work(manifest.bytes(), manifest.entries()) : null;
        model.addAttribute("linkable", isLinkable(restore));
        model.addAttribute("pace", Pace.of(restore, whole, days.clock().instant()));
        model.addAttribute(
                "otherSites",
                sites.all().stream()
                        .map(Site::name)
                        .filter(name -> !name.equals(restore.site()))
                        .toList());
        return show(restore, restores, model);
    }

    /** Returns whether a link can repeat a restore. A form has text: other names would select something else. */
    static boolean isLinkable(KeptRestore restore) {
        byte[] folder = restore.folderBytes();
        if (folder == null) {
            return false;
        }
        Object[] exact = Stream.of(List.of(folder), restore.pathsBytes(), restore.patternsBytes())
                .flatMap(List::stream)
                .toArray();
        Object[] typed = Stream.of(List.of(restore.destination()), restore.paths(), restore.patterns())
                .flatMap(List::stream)
                .filter(line -> !line.isBlank())
                .map(line -> line.getBytes(StandardCharsets.UTF_8))
                .toArray();
        return Arrays.deepEquals(exact, typed)
                && Stream.of(typed).mapToInt(line -> ((byte[]) line).length).sum() <= LINKED_BYTES_MAX;
    }

    /** Shows a restore or a drill: its progress, and what could not be restored. */
    static String show(KeptRestore restore, Restores restores, Model model) {
        List<String> selected = Stream.concat(restore.paths().stream(), restore.patterns().stream())
                .toList();
        model.addAttribute("restore", restore);
        model.addAttribute("selected", selected.stream().limit(SELECTED_SHOWN).toList());
        model.addAttribute("selectedMore", Math.max(0, selected.size() - SELECTED_SHOWN));
        model.addAttribute("findings", restores.findings(restore.id(), 0, FINDINGS_SHOWN));
        return "restored";
    }
}
