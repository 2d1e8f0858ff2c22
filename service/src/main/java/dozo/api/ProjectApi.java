package dozo.api;

import static java.util.Objects.requireNonNull;

import dozo.api.http.Demanded;
import dozo.api.http.Edited;
import dozo.api.http.Editions;
import dozo.api.http.IfMatch;
import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.file.FilePath;
import dozo.ledger.Sight;
import dozo.registry.Projects;
import dozo.registry.Projects.Project;
import dozo.registry.Projects.Threshold;
import dozo.registry.Refusal;
import dozo.registry.RestorePlaces;
import dozo.registry.Retirement;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import java.net.URI;
import java.nio.file.Path;
import java.security.Principal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Projects. */
@Verb.Group(name = "project", about = "Projects", section = "Set-up")
@RestController
@RequestMapping("/api/v1/projects")
public record ProjectApi(Projects projects, RestorePlaces restorePlaces, Editions editions) {

    /**
     * The project to create.
     *
     * @param code an opaque code; it becomes a folder name at the site
     * @param title a title for people
     * @param siteNames the names of folders and files at the sites: codes, or kept as at the source; default: kept
     * @param roots the folders that contain its sources: absolute paths on the service's machine, at most 100; missing: none
     */
    record NewProject(
            @NotBlank(message = "expected a code") String code,
            @Nullable String title,
            @Nullable String siteNames,
            @Nullable List<String> roots) {}

    /**
     * How much an experiment may lose in a night before it is frozen.
     *
     * @param percent the percentage of files and links, or bytes: 1 to 100
     * @param entries the minimum number of files and links: 10 or more
     */
    record NewTripwire(
            @Demanded @Nullable Integer percent,

            @Demanded @Nullable Integer entries) {

        Threshold checked() {
            return new Threshold(given("percent", percent), given("entries", entries));
        }
    }

    /**
     * Within what time a project must be rehearsed.
     *
     * @param days 1 to 3,660; missing: the number of the setting (dozo.drill.days)
     */
    record NewDrillDays(@Nullable Integer days) {}

    /**
     * By what people know a project.
     *
     * @param title at most 200 characters in one line; empty: none
     */
    record NewTitle(@Demanded @Nullable String title) {}

    /**
     * The share of the time that a project gets.
     *
     * @param priority 1 to 100; twice the number is twice the time
     */
    record NewPriority(@Demanded @Nullable Integer priority) {}

    /**
     * How long data may wait for the second copy.
     *
     * @param hours 1 to 87,840; missing: as long as the setting says (dozo.risk.after)
     */
    record NewLateAfter(@Nullable Integer hours) {}

    /**
     * How names of sources are written at the sites.
     *
     * @param siteNames codes, or kept: for experiments that are registered from now on
     */
    record NewSiteNames(
            @NotBlank(message = "expected codes or kept") String siteNames) {}

    /**
     * The complete list of folders.
     *
     * @param roots absolute paths on the service's machine, at most 100
     * @param rootsBytes the same in base64, instead of {@code roots}: for names that are not UTF-8
     */
    record NewRoots(@Nullable List<String> roots, @Nullable List<byte[]> rootsBytes) {

        List<Path> paths() {
            if ((roots == null) == (rootsBytes == null)) {
                throw new Refusal("roots", "expected either roots or rootsBytes: a list of absolute paths");
            }
            return roots != null
                    ? roots.stream()
                            .map(root -> NewExperiment.path("roots", root, null))
                            .toList()
                    : requireNonNull(rootsBytes).stream()
                            .map(root -> NewExperiment.path("rootsBytes", null, root))
                            .toList();
        }
    }

    /**
     * A project.
     *
     * @param roots the folders that contain its sources; {@code rootsBytes} are the exact names
     * @param restoreRoots the folders below which its experiments may be restored; {@code restoreRootsBytes} are the exact names
     * @param drillDays the number of days within which it must be rehearsed; missing: that of the setting
     * @param priority its share of the time that sending takes, compared with the other projects: 1 to 100
     * @param siteNames what new experiments have at the sites instead of the names of their sources: codes; or kept
     * @param lateHours how long its data may wait for the second copy, in hours; missing: as long as the setting says
     * @param retired since when it is over, and why; missing: it is not
     */
    public record ShownProject(
            String code,
            String title,
            Threshold tripwire,
            List<String> roots,
            List<byte[]> rootsBytes,
            List<String> restoreRoots,
            List<byte[]> restoreRootsBytes,
            @Nullable Integer drillDays,
            int priority,
            String siteNames,
            @Nullable Integer lateHours,
            Instant createdAt,
            @Nullable Retirement retired)
            implements Edited {

        static ShownProject of(Project project) {
            List<byte[]> roots = bytes(project.roots());
            List<byte[]> restoreRoots = bytes(project.restoreRoots());
            return new ShownProject(
                    project.code(),
                    project.title(),
                    project.tripwire(),
                    roots.stream().map(FilePath::render).toList(),
                    roots,
                    restoreRoots.stream().map(FilePath::render).toList(),
                    restoreRoots,
                    project.drillDays(),
                    project.priority(),
                    project.siteNames(),
                    project.lateHours(),
                    project.createdAt(),
                    project.retired());
        }

        private static List<byte[]> bytes(List<Path> roots) {
            return roots.stream().map(FilePath::rawBytes).toList();
        }
    }

