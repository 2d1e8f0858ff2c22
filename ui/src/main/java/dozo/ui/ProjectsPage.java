package dozo.ui;

import dozo.drill.DrillSettings;
import dozo.file.FilePath;
import dozo.ledger.Sight;
import dozo.people.Users;
import dozo.registry.Holds;
import dozo.registry.Projects;
import dozo.registry.Projects.Project;
import dozo.registry.Refusal;
import dozo.registry.Retirements;
import dozo.registry.Retirements.Kind;
import dozo.registry.RiskSettings;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Projects: their members, folders and settings, and the holds that stand. */
@Controller
@RequestMapping("/administration/projects")
record ProjectsPage(
        Projects projects, DrillSettings drills, RiskSettings risk, Users users, Holds holds, Retirements retirements) {

    private static final int SHOWN = 100;
    private static final int MEMBERS_SHOWN = 500;
    private static final int HOLDS_SHOWN = 20;

    @GetMapping
    String list(@RequestParam(defaultValue = "") String after, Sight sight, Model model) {
        model.addAttribute("projects", Cut.of(SHOWN, most -> projects.page(sight, after, most), Project::code));
        model.addAttribute("retired", retirements.of(Kind.PROJECT, sight));
        return "projects";
    }

    @GetMapping("/{project}")
    String one(@PathVariable("project") String code, Model model) {
        Project project =
                projects.find(code).orElseThrow(() -> new Refusal("project", "project \"%s\" does not exist", code));
        model.addAttribute("project", project);
        model.addAttribute("drillDays", drills.days());
        model.addAttribute("lateHours", risk.after().toHours());
        model.addAttribute("roots", shown(project.roots()));
        model.addAttribute("plainRoots", project.roots().stream().allMatch(ProjectsPage::isText));
        model.addAttribute("restoreRoots", shown(project.restoreRoots()));
        model.addAttribute("plainRestoreRoots", project.restoreRoots().stream().allMatch(ProjectsPage::isText));
        model.addAttribute("members", users.members(code, "", MEMBERS_SHOWN));
        model.addAttribute("holds", Cut.of(HOLDS_SHOWN, most -> holds.standing(code, most), hold -> "" + hold.id()));
        return "project";
    }

    private static List<String> shown(List<Path> roots) {
        return roots.stream()
                .map(root -> FilePath.render(FilePath.rawBytes(root)))
                .toList();
    }

    /** Returns whether the displayed text of a folder, when submitted again, is the same folder. */
    private static boolean isText(Path root) {
        byte[] bytes = FilePath.rawBytes(root);
        return root.equals(FilePath.pathOf(FilePath.render(bytes).getBytes(StandardCharsets.UTF_8)));
    }
}
