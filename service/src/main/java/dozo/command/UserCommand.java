package dozo.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
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

/** Users. Passwords come from files: what is typed on a command line can be read by others. */
@Command(
        name = "user",
        mixinStandardHelpOptions = true,
        description = "Users: add, list, roles, password, disable, enable, join, leave.")
final class UserCommand {

    private static final String ROLES = "LAB_MANAGER, OPERATOR, AUDITOR, ADMIN, with commas.";

    @Spec
    private @Nullable CommandSpec spec;

    @Command(name = "add", mixinStandardHelpOptions = true, description = "Creates a local user.")
    int add(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--roles", split = ",", paramLabel = "ROLE", description = ROLES) @Nullable
                    List<String> roles,
            @Option(
                            names = "--password-file",
                            required = true,
                            paramLabel = "FILE",
                            description = "Holds the password in one line.")
                    Path file) {
        Map<String, Object> asked = new HashMap<>(Map.of("name", name, "password", password(file)));
        asked.put("roles", roles);
        Dozo.say(out(), service, service.post("/api/v1/users", asked), "created user " + name);
        return Exit.WELL;
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists the users.")
    int list(@Mixin Connection service) {
        List<JsonNode> users = service.all("/api/v1/users");
        if (service.json()) {
            out().println(Connection.JSON.writeValueAsString(users));
            out().flush();
            return Exit.WELL;
        }
        Table table = new Table("NAME", "ROLES", "PROJECTS", "FROM", "STATE");
        users.forEach(user -> table.row(
                user.path("name").asString(),
                words(user.path("roles")),
                words(user.path("projects")),
                user.path("origin").asString(),
                state(user)));
        table.print(out());
        return Exit.WELL;
    }

    @Command(name = "roles", mixinStandardHelpOptions = true, description = "Sets all that a user may do.")
    int roles(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME") String name,
            @Parameters(paramLabel = "ROLE", split = ",", arity = "0..*", description = ROLES) @Nullable
                    List<String> roles) {
        List<String> wanted = roles == null ? List.of() : roles;
        return change(service, name, Map.of("roles", wanted), "%s has the roles %s".formatted(name, wanted));
    }

    @Command(name = "password", mixinStandardHelpOptions = true, description = "Sets a user's password.")
    int password(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME") String name,
            @Parameters(paramLabel = "FILE", description = "Holds the password in one line.") Path file) {
        return change(service, name, Map.of("password", password(file)), name + " has another password");
    }

    @Command(name = "disable", mixinStandardHelpOptions = true, description = "Keeps a user and all tokens out.")
    int disable(@Mixin Connection service, @Parameters(paramLabel = "NAME") String name) {
        return change(service, name, Map.of("disabled", true), name + " is disabled");
    }

    @Command(name = "enable", mixinStandardHelpOptions = true, description = "Lets a user in again.")
    int enable(@Mixin Connection service, @Parameters(paramLabel = "NAME") String name) {
        return change(service, name, Map.of("disabled", false), name + " is enabled");
    }

    @Command(name = "join", mixinStandardHelpOptions = true, description = "Makes a project a user's own.")
    int join(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME") String name,
            @Parameters(paramLabel = "PROJECT") String project) {
        JsonNode member = service.put(member(project, name), Map.of());
        Dozo.say(out(), service, member, "%s is a member of %s".formatted(name, project));
        return Exit.WELL;
    }

    @Command(
            name = "leave",
            mixinStandardHelpOptions = true,
            description = "Makes a project not a user's own any more.")
    int leave(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME") String name,
            @Parameters(paramLabel = "PROJECT") String project) {
        JsonNode nothing = service.delete(member(project, name));
        Dozo.say(out(), service, nothing, "%s is no member of %s any more".formatted(name, project));
        return Exit.WELL;
    }

    private int change(Connection service, String name, Map<String, ?> change, String said) {
        Dozo.say(out(), service, service.patch("/api/v1/users/" + Connection.encoded(name), change), said);
        return Exit.WELL;
    }

    private static String member(String project, String name) {
        return "/api/v1/projects/%s/members/%s".formatted(Connection.encoded(project), Connection.encoded(name));
    }

    private static String password(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new Failure(Exit.REFUSED, "%s cannot be read: a file with the password is accepted".formatted(file));
        }
    }

    private static String words(JsonNode list) {
        return String.join(",", list.valueStream().map(JsonNode::asString).toList());
    }

    private static String state(JsonNode user) {
        return user.path("disabled").asBoolean()
                ? "disabled"
                : user.path("gone").asBoolean() ? "not in the directory" : "enabled";
    }

    private java.io.PrintWriter out() {
        return java.util.Objects.requireNonNull(spec).commandLine().getOut();
    }
}