    private static int given(String field, @Nullable Integer number) {
        if (number == null) {
            throw new Refusal(field, "expected a whole number");
        }
        return number;
    }

    /** Lists the projects by code, without retired ones. */
    @Verb(
            value = "project list",
            columns = {
                "CODE={code}",
                "CREATED={createdAt}",
                "TRIPWIRE={tripwire.percent} %, {tripwire.entries} entries",
                "PRIORITY={priority}",
                "SITE NAMES={siteNames}",
                "TITLE={title}|"
            },
            none = "No project yet; `dozo project add` creates one.",
            example = "dozo project list")
    @GetMapping
    Page<ShownProject> list(
            @RequestParam(defaultValue = "") String after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        return Page.of(limit, most -> projects.page(sight, after, most), Project::code)
                .map(ShownProject::of);
    }

    /** Shows one project. */
    @Verb(
            value = "project roots CODE:project",
            about = "Shows the folders below which lab managers may register, or replaces them.",
            says = {"{roots lines}", "{code} has no source roots: lab managers cannot register sources"},
            example = "dozo project roots P001")
    @Verb(
            value = "project restore-roots CODE:project",
            about = "Shows the folders below which the service restores experiments, or replaces them.",
            says = {"{restoreRoots lines}", "{code} has no restore folders: the service cannot restore its experiments"
            },
            example = "dozo project restore-roots P001")
    @GetMapping("/{project}")
    ShownProject one(@PathVariable String project) {
        return shown(project).orElseThrow(Missing.thing("project", project));
    }

    private Optional<ShownProject> shown(String project) {
        return projects.find(project).map(ShownProject::of);
    }

    /** Changes one attribute of a project, if it is as the client has seen it. */
    private ShownProject set(String project, IfMatch seen, Supplier<Optional<Project>> change) {
        return editions.change(seen, () -> projects.lock(project), () -> shown(project), change)
                .map(ShownProject::of)
                .orElseThrow(Missing.thing("project", project));
    }

    /** Sets how much an experiment may lose in a night before it is frozen. */
    @Verb(
            value = "project tripwire CODE:project --percent=N --entries=N",
            says = "the tripwire of {code} is at {tripwire.percent} %, {tripwire.entries} entries",
            example = "dozo project tripwire P001 --percent 50 --entries 1000")
    @PutMapping("/{project}/tripwire")
    ShownProject setTripwire(
            @PathVariable String project, @RequestBody NewTripwire asked, IfMatch seen, Principal actor) {
        Threshold tripwire = asked.checked();
        return set(project, seen, () -> projects.setTripwire(project, tripwire, actor.getName()));
    }

    /** Sets within how many days the project must be rehearsed. */
    @Verb(
            value = "project drill-days CODE:project [DAYS]",
            says = {
                "{code} must be rehearsed within {drillDays} days",
                "{code} must be rehearsed within the days of the setting"
            },
            example = "dozo project drill-days P001 30")
    @PutMapping("/{project}/drill-days")
    ShownProject setDrillDays(
            @PathVariable String project, @RequestBody NewDrillDays asked, IfMatch seen, Principal actor) {
        return set(project, seen, () -> projects.setDrillDays(project, asked.days(), actor.getName()));
    }

    /** Sets the title, by which people know the project. Its code stays. */
    @Verb(
            value = "project title CODE:project TITLE",
            says = {"{code} has the title {title}"},
            example = "dozo project title P001 'Visual cortex'")
    @PutMapping("/{project}/title")
    ShownProject setTitle(@PathVariable String project, @RequestBody NewTitle asked, IfMatch seen, Principal actor) {
        String title = asked.title() == null ? "" : asked.title();
        return set(project, seen, () -> projects.setTitle(project, title, actor.getName()));
    }

