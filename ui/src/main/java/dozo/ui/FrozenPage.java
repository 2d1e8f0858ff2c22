package dozo.ui;

import dozo.manifest.FreezeSigns;
import dozo.manifest.FreezeSigns.FrozenChange;
import dozo.manifest.Freezes;
import dozo.manifest.Freezes.Freeze;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.ui.PageProblems.NotThere;
import java.security.Principal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** What happened to a frozen experiment, and what to do, in the order of the cure: the release comes last. */
@Controller
record FrozenPage(Experiments experiments, Freezes freezes, FreezeSigns signs) {

    private static final int CHANGES_SHOWN = 200;

    /** @param after the number of the last change on the previous page */
    @GetMapping("/experiments/{project}/{code}/frozen")
    String changes(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam(defaultValue = "0") int after,
            Model model) {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        Freeze freeze = freezes.find(experiment.id())
                .filter(found -> !found.released())
                .orElseThrow(() -> new NotThere("%s is not frozen", experiment.name()));
        Cut<FrozenChange> changes = Cut.of(
                CHANGES_SHOWN,
                most -> signs.changes(experiment.id(), after, most),
                change -> String.valueOf(change.number()));
        model.addAttribute("experiment", experiment);
        model.addAttribute("freeze", freeze);
        model.addAttribute("changes", changes.items());
        model.addAttribute("next", changes.next());
        return "frozenchanges";
    }

    /** @param seen the time of the look whose result the page showed */
    @PostMapping("/experiments/{project}/{code}/frozen")
    String release(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam(required = false) @Nullable Instant seen,
            Principal actor) {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        freezes.release(experiment, actor.getName(), seen);
        return "redirect:/experiments/" + experiment.name();
    }
}
