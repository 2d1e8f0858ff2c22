package dozo.ui;

import dozo.file.FilePath;
import dozo.manifest.ChangeSummary;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Change;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.restore.SitePictures;
import dozo.send.SiteCopy;
import dozo.ui.FolderContents.ShownEntry;
import dozo.ui.PageProblems.NotThere;
import dozo.verify.Copies;
import dozo.verify.Proofs;
import dozo.verify.Proofs.FileProof;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** The content of an experiment by folder, the changes between two manifests, and the proof of one file. */
@Controller
@RequestMapping("/experiments/{project}/{code}")
record ManifestPage(
        Experiments experiments,
        Manifests manifests,
        ChangeSummary summaries,
        Proofs proofs,
        FolderContents contents,
        Copies copies,
        SitePictures pictures,
        Sites sites) {

    private static final int ENTRIES_SHOWN = 200;
    private static final int CHANGES_SHOWN = 200;
    private static final int FOLDERS_SHOWN = 20;
    private static final int PROOFS_SHOWN = 100;

    /**
     * Where the latest proven content of a path is at a site.
     *
     * @param copy null: the site has no receipt for it
     */
    record Place(Site site, FileProof proof, @Nullable SiteCopy copy) {}

    /** @param after the path of the last entry on the previous page */
    @GetMapping("/manifests/{number}")
    String folder(
            @PathVariable String project,
            @PathVariable String code,
            @PathVariable int number,
            @RequestParam(defaultValue = "") String folder,
            @RequestParam(defaultValue = "") String after,
            @RequestParam(name = "site", required = false) @Nullable String siteName,
            Model model) {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        Manifest manifest = manifest(experiment, number);
        FilePath path = Bytes.path("folder", folder);
        byte[] last = after.isEmpty() ? new byte[0] : Bytes.path("after", after).name();
        Site site = Choices.site(sites.all(), siteName);
        Cut<ShownEntry> entries = contents.of(experiment.id(), number, path, last, site, ENTRIES_SHOWN);
        model.addAttribute("experiment", experiment);
        model.addAttribute("manifest", manifest);
        model.addAttribute("folder", path);
        model.addAttribute("above", above(path));
        model.addAttribute("sites", sites.all());
        model.addAttribute("site", site);
        model.addAttribute("next", entries.next());
        model.addAttribute("entries", entries.items());
        return "manifest";
    }

    /** Lists the folders from the outermost one to this one, without the source itself. */
    private static List<FilePath> above(FilePath folder) {
        List<FilePath> above = new ArrayList<>();
        for (FilePath each = folder; !each.isRoot(); each = each.parent()) {
            above.addFirst(each);
        }
        return above;
    }

    @GetMapping("/changes")
    String changes(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam int from,
            @RequestParam int to,
            @RequestParam(required = false) @Nullable String folder,
            @RequestParam(defaultValue = "") String after,
            Model model) {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        if (from < 1 || to <= from) {
            throw new Refusal("from", "expected the number of an earlier manifest, and in \"to\" that of a later one");
        }
        FilePath last = Bytes.path("after", after);
        FilePath only = folder == null ? null : Bytes.path("folder", folder);
        Cut<Change> changes = Cut.of(
                CHANGES_SHOWN,
                most -> manifests.changes(experiment.id(), from, to, only, last, most),
                change -> Bytes.of(change.path()));
        model.addAttribute("experiment", experiment);
        model.addAttribute("from", manifest(experiment, from));
        model.addAttribute("to", manifest(experiment, to));
        model.addAttribute("only", only);
        if (only == null && after.isEmpty()) {
            model.addAttribute("summary", summaries.between(experiment.id(), from, to, FOLDERS_SHOWN));
        }
        model.addAttribute("next", changes.next());
        model.addAttribute("changes", changes.items());
        return "changes";
    }

    @GetMapping("/proof")
    String proof(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam String path,
            @RequestParam(name = "site", required = false) @Nullable String siteName,
            Model model) {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        FilePath asked = Bytes.path("path", path);
        Site site = Choices.site(sites.all(), siteName);
        List<FileProof> found = asked.isRoot()
                ? List.of()
                : proofs.of(experiment.id(), site == null ? Sites.NO_SITE : site.id(), asked, PROOFS_SHOWN);
        if (found.isEmpty()) {
            throw new NotThere("no manifest of %s has contained \"%s\"", experiment.name(), asked);
        }
        model.addAttribute("experiment", experiment);
        model.addAttribute("path", asked);
        model.addAttribute("proofs", found);
        model.addAttribute("pictures", pictures);
        model.addAttribute(
                "places",
                sites.all().stream().map(each -> place(experiment, each, asked)).toList());
        model.addAttribute("manifest", manifests.current(experiment.id()).orElse(null));
        model.addAttribute("sites", sites.all());
        model.addAttribute("site", site);
        return "proof";
    }

    private Place place(Experiment experiment, Site site, FilePath path) {
        FileProof latest = proofs.of(experiment.id(), site.id(), path, 1).getFirst();
        return new Place(
                site,
                latest,
                copies.of(experiment.id(), site.id(), new int[] {latest.entry()}).stream()
                        .findFirst()
                        .orElse(null));
    }

    private Manifest manifest(Experiment experiment, int number) {
        return found(manifests, experiment, number);
    }

    static Manifest found(Manifests manifests, Experiment experiment, int number) {
        return manifests
                .find(experiment.id(), number)
                .orElseThrow(() -> new NotThere("%s has no manifest with the number %d", experiment.name(), number));
    }

    /** Returns the manifest that a form names; without a number, the latest. */
    static Manifest chosen(Manifests manifests, Experiment experiment, String number) {
        Optional<Manifest> found;
        try {
            found = number.isEmpty()
                    ? manifests.current(experiment.id())
                    : manifests.find(experiment.id(), Integer.parseInt(number));
        } catch (NumberFormatException noNumber) {
            found = Optional.empty();
        }
        return found.orElseThrow(() -> new Refusal("manifest", "%s has no such manifest", experiment.name()));
    }
}
