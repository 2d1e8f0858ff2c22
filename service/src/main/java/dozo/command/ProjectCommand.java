package dozo.command;

import dozo.api.ProjectApi.ShownProject;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Projects. */
@Command(
        name = "project",
        mixinStandardHelpOptions = true,
        description =
                "Projects: add, drill-days, late-after, list, priority, restore-roots, roots, site-names, tripwire.")
final class ProjectCommand {

    @Command(name = "add", mixinStandardHelpOptions = true, description = "Creates a project.")
    int add(
            @Mixin Connection service,
            @Parameters(paramLabel = "CODE", description = "An opaque code; it becomes a folder name at the site.")
                    String code,
            @Option(names = "--title", defaultValue = "", description = "A title for people.") String title,
            @Option(
                            names = "--site-names",
                            defaultValue = "kept",
                            paramLabel = "codes|kept",
                            description =
                                    "The names of folders and files at the sites: codes, or kept as at the source. Default: kept.")
                    String siteNames) {
        Answer<ShownProject> project = service.post(
                "/api/v1/projects", Map.of("code", code, "title", title, "siteNames", siteNames), ShownProject.class);
        service.confirm(project, "created project " + code);
        return Exit.WELL;
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists the projects.")
    int list(@Mixin Connection service) {
        Answer<List<ShownProject>> projects = service.all("/api/v1/projects", ShownProject.class);
        Table table = new Table("CODE", "CREATED", "TRIPWIRE", "PRIORITY", "SITE NAMES", "TITLE");
        projects.value()
                .forEach(project -> table.row(
                        project.code(),
                        project.createdAt(),
                        threshold(project),
                        project.priority(),
                        project.siteNames(),
                        Connection.visible(project.title())));
        service.print(projects, table::print);
        return Exit.WELL;
    }

    @Command(
            name = "tripwire",
            mixinStandardHelpOptions = true,
            description = "Sets how much may disappear at once before an experiment is frozen.")
    int tripwire(
            @Mixin Connection service,
            @Parameters(paramLabel = "CODE", description = "The project's code.") String code,
            @Option(
                            names = "--percent",
                            required = true,
                            paramLabel = "N",
                            description = "The percentage of files and links, or bytes: 1 to 100.")
                    int percent,
            @Option(
                            names = "--entries",
                            required = true,
                            paramLabel = "N",
                            description = "The minimum number of files and links: 10 or more.")
                    int entries) {
        Answer<ShownProject> project = set(service, code, "tripwire", Map.of("percent", percent, "entries", entries));
        service.confirm(project, "the tripwire of %s is at %s".formatted(code, threshold(project.value())));
        return Exit.WELL;
    }

    @Command(
            name = "drill-days",
            mixinStandardHelpOptions = true,
            description = "Sets within how many days the project must be rehearsed.")
    int drillDays(
            @Mixin Connection service,
            @Parameters(index = "0", paramLabel = "CODE", description = "The project's code.") String code,
            @Parameters(
                            index = "1",
                            arity = "0..1",
                            paramLabel = "DAYS",
                            description = "1 to 3660; without it, the number of the setting (dozo.drill.days).")
                    @Nullable
                    Integer days) {
        Answer<ShownProject> project = set(service, code, "drill-days", days == null ? Map.of() : Map.of("days", days));
        service.confirm(
                project,
                days == null
                        ? "%s must be rehearsed within the days of the setting".formatted(code)
                        : "%s must be rehearsed within %d days".formatted(code, days));
        return Exit.WELL;
    }

    @Command(
            name = "late-after",
            mixinStandardHelpOptions = true,
            description = "Sets how long the project's data may wait for its second copy until it is at risk.")
    int lateAfter(
            @Mixin Connection service,
            @Parameters(index = "0", paramLabel = "CODE", description = "The project's code.") String code,
            @Parameters(
                            index = "1",
                            arity = "0..1",
                            paramLabel = "HOURS",
                            description = "1 to 87840; without it, the time of the setting (dozo.risk.after).")
                    @Nullable
                    Integer hours) {
        Answer<ShownProject> project =
                set(service, code, "late-after", hours == null ? Map.of() : Map.of("hours", hours));
        service.confirm(
                project,
                hours == null
                        ? "data of %s may wait as long as the setting says".formatted(code)
                        : "data of %s may wait %d hours for its second copy".formatted(code, hours));
        return Exit.WELL;
    }

    @Command(
            name = "priority",
            mixinStandardHelpOptions = true,
            description =
                    "Sets the share of the time that the project gets: one with 20 gets twice the time of one with 10.")
    int priority(
            @Mixin Connection service,
            @Parameters(index = "0", paramLabel = "CODE", description = "The project's code.") String code,
            @Parameters(index = "1", paramLabel = "PRIORITY", description = "1 to 100; 10 for a new project.")
                    int priority) {
        Answer<ShownProject> project = set(service, code, "priority", Map.of("priority", priority));
        service.confirm(project, "%s has priority %d".formatted(code, priority));
        return Exit.WELL;
    }

    @Command(
            name = "site-names",
            mixinStandardHelpOptions = true,
            description = "Sets the names that folders and files of new experiments have at the sites.")
    int siteNames(
            @Mixin Connection service,
            @Parameters(index = "0", paramLabel = "CODE", description = "The project's code.") String code,
            @Parameters(
                            index = "1",
                            paramLabel = "codes|kept",
                            description = "Codes that tell nothing, or the names at the source.")
                    String siteNames) {
        Answer<ShownProject> project = set(service, code, "site-names", Map.of("siteNames", siteNames));
        service.confirm(
                project,
                project.value().siteNames().equals("codes")
                        ? "new experiments of %s have codes instead of names at the sites".formatted(code)
                        : "new experiments of %s keep their names at the sites".formatted(code));
        return Exit.WELL;
    }

    @Command(
            name = "roots",
            mixinStandardHelpOptions = true,
            description = "Shows the folders below which lab managers may register, or replaces them.")
    int roots(
            @Mixin Connection service,
            @Parameters(index = "0", paramLabel = "CODE", description = "The project's code.") String code,
            @Parameters(
                            index = "1..*",
                            arity = "0..*",
                            paramLabel = "FOLDER",
                            description = "All folders, on the service's machine; without any, the folders are shown.")
                    @Nullable
                    List<String> folders,
            @Option(names = "--none", description = "Removes all folders from the list.") boolean none) {
        return folders(
                service,
                code,
                "roots",
                ShownProject::roots,
                folders,
                none,
                "%s has no source roots: lab managers cannot register sources".formatted(code));
    }

    @Command(
            name = "restore-roots",
            mixinStandardHelpOptions = true,
            description = "Shows the folders below which the service restores experiments, or replaces them.")
    int restoreRoots(
            @Mixin Connection service,
            @Parameters(index = "0", paramLabel = "CODE", description = "The project's code.") String code,
            @Parameters(
                            index = "1..*",
                            arity = "0..*",
                            paramLabel = "FOLDER",
                            description = "All folders, on the service's machine; without any, the folders are shown.")
                    @Nullable
                    List<String> folders,
            @Option(names = "--none", description = "Removes all folders from the list.") boolean none) {
        return folders(
                service,
                code,
                "restore-roots",
                ShownProject::restoreRoots,
                folders,
                none,
                "%s has no restore folders: the service cannot restore its experiments".formatted(code));
    }

    /** @param address the last part of the address that sets the folders; {@code field} returns them */
    private int folders(
            Connection service,
            String code,
            String address,
            Function<ShownProject, List<String>> field,
            @Nullable List<String> folders,
            boolean none,
            String without) {
        if (none && folders != null) {
            throw new Failure(Exit.USAGE, "either folders or --none");
        }
        String project = "/api/v1/projects/" + Connection.encoded(code);
        List<byte[]> wanted = folders == null
                ? List.of()
                : folders.stream().map(RawArgument::path).toList();
        Answer<ShownProject> answer = wanted.isEmpty() && !none
                ? service.get(project, ShownProject.class)
                : service.put(project + "/" + address, Map.of("rootsBytes", wanted), ShownProject.class);
        List<String> shown =
                field.apply(answer.value()).stream().map(Connection::visible).toList();
        service.print(answer, shown.isEmpty() ? without : String.join(System.lineSeparator(), shown));
        return Exit.WELL;
    }

    /** @param attribute the last part of the address that sets it */
    private static Answer<ShownProject> set(Connection service, String code, String attribute, Map<String, ?> value) {
        return service.put(
                "/api/v1/projects/%s/%s".formatted(Connection.encoded(code), attribute), value, ShownProject.class);
    }

    private static String threshold(ShownProject project) {
        return "%d %%, %d entries"
                .formatted(project.tripwire().percent(), project.tripwire().entries());
    }
}
