package dozo.ui;

import dozo.file.FilePath;
import dozo.ledger.Sight;
import dozo.registry.Acquisition;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Guess;
import dozo.registry.Refusal;
import dozo.suggest.Suggestion;
import dozo.suggest.Suggestions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.Principal;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Registers one experiment. Errors appear at their fields, and the form keeps all values. */
@Controller
class RegistrationPage {

    /** Prefix of the fields that hold the suggested values, to detect what was typed since. */
    private static final String SUGGESTED = "suggested.";

    private final Experiments experiments;
    private final Suggestions suggestions;
    private final Choices choices;

    RegistrationPage(Experiments experiments, Suggestions suggestions, Choices choices) {
        this.experiments = experiments;
        this.suggestions = suggestions;
        this.choices = choices;
    }

    @GetMapping("/register")
    String form(@RequestParam Map<String, String> typed, Sight sight, Model model) {
        return shown(new Form(typed, Map.of()), sight, model);
    }

    @PostMapping("/register")
    String register(@RequestParam Map<String, String> typed, Principal actor, Sight sight, Model model) {
        try {
            Experiment experiment = registered(new Form(typed, Map.of()), actor.getName(), sight);
            suggestions.note(experiment);
            return "redirect:/experiments/%s/%s".formatted(experiment.project(), experiment.code());
        } catch (Refusal refused) {
            return shown(Form.refused(typed, refused), sight, model);
        }
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

    private static Map<String, String> said(Guess guess) {
        Map<String, String> said = new LinkedHashMap<>();
        said.put("project", Objects.requireNonNullElse(guess.project(), ""));
        said.put("code", Objects.requireNonNullElse(guess.code(), ""));
        said.put("title", Objects.requireNonNullElse(guess.title(), ""));
        said.put("modality", Objects.requireNonNullElse(guess.modality(), ""));
        said.put("scanner", Objects.requireNonNullElse(guess.scanner(), ""));
        said.put("acquired", Objects.toString(guess.acquired(), ""));
        return said;
    }

    private Experiment registered(Form form, String actor, Sight sight) {
        Acquisition acquisition = new Acquisition(
                known(form.value("modality")),
                known(form.value("scanner")),
                ExperimentsPage.day("acquired", form.value("acquired")));
        return experiments.register(
                sight,
                form.value("project").strip(),
                form.value("code").strip(),
                form.value("title").strip(),
                source(form.value("source")),
                null,
                acquisition,
                actor);
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

    private static @Nullable String known(String text) {
        return text.isBlank() ? null : text.strip();
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
