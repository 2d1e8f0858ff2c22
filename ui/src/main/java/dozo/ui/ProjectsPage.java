package dozo.ui;

import dozo.drill.DrillSettings;
import dozo.file.FilePath;
import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.people.Users;
import dozo.people.Users.User;
import dozo.registry.Holds;
import dozo.registry.Projects;
import dozo.registry.Projects.Project;
import dozo.registry.Projects.Threshold;
import dozo.registry.Refusal;
import dozo.registry.RestorePlaces;
import dozo.registry.RiskSettings;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.Principal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Projects: their members, source roots and restore folders, the tripwire's threshold, the time between drills, the time that data may wait, the priority, and the names at the sites; the holds that stand. */
@Controller
@RequestMapping("/administration/projects")
class ProjectsPage {

    private static final int SHOWN = 100;
    private static final int MEMBERS_SHOWN = 500;
    private static final int HOLDS_SHOWN = 20;

    private final Projects projects;
    private final RestorePlaces restorePlaces;
    private final DrillSettings drills;
    private final RiskSettings risk;
    private final Users users;
    private final Holds holds;

    ProjectsPage(
            Projects projects,
            RestorePlaces restorePlaces,
            DrillSettings drills,
            RiskSettings risk,
            Users users,
            Holds holds) {
        this.projects = projects;
        this.restorePlaces = restorePlaces;
        this.drills = drills;
        this.risk = risk;
        this.users = users;
        this.holds = holds;
    }

    @GetMapping
    String list(@RequestParam(defaultValue = "") String after, Sight sight, Model model) {
        model.addAttribute("projects", Cut.of(SHOWN, most -> projects.page(sight, after, most), Project::code));
        model.addAttribute("first", after.isEmpty() ? null : "");
        return "projects";
    }

    @GetMapping("/new")
    String askCreate(Model model) {
        model.addAttribute("form", Form.EMPTY);
        return "newproject";
    }

    @PostMapping("/new")
    String create(
            @RequestParam(defaultValue = "") String code,
            @RequestParam(defaultValue = "") String title,
            @RequestParam(defaultValue = "") String roots,
            @RequestParam(defaultValue = "kept") String siteNames,
            Principal actor,
            Model model) {
        try {
            return to(projects.create(code.strip(), title.strip(), siteNames, folders(roots), actor.getName())
                    .code());
        } catch (Refusal refused) {
            Map<String, String> typed = Map.of("code", code, "title", title, "roots", roots, "siteNames", siteNames);
            model.addAttribute("form", Form.refused(typed, refused));
            return "newproject";
        }
    }

    @GetMapping("/{project}")
    String one(@PathVariable String project, Model model) {
        return shown(find(project), Map.of(), Map.of(), model);
    }

    @PostMapping("/{project}/tripwire")
    String setTripwire(
            @PathVariable String project,
            @RequestParam(defaultValue = "") String percent,
            @RequestParam(defaultValue = "") String entries,
            Principal actor,
            Model model) {
        return set(
                project,
                Map.of("percent", percent, "entries", entries),
                () -> projects.setTripwire(
                        project,
                        new Threshold(Numbers.whole("percent", percent), Numbers.whole("entries", entries)),
                        actor.getName()),
                model);
    }

    /** Sets within how many days the project must be rehearsed; without a number, within those of the setting. */
    @PostMapping("/{project}/drill-days")
    String setDrillDays(
            @PathVariable String project, @RequestParam(defaultValue = "") String days, Principal actor, Model model) {
        return set(
                project,
                Map.of("days", days),
                () -> projects.setDrillDays(project, given("days", days), actor.getName()),
                model);
    }

    /** Sets how long the project's data may wait for its copy; without a number, as long as the setting says. */
    @PostMapping("/{project}/late-after")
    String setLateAfter(
            @PathVariable String project, @RequestParam(defaultValue = "") String hours, Principal actor, Model model) {
        return set(
                project,
                Map.of("hours", hours),
                () -> projects.setLateHours(project, given("hours", hours), actor.getName()),
                model);
    }

    @PostMapping("/{project}/priority")
    String setPriority(
            @PathVariable String project,
            @RequestParam(defaultValue = "") String priority,
            Principal actor,
            Model model) {
        return set(
                project,
                Map.of("priority", priority),
                () -> projects.setPriority(project, Numbers.whole("priority", priority), actor.getName()),
                model);
    }

    /** Sets how the names of sources are written at the sites, for new experiments. */
    @PostMapping("/{project}/site-names")
    String setSiteNames(
            @PathVariable String project,
            @RequestParam(defaultValue = "") String siteNames,
            Principal actor,
            Model model) {
        return set(
                project,
                Map.of("siteNames", siteNames),
                () -> projects.setSiteNames(project, siteNames, actor.getName()),
                model);
    }

    /** Sets the source roots, one folder a line. */
    @PostMapping("/{project}/roots")
    String setRoots(@PathVariable String project, @RequestParam String roots, Principal actor, Model model) {
        return set(find(project), "roots", roots, paths -> projects.setRoots(project, paths, actor.getName()), model);
    }

