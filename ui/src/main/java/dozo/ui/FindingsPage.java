package dozo.ui;

import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Filter;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.run.Acknowledgements;
import dozo.ui.PageProblems.NotThere;
import java.security.Principal;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Findings of all runs, and their acknowledgements. */
@Controller
class FindingsPage {

    private static final int SHOWN = 50;

    private final Findings findings;
    private final Acknowledgements acknowledgements;
    private final Choices choices;

    FindingsPage(Findings findings, Acknowledgements acknowledgements, Choices choices) {
        this.findings = findings;
        this.acknowledgements = acknowledgements;
        this.choices = choices;
    }

    /** @param all whether to include findings that no longer need a person */
    @GetMapping("/findings")
    String list(
            @RequestParam(defaultValue = "") String reason,
            @RequestParam(defaultValue = "") String project,
            @RequestParam(required = false) @Nullable Long run,
            @RequestParam(defaultValue = "false") boolean all,
            @RequestParam(required = false) @Nullable Long after,
            Sight sight,
            Model model) {
        Filter wanted = new Filter(
                all ? null : true,
                reason.isBlank() ? null : problem(reason),
                project.isBlank() ? null : project,
                run,
                null);
        long before = after == null ? Long.MAX_VALUE : after;
        choices.addProjects(model, sight);
        model.addAttribute("reasons", Problem.values());
        model.addAttribute("reason", reason);
        model.addAttribute("project", project);
        model.addAttribute("run", run);
        model.addAttribute("all", all);
        model.addAttribute("first", after == null ? null : "");
        model.addAttribute("asked", !reason.isBlank() || !project.isBlank() || run != null);
        model.addAttribute(
                "found",
                Cut.of(SHOWN, most -> findings.page(sight, wanted, before, most), finding -> "" + finding.id()));
        return "findings";
    }

    @GetMapping("/findings/{id}/acknowledge")
    String askAcknowledge(@PathVariable long id, Sight sight, Model model) {
        return shown(find(sight, id), Form.EMPTY, model);
    }

    @PostMapping("/findings/{id}/acknowledge")
    String acknowledge(
            @PathVariable long id,
            @RequestParam(defaultValue = "") String reason,
            Sight sight,
            Principal actor,
            Model model) {
        KeptFinding finding = find(sight, id);
        try {
            acknowledgements.add(finding, reason, actor.getName());
            return "redirect:/runs/" + finding.lastRunId();
        } catch (Refusal refused) {
            if (!refused.field().equals("reason")) {
                throw refused;
            }
            return shown(finding, Form.refused(Map.of("reason", reason), refused), model);
        }
    }

    private static String shown(KeptFinding finding, Form form, Model model) {
        model.addAttribute("finding", finding);
        model.addAttribute("form", form);
        return "acknowledge";
    }

    private KeptFinding find(Sight sight, long id) {
        return findings.find(sight, id).orElseThrow(() -> new NotThere("finding %d does not exist", id));
    }

    private static Problem problem(String name) {
        return Arrays.stream(Problem.values())
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new Refusal("reason", "\"%s\": expected the reason of a finding", name));
    }
}
