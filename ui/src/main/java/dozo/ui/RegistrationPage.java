package dozo.ui;

import dozo.file.FilePath;
import dozo.ledger.Sight;
import dozo.registry.Acquisition;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.Principal;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Registers one experiment. What is not accepted is told at its field, and everything that was typed stays. */
@Controller
class RegistrationPage {

    private final Experiments experiments;
    private final Choices choices;

    RegistrationPage(Experiments experiments, Choices choices) {
        this.experiments = experiments;
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
            return "redirect:/experiments/%s/%s".formatted(experiment.project(), experiment.code());
        } catch (Refusal refused) {
            return shown(Form.refused(typed, refused), sight, model);
        }
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
        String path = text.strip();
        if (path.startsWith("/") && path.indexOf('\0') < 0) {
            return FilePath.pathOf(path.getBytes(StandardCharsets.UTF_8));
        }
        throw new Refusal("source", "\"%s\" is no absolute path: one that begins with / is accepted".formatted(text));
    }

    private static @Nullable String known(String text) {
        return text.isBlank() ? null : text.strip();
    }

    private String shown(Form form, Sight sight, Model model) {
        choices.addTo(model, sight);
        model.addAttribute("form", form);
        return "register";
    }
}
