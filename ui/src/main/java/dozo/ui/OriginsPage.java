package dozo.ui;

import dozo.collect.OriginKind;
import dozo.collect.Origins;
import dozo.collect.Origins.Origin;
import dozo.collect.Standings;
import dozo.collect.Standings.Standing;
import dozo.collect.Terms;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.ui.PageProblems.NotThere;
import dozo.verify.CommitmentRequests;
import java.security.Principal;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** The systems that experiments are collected from: their states and settings. */
@Controller
record OriginsPage(Origins origins, Standings standings, CommitmentRequests commitments, Choices choices) {

    private static final int SHOWN = 50;

    private static final int COMMITMENTS_SHOWN = 20;

    @GetMapping("/origins")
    String list(@RequestParam(defaultValue = "") String after, Model model) {
        model.addAttribute("origins", Cut.of(SHOWN, most -> standings.page(after, most), OriginsPage::name));
        model.addAttribute("commitments", commitments.page(Long.MAX_VALUE, COMMITMENTS_SHOWN));
        return "origins";
    }

    /** @param kind if empty, the page asks for it first */
    @GetMapping("/origins/new")
    String askRegister(@RequestParam(defaultValue = "") String kind, Sight sight, Model model) {
        if (OriginKind.of(kind).isEmpty()) {
            model.addAttribute("kinds", OriginKind.values());
            return "originkind";
        }
        return shown(kind(kind), null, OriginForm.empty(), sight, model);
    }

    @PostMapping("/origins/new")
    String register(@RequestParam Map<String, String> typed, Principal actor, Sight sight, Model model) {
        Form form = new Form(typed, Map.of());
        OriginKind kind = kind(form.value("kind"));
        try {
            Terms terms = OriginForm.terms(kind, form, null);
            origins.register(form.value("name").strip(), terms, actor.getName());
            return "redirect:/origins";
        } catch (Refusal refused) {
            return shown(kind, null, Form.refused(typed, refused), sight, model);
        }
    }

    @GetMapping("/origins/{name}/change")
    String askChange(@PathVariable String name, Sight sight, Model model) {
        Origin origin = find(name);
        Map<String, String> values = new HashMap<>(OriginForm.values(origin.terms()));
        values.put("seen", origin.updatedAt().toString());
        return shown(origin.terms().kind(), origin, new Form(values, Map.of()), sight, model);
    }

    @PostMapping("/origins/{name}/change")
    String change(
            @PathVariable String name,
            @RequestParam Map<String, String> typed,
            Principal actor,
            Sight sight,
            Model model) {
        Origin origin = find(name);
        OriginKind kind = origin.terms().kind();
        Form form = new Form(typed, Map.of());
        try {
            Terms terms = OriginForm.terms(kind, form, origin.terms());
            origins.change(name, form.seen(), terms, actor.getName());
            return "redirect:/origins";
        } catch (Refusal refused) {
            return shown(kind, origin, Form.refused(typed, refused), sight, model);
        }
    }

    private String shown(OriginKind kind, @Nullable Origin origin, Form form, Sight sight, Model model) {
        choices.addProjects(model, sight);
        model.addAttribute("kind", kind);
        model.addAttribute("tree", kind == OriginKind.TREE);
        model.addAttribute("origin", origin);
        model.addAttribute("form", form);
        return "origin";
    }

    private Origin find(String name) {
        return origins.find(name).orElseThrow(() -> new NotThere("origin \"%s\" does not exist", name));
    }

    private static OriginKind kind(String word) {
        return OriginKind.of(word).orElseThrow(() -> new Refusal("kind", "expected flywheel, dicomweb, xnat or tree"));
    }

    private static String name(Standing standing) {
        return standing.origin().name();
    }
}
