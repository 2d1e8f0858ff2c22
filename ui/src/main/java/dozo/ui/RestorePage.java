package dozo.ui;

import dozo.drill.RestoreForecasts;
import dozo.file.FilePath;
import dozo.file.Selection;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.plan.RestoreCost.RestoreTime;
import dozo.plan.Work;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.restore.KeptRestore;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.restore.SelectionForm;
import dozo.ui.PageProblems.NotThere;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
        Sites sites,
        RestoreQueue queue,
        Restores restores,
        RestoreForecasts forecasts) {

    private static final int FINDINGS_SHOWN = 100;

    private static final int SELECTED_SHOWN = 20;

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
        return ask(ExperimentPage.found(experiments, project, code), new Form(typed, Map.of()), model);
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
            KeptRestore requested = queue.request(
                    experiment,
                    ManifestPage.chosen(
                            manifests, experiment, form.value("manifest").strip()),
                    selection(form),
                    sites.chosen(form.given("site")),
                    RegistrationPage.path("folder", form.value("folder")),
                    actor.getName());
            return "redirect:/experiments/%s/restores/%d".formatted(experiment.name(), requested.id());
        } catch (Refusal refused) {
            return ask(experiment, Form.refused(typed, refused), model);
        }
    }

    /** Returns the typed paths and patterns, and the exact path that a link on another page contained. */
    private static Selection selection(Form form) {
        List<byte[]> paths = new ArrayList<>(lines(form, "paths"));
        FilePath linked = Bytes.path("path", form.value("path"));
        if (!linked.isRoot()) {
            paths.add(linked.bytes());
        }
        return SelectionForm.of(paths, lines(form, "patterns"));
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
        return show(restore, restores, model);
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