    /** Sets the share of the time that the project gets: one with 20 gets twice the time of one with 10. */
    @Verb(
            value = "project priority CODE:project PRIORITY",
            says = "{code} has priority {priority}",
            example = "dozo project priority P001 20")
    @PutMapping("/{project}/priority")
    ShownProject setPriority(
            @PathVariable String project, @RequestBody NewPriority asked, IfMatch seen, Principal actor) {
        int priority = given("priority", asked.priority());
        return set(project, seen, () -> projects.setPriority(project, priority, actor.getName()));
    }

    /** Sets for how many hours the project's data may wait for its second copy until it is at risk. */
    @Verb(
            value = "project late-after CODE:project [HOURS]",
            says = {
                "data of {code} may wait {lateHours} hours for its second copy",
                "data of {code} may wait as long as the setting says"
            },
            example = "dozo project late-after P001 48")
    @PutMapping("/{project}/late-after")
    ShownProject setLateAfter(
            @PathVariable String project, @RequestBody NewLateAfter asked, IfMatch seen, Principal actor) {
        return set(project, seen, () -> projects.setLateHours(project, asked.hours(), actor.getName()));
    }

    /** Sets how the names of sources are written at the sites, for experiments that are registered from now on. */
    @Verb(
            value = "project site-names CODE:project codes|kept:siteNames",
            says =
                    "{siteNames=codes?}new experiments of {code} have codes instead of names at the sites|new experiments of {code} keep their names at the sites",
            example = "dozo project site-names P001 codes")
    @PutMapping("/{project}/site-names")
    ShownProject setSiteNames(
            @PathVariable String project, @Valid @RequestBody NewSiteNames asked, IfMatch seen, Principal actor) {
        return set(project, seen, () -> projects.setSiteNames(project, asked.siteNames(), actor.getName()));
    }

    /** Replaces the source roots: the existing folders below which lab managers may register. */
    @Verb(
            value = "project roots CODE:project FOLDER…:rootsBytes",
            arguments = "FOLDER=all folders, on the service's machine; without any, the folders are shown",
            says = "{roots lines}",
            result = true,
            example = "dozo project roots P001 /data/meg /data/mri")
    @Verb(
            value = "project roots CODE:project --none:rootsBytes=[]",
            arguments = "--none=removes all folders from the list",
            says = "{code} has no source roots: lab managers cannot register sources",
            result = true,
            example = "dozo project roots P001 --none")
    @PutMapping("/{project}/roots")
    ShownProject setRoots(@PathVariable String project, @RequestBody NewRoots asked, IfMatch seen, Principal actor) {
        List<Path> roots = asked.paths();
        return set(project, seen, () -> projects.setRoots(project, roots, actor.getName()));
    }

    /** Replaces the restore folders: those below which the service may restore the project's experiments. */
    @Verb(
            value = "project restore-roots CODE:project FOLDER…:rootsBytes",
            arguments = "FOLDER=all folders, on the service's machine; without any, the folders are shown",
            says = "{restoreRoots lines}",
            result = true,
            example = "dozo project restore-roots P001 /data/restored")
    @Verb(
            value = "project restore-roots CODE:project --none:rootsBytes=[]",
            arguments = "--none=removes all folders from the list",
            says = "{code} has no restore folders: the service cannot restore its experiments",
            result = true,
            example = "dozo project restore-roots P001 --none")
    @PutMapping("/{project}/restore-roots")
    ShownProject setRestoreRoots(
            @PathVariable String project, @RequestBody NewRoots asked, IfMatch seen, Principal actor) {
        List<Path> roots = asked.paths();
        return set(project, seen, () -> restorePlaces.setRoots(project, roots, actor.getName()));
    }

    /** Creates a project. */
    @Verb(
            value = "project add CODE [--title=TITLE] [--site-names=codes|kept]",
            says = "created project {code}",
            example = "dozo project add --title 'Visual cortex' P001")
    @PostMapping
    @ResponseStatus(HttpStatus.CREATED)
    ResponseEntity<ShownProject> create(@Valid @RequestBody NewProject asked, Principal actor) {
        Project project = projects.create(
                asked.code(),
                asked.title() == null ? "" : asked.title(),
                asked.siteNames() == null ? "kept" : asked.siteNames(),
                asked.roots() == null ? List.of() : new NewRoots(asked.roots(), null).paths(),
                actor.getName());
        return ResponseEntity.created(URI.create("/api/v1/projects/" + project.code()))
                .body(ShownProject.of(project));
    }
}
