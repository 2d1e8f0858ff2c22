package dozo.ui;

import dozo.ledger.Sight;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Holds;
import dozo.registry.Refusal;
import java.security.Principal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Retention holds: which stand, which have ended, a form to place one, and one to end each. */
@Controller
@RequestMapping("/holds")
class HoldsPage {

    private static final int SHOWN = 50;

    private final Holds holds;
    private final Experiments experiments;
    private final ZoneId zone;

    HoldsPage(Holds holds, Experiments experiments, ZoneId zone) {
        this.holds = holds;
        this.experiments = experiments;
        this.zone = zone;
    }

    @GetMapping
    String list(
            @RequestParam Map<String, String> typed,
            @RequestParam(defaultValue = "" + Long.MAX_VALUE) long before,
            Sight sight,
            Model model) {
        return list(new Form(typed, Map.of()), before, sight, model);
    }

    private String list(Form form, long before, Sight sight, Model model) {
        model.addAttribute("form", form);
        model.addAttribute(
                "holds", Cut.of(SHOWN, most -> holds.page(sight, true, before, most), hold -> "" + hold.id()));
        model.addAttribute("first", before == Long.MAX_VALUE ? null : "");
        return "holds";
    }

    @PostMapping
    String place(@RequestParam Map<String, String> typed, Principal actor, Sight sight, Model model) {
        Form form = new Form(typed, Map.of());
        try {
            String subject = form.value("subject").strip();
            int slash = subject.indexOf('/');
            String project = slash < 0 ? subject : subject.substring(0, slash);
            Integer experiment = slash < 0 ? null : experiment(project, subject.substring(slash + 1));
            holds.place(project, experiment, form.value("reason"), end(form.value("until")), actor.getName());
            return "redirect:/holds";
        } catch (Refusal refused) {
            Refusal shown = refused.field().equals("project") ? new Refusal("subject", refused.message()) : refused;
            return list(Form.refused(typed, shown), Long.MAX_VALUE, sight, model);
        }
    }

    @PostMapping("/{id}/end")
    String end(
            @PathVariable long id, @RequestParam Map<String, String> typed, Principal actor, Sight sight, Model model) {
        try {
            if (holds.end(id, new Form(typed, Map.of()).value("why"), actor.getName())
                    .isEmpty()) {
                throw new Refusal("hold", "hold %d does not exist", id);
            }
            return "redirect:/holds";
        } catch (Refusal refused) {
            return list(Form.refused(Map.of(), new Refusal("end", refused.message())), Long.MAX_VALUE, sight, model);
        }
    }

    private int experiment(String project, String code) {
        return experiments
                .find(project, code)
                .map(Experiment::id)
                .orElseThrow(() -> new Refusal("subject", "experiment \"%s\" does not exist", project + "/" + code));
    }

    /** Returns the end of a day; null without a day. */
    private @Nullable Instant end(String typed) {
        LocalDate day = ExperimentsPage.day("until", typed);
        return day == null ? null : day.plusDays(1).atStartOfDay(zone).toInstant();
    }
}
