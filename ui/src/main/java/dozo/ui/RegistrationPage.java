package dozo.ui;

import static java.util.Objects.requireNonNull;

import dozo.file.FilePath;
import dozo.ledger.Sight;
import dozo.registry.BulkRegistration;
import dozo.registry.BulkRegistration.Typed;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Guess;
import dozo.registry.Refusal;
import dozo.registry.Verdict;
import dozo.suggest.Suggestion;
import dozo.suggest.Suggestions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.Principal;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Registers one experiment. All errors appear at their fields at once, and the form keeps all values. */
@Controller
record RegistrationPage(BulkRegistration bulk, Experiments experiments, Suggestions suggestions, Choices choices) {

    /** The fields that a suggestion can fill. */
    static final List<String> FIELDS = List.of("project", "code", "title", "modality", "scanner", "acquired");

    /** Prefix of the fields that hold the suggested values, to detect what was typed since. */
    private static final String SUGGESTED = "suggested.";

    @GetMapping("/register")
    String form(@RequestParam Map<String, String> typed, Sight sight, Model model) {
        return shown(new Form(typed, Map.of()), sight, model);
    }

    @PostMapping("/register")
    String register(@RequestParam Map<String, String> typed, Principal actor, Sight sight, Model model) {
        Map<String, String> fields = new HashMap<>(typed);
        fields.computeIfPresent("source", (name, path) -> path.strip());
        try {
            Verdict verdict = bulk.register(sight, List.of(new Typed(null, fields)), false, actor.getName())
                    .getFirst();
            return switch (verdict.outcome()) {
                case REGISTERED -> registered(verdict);
                case UNCHANGED ->
                    shown(
                            Form.refused(
                                    typed,
                                    new Refusal(
                                            "code",
                                            "experiment %s/%s is registered already, with this folder",
                                            String.valueOf(verdict.project()),
                                            String.valueOf(verdict.code()))),
                            sight,
                            model);
                case ACCEPTED, REFUSED ->
                    shown(Form.judged(typed, List.of(verdict), (of, field) -> field), sight, model);
            };
        } catch (Refusal unanswered) {
            return shown(Form.refused(typed, unanswered), sight, model);
        }
    }

    private String registered(Verdict verdict) {
        Experiment experiment = experiments
                .find(requireNonNull(verdict.project()), requireNonNull(verdict.code()))
                .orElseThrow();
        suggestions.note(experiment);
        return "redirect:/experiments/" + experiment.name();
    }

    /**
     * Suggests values from the folder's content for fields that are empty or hold another folder's suggestion. Leaves
     * all typed values as they are.
     */
    @GetMapping("/register/suggestions")
    String suggest(@RequestParam Map<String, String> typed, Sight sight, Model model) {
        choices.addTo(model, sight);
        Map<String, String> filled = new HashMap<>(typed);
        Map<String, String> suggested = new TreeMap<>();
        try {
            Suggestion suggestion = suggestions.of(sight, source(typed.getOrDefault("source", "")));
            for (Map.Entry<String, String> said : said(suggestion.guess()).entrySet()) {
                String field = said.getKey();
                String before = typed.getOrDefault(field, "");
                boolean ours = before.isBlank() || before.equals(typed.get(SUGGESTED + field));
                if (ours && !(before.isBlank() && said.getValue().isEmpty())) {
                    filled.put(field, said.getValue());
                    suggested.put(field, said.getValue());
                }
            }
            model.addAttribute("suggestion", suggestion);
            model.addAttribute("refused", null);
        } catch (Refusal refused) {
            model.addAttribute("suggestion", null);
            model.addAttribute("refused", refused.message());
        }
        model.addAttribute("form", new Form(filled, Map.of()));
        model.addAttribute("suggested", suggested);
        return "suggested";
    }

    /** Returns the values of a guess by the names of the form's fields; empty: unknown. */
    static Map<String, String> said(Guess guess) {
        Map<String, String> said = new LinkedHashMap<>();
        said.put("project", Objects.requireNonNullElse(guess.project(), ""));
        said.put("code", Objects.requireNonNullElse(guess.code(), ""));
        said.put("title", Objects.requireNonNullElse(guess.title(), ""));
        said.put("modality", Objects.requireNonNullElse(guess.modality(), ""));
        said.put("scanner", Objects.requireNonNullElse(guess.scanner(), ""));
        said.put("acquired", Objects.toString(guess.acquired(), ""));
        return said;
    }

    private static Path source(String text) {
        return path("source", text);
    }

    /** Returns the absolute path that was typed into a field. */
    static Path path(String field, String text) {
        String path = text.strip();
        if (path.startsWith("/") && path.indexOf('\0') < 0) {
            return FilePath.pathOf(path.getBytes(StandardCharsets.UTF_8));
        }
        throw new Refusal(field, "\"%s\": expected an absolute path, starting with /", text);
    }

    private String shown(Form form, Sight sight, Model model) {
        choices.addTo(model, sight);
        model.addAttribute("form", form);
        model.addAttribute("suggestion", null);
        model.addAttribute("refused", null);
        model.addAttribute("suggested", Map.of());
        return "register";
    }
}
