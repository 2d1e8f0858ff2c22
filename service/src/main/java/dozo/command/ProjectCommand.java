package dozo.command;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Projects. */
@Command(
        name = "project",
        mixinStandardHelpOptions = true,
        description = "Projects: add, list, roots, restore-roots, tripwire.")
final class ProjectCommand {

    @Spec
    private @Nullable CommandSpec spec;

    @Command(name = "add", mixinStandardHelpOptions = true, description = "Creates a project.")
    int add(
            @Mixin Connection service,
            @Parameters(paramLabel = "CODE", description = "Opaque: it becomes a folder's name at the site.")
                    String code,
            @Option(names = "--title", defaultValue = "", description = "What people call it.") String title) {
        JsonNode project = service.post("/api/v1/projects", Map.of("code", code, "title", title));
        Dozo.say(out(), service, project, "created project " + code);
        return Exit.WELL;
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists the projects.")
    int list(@Mixin Connection service) {
        List<JsonNode> projects = service.all("/api/v1/projects");
        if (service.json()) {
            out().println(Connection.JSON.writeValueAsString(projects));
            out().flush();
            return Exit.WELL;
        }
        Table table = new Table("CODE", "CREATED", "TRIPWIRE", "TITLE");
        projects.forEach(project -> table.row(
                project.path("code").asString(),
                project.path("createdAt").asString(),
                threshold(project),
                Connection.visible(project.path("title").asString(""))));
        table.print(out());
        return Exit.WELL;
    }

    @Command(
            name = "tripwire",
            mixinStandardHelpOptions = true,
            description = "Sets how much may be lost at once before an experiment is frozen.")
    int tripwire(
            @Mixin Connection service,
            @Parameters(paramLabel = "CODE", description = "The project's code.") String code,
            @Option(
                            names = "--percent",
                            required = true,
                            paramLabel = "N",
                            description = "So many of a hundred files and links, or bytes: 1 to 100.")
                    int percent,
            @Option(
                            names = "--entries",
                            required = true,
                            paramLabel = "N",
                            description = "But at least so many files and links: 10 or more.")
                    int entries) {
        JsonNode project = service.put(
                "/api/v1/projects/%s/tripwire".formatted(Connection.encoded(code)),
                Map.of("percent", percent, "entries", entries));
        Dozo.say(out(), service, project, "the tripwire of %s is at %s".formatted(code, threshold(project)));
        return Exit.WELL;
    }

    @Command(
            name = "roots",
            mixinStandardHelpOptions = true,
            description = "Shows below which folders lab managers may register, or sets them in whole.")
    int roots(
            @Mixin Connection service,
            @Parameters(index = "0", paramLabel = "CODE", description = "The project's code.") String code,
            @Parameters(
                            index = "1..*",
                            arity = "0..*",
                            paramLabel = "FOLDER",
                            description = "All of them, on the service's machine; none: they are shown.")
                    @Nullable
                    List<String> folders,
            @Option(names = "--none", description = "There is to be none.") boolean none) {
        return folders(
                service,
                code,
                "roots",
                "roots",
                folders,
                none,
                "%s has no source roots: lab managers register nothing there".formatted(code));
    }

    @Command(
            name = "restore-roots",
            mixinStandardHelpOptions = true,
            description = "Shows below which folders the service restores experiments, or sets them in whole.")
    int restoreRoots(
            @Mixin Connection service,
            @Parameters(index = "0", paramLabel = "CODE", description = "The project's code.") String code,
            @Parameters(
                            index = "1..*",
                            arity = "0..*",
                            paramLabel = "FOLDER",
                            description = "All of them, on the service's machine; none: they are shown.")
                    @Nullable
                    List<String> folders,
            @Option(names = "--none", description = "There is to be none.") boolean none) {
        return folders(
                service,
                code,
                "restore-roots",
                "restoreRoots",
                folders,
                none,
                "%s has no restore folders: the service restores nothing of it".formatted(code));
    }

    /** @param address the end of where they are set, {@code field} what shows them */
    private int folders(
            Connection service,
            String code,
            String address,
            String field,
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
        JsonNode answer = wanted.isEmpty() && !none
                ? service.get(project)
                : service.put(project + "/" + address, Map.of("rootsBytes", wanted));
        List<String> shown = new ArrayList<>();
        answer.path(field).forEach(root -> shown.add(Connection.visible(root.asString())));
        Dozo.say(out(), service, answer, shown.isEmpty() ? without : String.join(System.lineSeparator(), shown));
        return Exit.WELL;
    }

    private static String threshold(JsonNode project) {
        return "%d %%, %d entries"
                .formatted(
                        project.at("/tripwire/percent").asInt(),
                        project.at("/tripwire/entries").asInt());
    }

    private java.io.PrintWriter out() {
        return java.util.Objects.requireNonNull(spec).commandLine().getOut();
    }
}
