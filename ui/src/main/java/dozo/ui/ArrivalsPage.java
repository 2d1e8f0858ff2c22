package dozo.ui;

import dozo.collect.Arrivals;
import dozo.collect.Arrivals.Acceptance;
import dozo.collect.Arrivals.Arrival;
import dozo.collect.Arrivals.Filter;
import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.registry.Acquisition;
import dozo.registry.Refusal;
import dozo.ui.PageProblems.NotThere;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Proposals: users accept many as proposed, or one with corrections. */
@Controller
record ArrivalsPage(Arrivals arrivals, Choices choices) {

    private static final int SHOWN = 100;

    private static final Arrivals.Filter DISMISSED = new Arrivals.Filter(null, null, null, true);

    /** A proposal that could not be accepted, and the reason. */
    record Refused(String item, Message message) {}

    @GetMapping("/arrivals")
    String list(
            @RequestParam(defaultValue = "") String project,
            @RequestParam(defaultValue = "false") boolean dismissed,
            @RequestParam(required = false) @Nullable Long after,
            Sight sight,
            Model model) {
        return shown(project, dismissed, after, List.of(), 0, sight, model);
    }

    @PostMapping("/arrivals")
    String accept(@RequestParam(required = false) @Nullable List<Long> id, Principal actor, Sight sight, Model model) {
        List<Refused> refused = new ArrayList<>();
        int accepted = 0;
        for (long each : id == null ? List.<Long>of() : id) {
            Arrival arrival = find(sight, each);
            try {
                arrivals.accept(sight, each, Acceptance.AS_PROPOSED, actor.getName());
                accepted++;
            } catch (Refusal refusal) {
                refused.add(new Refused(arrival.item(), refusal.message()));
            }
        }
        return shown("", false, null, refused, accepted, sight, model);
    }

    @GetMapping("/arrivals/{id}")
    String one(@PathVariable long id, Sight sight, Model model) {
        Arrival arrival = find(sight, id);
        return shown(arrival, proposed(arrival), sight, model);
    }

    private static Form proposed(Arrival arrival) {
        Acquisition acquisition = arrival.acquisition();
        return new Form(
                Map.of(
                        "project", text(arrival.project()),
                        "code", arrival.code(),
                        "title", arrival.title(),
                        "modality", text(acquisition.modality()),
                        "scanner", text(acquisition.scanner()),
                        "acquired", text(acquisition.day())),
                Map.of());
    }

    @PostMapping("/arrivals/{id}")
    String acceptOne(
            @PathVariable long id, @RequestParam Map<String, String> typed, Principal actor, Sight sight, Model model) {
        Arrival arrival = find(sight, id);
        try {
            Form form = new Form(typed, Map.of());
            Acceptance wanted = new Acceptance(
                    form.value("project").strip(),
                    form.value("code").strip(),
                    form.value("title").strip(),
                    new Acquisition(
                            form.given("modality"),
                            form.given("scanner"),
                            Days.typed("acquired", form.value("acquired"))));
            return "redirect:/experiments/"
                    + arrivals.accept(sight, id, wanted, actor.getName())
                            .orElseThrow(() -> missing(id))
                            .name();
        } catch (Refusal refused) {
            return shown(arrival, Form.refused(typed, refused), sight, model);
        }
    }

    private String shown(
            String project,
            boolean dismissed,
            @Nullable Long after,
            List<Refused> refused,
            int accepted,
            Sight sight,
            Model model) {
        Filter wanted =
                new Filter(null, project.isBlank() ? null : project, dismissed ? null : true, dismissed ? true : null);
        choices.addTo(model, sight);
        model.addAttribute("project", project);
        model.addAttribute("dismissed", dismissed);
        model.addAttribute("dismissedCount", arrivals.count(sight, DISMISSED));
        model.addAttribute("refused", refused);
        model.addAttribute("accepted", accepted);
        model.addAttribute(
                "found",
                Cut.of(
                        SHOWN,
                        most -> arrivals.page(sight, wanted, after == null ? 0 : after, most),
                        arrival -> "" + arrival.id()));
        return "arrivals";
    }

    private String shown(Arrival arrival, Form form, Sight sight, Model model) {
        choices.addTo(model, sight);
        model.addAttribute("arrival", arrival);
        model.addAttribute("form", form);
        return "arrival";
    }

    private Arrival find(Sight sight, long id) {
        return arrivals.find(sight, id).orElseThrow(() -> missing(id));
    }

    private static NotThere missing(long id) {
        return new NotThere("arrival %d does not exist", id);
    }

    private static String text(@Nullable Object value) {
        return Objects.toString(value, "");
    }
}