    /** Sets the restore folders, one folder a line. */
    @PostMapping("/{project}/restore-roots")
    String setRestoreRoots(
            @PathVariable String project, @RequestParam String restoreRoots, Principal actor, Model model) {
        return set(
                find(project),
                "restoreRoots",
                restoreRoots,
                paths -> restorePlaces.setRoots(project, paths, actor.getName()),
                model);
    }

    /** Changes one attribute of a project; shows the form again with what was typed if that is refused. */
    private String set(String project, Map<String, String> typed, Supplier<Optional<Project>> change, Model model) {
        Project before = find(project);
        try {
            return to(change.get().orElseThrow(() -> noProject(project)).code());
        } catch (Refusal refused) {
            return shown(before, typed, refused, model);
        }
    }

    private static @Nullable Integer given(String field, String typed) {
        return typed.isBlank() ? null : Numbers.whole(field, typed);
    }

    private String set(
            Project before, String field, String folders, Function<List<Path>, Optional<Project>> set, Model model) {
        try {
            return to(set.apply(folders(folders))
                    .orElseThrow(() -> noProject(before.code()))
                    .code());
        } catch (Refusal refused) {
            // Refusals of both lists name the field roots; the form has one field for each list.
            return shown(before, Map.of(field, folders), Map.of(field, refused.message()), model);
        }
    }

    @PostMapping("/{project}/members")
    String join(
            @PathVariable String project,
            @RequestParam(defaultValue = "") String member,
            Principal actor,
            Model model) {
        Project found = find(project);
        try {
            if (!users.join(project, member.strip(), actor.getName())) {
                throw new Refusal("member", "user \"%s\" does not exist", member);
            }
            return to(project);
        } catch (Refusal refused) {
            return shown(found, Map.of("member", member), refused, model);
        }
    }

    @PostMapping("/{project}/members/{name}/remove")
    String leave(@PathVariable String project, @PathVariable String name, Principal actor) {
        find(project);
        if (!users.leave(project, name, actor.getName())) {
            throw new Refusal("name", "no administrator has added %s to project %s", name, project);
        }
        return to(project);
    }

    private String shown(Project project, Map<String, String> typed, Refusal refused, Model model) {
        return shown(project, typed, Form.refused(typed, refused).errors(), model);
    }

    private String shown(Project project, Map<String, String> typed, Map<String, Message> errors, Model model) {
        Map<String, String> values = new HashMap<>();
        values.put("percent", String.valueOf(project.tripwire().percent()));
        values.put("entries", String.valueOf(project.tripwire().entries()));
        values.put("days", project.drillDays() == null ? "" : String.valueOf(project.drillDays()));
        values.put("priority", String.valueOf(project.priority()));
        values.put("hours", project.lateHours() == null ? "" : String.valueOf(project.lateHours()));
        values.put("siteNames", project.siteNames());
        values.put("roots", String.join("\n", shown(project.roots())));
        values.put("restoreRoots", String.join("\n", shown(project.restoreRoots())));
        values.putAll(typed);
        model.addAttribute("project", project);
        model.addAttribute("drillDays", drills.days());
        model.addAttribute("lateHours", risk.after().toHours());
        model.addAttribute("roots", shown(project.roots()));
        model.addAttribute("plainRoots", project.roots().stream().allMatch(ProjectsPage::isText));
        model.addAttribute("restoreRoots", shown(project.restoreRoots()));
        model.addAttribute("plainRestoreRoots", project.restoreRoots().stream().allMatch(ProjectsPage::isText));
        model.addAttribute("members", users.members(project.code(), "", MEMBERS_SHOWN));
        model.addAttribute(
                "names", users.page("", MEMBERS_SHOWN).stream().map(User::name).toList());
        model.addAttribute(
                "holds", Cut.of(HOLDS_SHOWN, most -> holds.standing(project.code(), most), hold -> "" + hold.id()));
        model.addAttribute("form", new Form(values, errors));
        return "project";
    }

    private static List<String> shown(List<Path> roots) {
        return roots.stream()
                .map(root -> FilePath.render(FilePath.rawBytes(root)))
                .toList();
    }

    private static List<Path> folders(String lines) {
        return lines.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .map(ProjectsPage::path)
                .toList();
    }

    /** Returns whether the displayed text of a folder, when submitted again, is the same folder. */
    private static boolean isText(Path root) {
        return root.equals(path(FilePath.render(FilePath.rawBytes(root))));
    }

    private static Path path(String text) {
        if (text.startsWith("/") && text.indexOf('\0') < 0) {
            return FilePath.pathOf(text.getBytes(StandardCharsets.UTF_8));
        }
        throw new Refusal("roots", "\"%s\": expected absolute paths on the service's machine, one on each line", text);
    }

    private Project find(String code) {
        return projects.find(code).orElseThrow(() -> noProject(code));
    }

    private static Refusal noProject(String code) {
        return new Refusal("project", "project \"%s\" does not exist", code);
    }

    private static String to(String code) {
        return "redirect:/administration/projects/" + code;
    }
}
