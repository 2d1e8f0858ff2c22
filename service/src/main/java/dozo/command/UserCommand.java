package dozo.command;

import dozo.api.UserApi.Member;
import dozo.api.UserApi.ShownUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Users. Passwords come from files, because other users can read a command line. */
@Command(
        name = "user",
        mixinStandardHelpOptions = true,
        description = "Users: add, list, roles, password, disable, enable, join, leave.")
final class UserCommand {

    private static final String ROLES = "LAB_MANAGER, OPERATOR, AUDITOR, ADMIN, separated by commas.";

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
                            description = "A file that contains the password in one line.")
                    Path file) {
        Map<String, Object> asked = new HashMap<>(Map.of("name", name, "password", password(file)));
        asked.put("roles", roles);
        service.confirm(service.post("/api/v1/users", asked, ShownUser.class), "created user " + name);
        return Exit.WELL;
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists the users.")
    int list(@Mixin Connection service) {
        Answer<List<ShownUser>> users = service.all("/api/v1/users", ShownUser.class);
        Table table = new Table("NAME", "ROLES", "PROJECTS", "FROM", "STATE");
        users.value()
                .forEach(user -> table.row(
                        user.name(), words(user.roles()), words(user.projects()), user.origin(), state(user)));
        service.print(users, table::print);
        return Exit.WELL;
    }

    @Command(name = "roles", mixinStandardHelpOptions = true, description = "Sets a user's roles.")
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
            @Parameters(paramLabel = "FILE", description = "A file that contains the password in one line.")
                    Path file) {
        return change(service, name, Map.of("password", password(file)), "the password of " + name + " was changed");
    }

    @Command(name = "disable", mixinStandardHelpOptions = true, description = "Disables a user and the user's tokens.")
    int disable(@Mixin Connection service, @Parameters(paramLabel = "NAME") String name) {
        return change(service, name, Map.of("disabled", true), name + " is disabled");
    }

    @Command(name = "enable", mixinStandardHelpOptions = true, description = "Enables a user again.")
    int enable(@Mixin Connection service, @Parameters(paramLabel = "NAME") String name) {
        return change(service, name, Map.of("disabled", false), name + " is enabled");
    }

    @Command(name = "join", mixinStandardHelpOptions = true, description = "Adds a user to a project.")
    int join(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME") String name,
            @Parameters(paramLabel = "PROJECT") String project) {
        Answer<Member> member = service.put(member(project, name), Map.of(), Member.class);
        service.confirm(member, "%s is a member of %s".formatted(name, project));
        return Exit.WELL;
    }

    @Command(name = "leave", mixinStandardHelpOptions = true, description = "Removes a user from a project.")
    int leave(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME") String name,
            @Parameters(paramLabel = "PROJECT") String project) {
        Answer<Void> nothing = service.delete(member(project, name), Void.class);
        service.confirm(nothing, "%s is no longer a member of %s".formatted(name, project));
        return Exit.WELL;
    }

    private int change(Connection service, String name, Map<String, ?> change, String said) {
        service.confirm(service.patch("/api/v1/users/" + Connection.encoded(name), change, ShownUser.class), said);
        return Exit.WELL;
    }

    private static String member(String project, String name) {
        return "/api/v1/projects/%s/members/%s".formatted(Connection.encoded(project), Connection.encoded(name));
    }

    private static String password(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new Failure(
                    Exit.USAGE, "%s cannot be read: expected a file that contains the password".formatted(file));
        }
    }

    static String words(Collection<?> list) {
        return list.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    private static String state(ShownUser user) {
        return user.disabled() ? "disabled" : user.gone() ? "not in the directory" : "enabled";
    }
}
