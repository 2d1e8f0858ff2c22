package dozo.ui;

import dozo.ledger.Sight;
import dozo.registry.Erasures;
import dozo.registry.Erasures.Erasure;
import dozo.registry.Erasures.ErasureAtSite;
import dozo.registry.Refusal;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Erasures: how far each is, a form to request one, and what a person may do about each. */
@Controller
@RequestMapping("/erasures")
class ErasuresPage {

    private static final int SHOWN = 50;

    private final Erasures erasures;

    /** An erasure with how far it is at each site. */
    record Shown(Erasure erasure, List<ErasureAtSite> sites) {}

    ErasuresPage(Erasures erasures) {
        this.erasures = erasures;
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
                "erasures",
                Cut.of(
                        SHOWN,
                        most -> erasures.page(sight, before, most).stream()
                                .map(erasure -> new Shown(erasure, erasures.sites(erasure.id())))
                                .toList(),
                        shown -> "" + shown.erasure().id()));
        model.addAttribute("first", before == Long.MAX_VALUE ? null : "");
        return "erasures";
    }

    @PostMapping
    String request(@RequestParam Map<String, String> typed, Principal actor, Sight sight, Model model) {
        Form form = new Form(typed, Map.of());
        try {
            String subject = form.value("subject").strip();
            int slash = subject.indexOf('/');
            erasures.request(
                    sight,
                    slash < 0 ? subject : subject.substring(0, slash),
                    subject.substring(slash + 1),
                    form.value("reason"),
                    actor.getName());
            return "redirect:/erasures";
        } catch (Refusal refused) {
            Refusal shown = refused.field().equals("reason") ? refused : new Refusal("subject", refused.message());
            return list(Form.refused(typed, shown), Long.MAX_VALUE, sight, model);
        }
    }

    @PostMapping("/{id}/approve")
    String approve(@PathVariable long id, Principal actor, Sight sight, Model model) {
        return done(id, sight, model, () -> erasures.approve(id, actor.getName()));
    }

    @PostMapping("/{id}/withdraw")
    String withdraw(@PathVariable long id, Principal actor, Sight sight, Model model) {
        return done(id, sight, model, () -> erasures.withdraw(sight, id, actor.getName()));
    }

    @PostMapping("/{id}/sites/{name}/statement")
    String state(
            @PathVariable long id,
            @PathVariable String name,
            @RequestParam Map<String, String> typed,
            Principal actor,
            Sight sight,
            Model model) {
        String reason = new Form(typed, Map.of()).value("how");
        return done(id, sight, model, () -> erasures.state(id, name, reason, actor.getName()));
    }

    private String done(long id, Sight sight, Model model, Supplier<Optional<Erasure>> change) {
        try {
            if (change.get().isEmpty()) {
                throw new Refusal("erasure", "erasure %d does not exist", id);
            }
            return "redirect:/erasures";
        } catch (Refusal refused) {
            Form form = Form.refused(Map.of(), new Refusal("change", refused.message()));
            return list(form, Long.MAX_VALUE, sight, model);
        }
    }
}
