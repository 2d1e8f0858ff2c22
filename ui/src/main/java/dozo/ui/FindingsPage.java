package dozo.ui;

import static java.util.Objects.requireNonNull;

import dozo.file.Problem;
import dozo.ledger.FindingFilter;
import dozo.ledger.Findings;
import dozo.ledger.Findings.FindingGroup;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.run.Acknowledgements;
import dozo.ui.PageProblems.NotThere;
import java.security.Principal;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.context.MessageSource;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;

/** Findings of all runs, and their acknowledgements. */
@Controller
record FindingsPage(Findings findings, Acknowledgements acknowledgements, Choices choices, MessageSource texts) {

    private static final int SHOWN = 50;

    /**
     * Lists open findings by cause; findings one by one if an experiment or a run is asked for, or those that are done.
     *
     * @param all whether to include findings that no longer need a person
     */
    @GetMapping("/findings")
    String list(
            @RequestParam(defaultValue = "") String reason,
            @RequestParam(defaultValue = "") String project,
            @RequestParam(defaultValue = "") String experiment,
            @RequestParam(required = false) @Nullable Long run,
            @RequestParam(defaultValue = "false") boolean all,
            @RequestParam(required = false) @Nullable Long after,
            Sight sight,
            Model model) {
        FindingFilter wanted = wanted(all ? null : true, reason, project, experiment, run);
        choices.addProjects(model, sight);
        model.addAttribute("reasons", Problem.values());
        model.addAttribute("reason", reason);
        model.addAttribute("project", project);
        model.addAttribute("experiment", experiment);
        model.addAttribute("run", run);
        model.addAttribute("all", all);
        model.addAttribute("asked", !(reason + project + experiment).isBlank() || run != null);
        boolean grouped = !all && run == null && experiment.isBlank();
        model.addAttribute("grouped", grouped);
        model.addAttribute(
                "found",
                grouped
                        ? Cut.of(
                                SHOWN,
                                most -> findings.groups(sight, wanted, after, most),
                                group -> "" + group.latest().id())
                        : Cut.of(
                                SHOWN,
                                most -> findings.page(sight, wanted, after == null ? Long.MAX_VALUE : after, most),
                                finding -> "" + finding.id()));
        return "findings";
    }

    /** Asks before all open findings of one cause are acknowledged. */
    @GetMapping("/findings/acknowledge")
    String askAcknowledgeAll(@RequestParam String cause, @RequestParam String experiment, Sight sight, Model model) {
        return shown(group(sight, wanted(true, cause, "", experiment, null)), Form.EMPTY, model);
    }

    /** @param upTo the highest id that the person has seen; later findings stay open */
    @PostMapping("/findings/acknowledge")
    String acknowledgeAll(
            @RequestParam String cause,
            @RequestParam String experiment,
            @RequestParam long upTo,
            @RequestParam(defaultValue = "") String reason,
            Sight sight,
            Principal actor,
            Model model) {
        FindingFilter wanted = wanted(true, cause, "", experiment, null);
        try {
            acknowledgements.addAll(sight, wanted, upTo, reason, actor.getName());
            return "redirect:/findings";
        } catch (Refusal refused) {
            if (!refused.field().equals("reason")) {
                throw refused;
            }
            return shown(group(sight, wanted), Form.refused(Map.of("reason", reason), refused), model);
        }
    }

    @GetMapping("/findings/{id}/acknowledge")
    String askAcknowledge(@PathVariable long id, Sight sight, Model model) {
        return shown(alone(find(sight, id)), Form.EMPTY, model);
    }

    @PostMapping("/findings/{id}/acknowledge")
    String acknowledge(
            @PathVariable long id,
            @RequestParam(defaultValue = "") String reason,
            Sight sight,
            Principal actor,
            Locale locale,
            Model model,
            RedirectAttributes next) {
        KeptFinding finding = find(sight, id);
        try {
            acknowledgements.add(finding, reason, actor.getName());
            String said = requireNonNull(texts.getMessage("finding.acknowledge.done", new Object[] {id}, locale));
            next.addFlashAttribute(Flash.NAME, new Flash(said, "/do/post/findings/" + id + "/reopen", Map.of()));
            return "redirect:/runs/" + finding.lastRun();
        } catch (Refusal refused) {
            if (!refused.field().equals("reason")) {
                throw refused;
            }
            return shown(alone(finding), Form.refused(Map.of("reason", reason), refused), model);
        }
    }

    private static String shown(FindingGroup group, Form form, Model model) {
        model.addAttribute("group", group);
        model.addAttribute("finding", group.latest());
        model.addAttribute("form", form);
        return "acknowledge";
    }

    private static FindingGroup alone(KeptFinding finding) {
        return new FindingGroup(finding, 1, finding.foundAt());
    }

    private FindingGroup group(Sight sight, FindingFilter wanted) {
        return findings.groups(sight, wanted, null, 1).stream()
                .findFirst()
                .orElseThrow(() -> new NotThere("none of these findings is open"));
    }

    private KeptFinding find(Sight sight, long id) {
        return findings.find(sight, id).orElseThrow(() -> new NotThere("finding %d does not exist", id));
    }

    private static FindingFilter wanted(
            @Nullable Boolean open, String reason, String project, String experiment, @Nullable Long run) {
        return new FindingFilter(
                open,
                reason.isBlank() ? null : problem(reason),
                project.isBlank() ? null : project,
                experiment.isBlank() ? null : experiment,
                run,
                null);
    }

    private static Problem problem(String name) {
        return Arrays.stream(Problem.values())
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new Refusal("reason", "\"%s\": expected the reason of a finding", name));
    }
}
