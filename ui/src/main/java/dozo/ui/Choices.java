package dozo.ui;

import dozo.ledger.Sight;
import dozo.registry.ExperimentSearch;
import dozo.registry.Projects;
import dozo.registry.Projects.Project;
import dozo.registry.Sites.Site;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.ui.Model;

/** Suggestions for forms: the projects, scanners and modalities that the user sees. */
@Component
record Choices(Projects projects, ExperimentSearch experiments) {

    private static final int PROJECTS_MAX = 500;

    void addTo(Model model, Sight sight) {
        addProjects(model, sight);
        model.addAttribute("scanners", experiments.scannersInUse(sight));
        model.addAttribute("modalities", experiments.modalities(sight));
    }

    /** Returns the named site; without a name the first one; null if there is none. */
    static @Nullable Site site(List<Site> sites, @Nullable String name) {
        return sites.stream()
                .filter(each -> name == null || name.isBlank() || each.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** Fills the empty projects of a form's numbered rows if only one project can be meant. */
    void fillOnlyProject(Map<String, String> values, int rows, Sight sight) {
        List<Project> seen = projects.page(sight, "", 2);
        for (int n = 1; n <= rows && seen.size() == 1; n++) {
            String only = seen.getFirst().code();
            values.compute("project." + n, (field, value) -> value == null || value.isEmpty() ? only : value);
        }
    }

    void addProjects(Model model, Sight sight) {
        List<Project> seen = projects.page(sight, "", PROJECTS_MAX);
        model.addAttribute("projects", seen.stream().map(Project::code).toList());
        model.addAttribute("manyProjects", seen.size() == PROJECTS_MAX);
        model.addAttribute(
                "rootless",
                seen.stream()
                        .filter(project -> project.roots().isEmpty())
                        .map(Project::code)
                        .toList());
        model.addAttribute("mayEverywhere", sight.ofEverything());
    }
}
