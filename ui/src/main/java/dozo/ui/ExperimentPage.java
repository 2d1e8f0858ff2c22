package dozo.ui;

import dozo.file.FilePath;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Findings;
import dozo.manifest.Freezes;
import dozo.manifest.Freezes.Freeze;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Erasures;
import dozo.registry.ExperimentSearch;
import dozo.registry.ExperimentSearch.State;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Holds;
import dozo.registry.Labels;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.restore.Restores;
import dozo.ui.PageProblems.NotThere;
import dozo.verify.Milestones;
import dozo.verify.Milestones.Reached;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;

/** One experiment: its progress at each site, its findings and its manifests. */
@Controller
@RequestMapping("/experiments/{project}/{code}")
record ExperimentPage(
        Experiments experiments,
        ExperimentSearch search,
        Sites sites,
        Coverage coverage,
        Milestones milestones,
        Freezes freezes,
        Findings findings,
        Manifests manifests,
        FolderContents contents,
        Restores restores,
        Holds holds,
        Labels labels,
        Erasures erasures) {

    private static final int ENTRIES_SHOWN = 20;
    private static final int FINDINGS_SHOWN = 20;
    private static final int MANIFESTS_SHOWN = 30;
    private static final int RESTORES_SHOWN = 10;

    /**
     * The state of the experiment at a site.
     *
     * @param readAt the oldest reading, once all copies were read again
     */
    record AtSite(
            Site site,
            State state,
            @Nullable ExperimentCoverage coverage,
            List<Step> way,
            @Nullable Instant readAt) {

        public long files() {
            return coverage == null ? 0 : coverage.files();
        }

        public long filesSafe() {
            return coverage == null ? 0 : coverage.filesSafe();
        }

        public long bytes() {
            return coverage == null ? 0 : coverage.bytes();
        }

        /** Returns whether some of it is verified, but not all. */
        public boolean partly() {
            return coverage != null && coverage.manifest() != null && !coverage.safe();
        }

        public boolean broken() {
            return state == State.LOST || state == State.DAMAGED;
        }

        /** Returns the class of its box on the page. */
        public String colour() {
            if (broken()) {
                return "damage";
            }
            return state.atRisk() ? "gap" : state == State.VERIFIED ? "safe" : "";
        }
    }

    /** A step on the way to a proven copy; its name is the key of a text. */
    record Step(String name, @Nullable Instant at) {}

    @GetMapping
    String experiment(@PathVariable String project, @PathVariable String code, Model model) {
        Experiment experiment = found(experiments, project, code);
        List<Manifest> sealed = manifests.all(experiment.id());
        model.addAttribute("experiment", experiment);
        model.addAttribute("source", FilePath.render(FilePath.rawBytes(experiment.source())));
        model.addAttribute("labels", labels.of(experiment.project(), experiment.code()));
        model.addAttribute("hold", holds.on(experiment.id()).orElse(null));
        model.addAttribute(
                "erasure", erasures.of(experiment.project(), experiment.code()).orElse(null));
        model.addAttribute("freeze", frozen(experiment).orElse(null));
        List<AtSite> atSites =
                sites.all().stream().map(site -> atSite(experiment, site)).toList();
        model.addAttribute("atSites", atSites);
        model.addAttribute("mark", mark(atSites));
        addFiles(experiment, model);
        model.addAttribute("findings", findings.latest(experiment.id(), FINDINGS_SHOWN));
        model.addAttribute("manifests", sealed.subList(0, Math.min(sealed.size(), MANIFESTS_SHOWN)));
        model.addAttribute("manifestsCount", sealed.size());
        model.addAttribute("restores", restores.page(experiment, Long.MAX_VALUE, RESTORES_SHOWN));
        return "experiment";
    }

    private AtSite atSite(Experiment experiment, Site site) {
        Reached reached = milestones.of(experiment.id(), site.id());
        List<Step> way = new ArrayList<>();
        way.add(new Step("registered", experiment.registeredAt()));
        way.add(new Step("sealed", reached.sealedAt()));
        way.add(new Step("copied", reached.lastProvenAt()));
        way.add(new Step("verified", reached.safeAt()));
        return new AtSite(
                site,
                search.state(experiment.id(), site.id()),
                coverage.experiment(site.id(), experiment.id()).orElse(null),
                way,
                reached.readAt());
    }

    /** Returns what the tab says first: whether it is safe at every site. */
    private static String mark(List<AtSite> atSites) {
        if (atSites.stream().anyMatch(at -> at.state().atRisk())) {
            return "✗";
        }
        boolean safe = !atSites.isEmpty() && atSites.stream().allMatch(at -> at.state() == State.VERIFIED);
        return safe ? "✓" : "…";
    }

    /** Adds the first entries of the latest manifest, with the state of their copies at the first site. */
    private void addFiles(Experiment experiment, Model model) {
        List<Site> all = sites.all();
        Site site = Choices.site(all, null);
        model.addAttribute("sites", all);
        model.addAttribute("site", site);
        manifests.current(experiment.id()).ifPresent(manifest -> {
            model.addAttribute("manifest", manifest);
            model.addAttribute(
                    "entries",
                    contents.of(experiment.id(), manifest.number(), FilePath.ROOT, new byte[0], site, ENTRIES_SHOWN));
        });
    }

    private Optional<Freeze> frozen(Experiment experiment) {
        return freezes.find(experiment.id()).filter(freeze -> !freeze.released());
    }

    static Experiment found(Experiments experiments, String project, String code) {
        return experiments
                .find(project, code)
                .orElseThrow(() -> new NotThere("experiment \"%s/%s\" does not exist", project, code));
    }
}
