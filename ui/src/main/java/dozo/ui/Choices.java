package dozo.ui;

import dozo.ledger.Sight;
import dozo.registry.Acquisitions;
import dozo.registry.Projects;
import dozo.registry.Projects.Project;
import org.springframework.stereotype.Component;
import org.springframework.ui.Model;

/** Suggestions for forms: the projects, scanners and modalities that the user sees. */
@Component
class Choices {

    private static final int PROJECTS_MAX = 500;

    private final Projects projects;
    private final Acquisitions acquisitions;

    Choices(Projects projects, Acquisitions acquisitions) {
        this.projects = projects;
        this.acquisitions = acquisitions;
    }

    void addTo(Model model, Sight sight) {
        addProjects(model, sight);
        model.addAttribute("scanners", acquisitions.scanners(sight));
        model.addAttribute("modalities", acquisitions.modalities(sight));
    }

    void addProjects(Model model, Sight sight) {
        model.addAttribute(
                "projects",
                projects.page(sight, "", PROJECTS_MAX).stream()
                        .map(Project::code)
                        .toList());
    }
}
