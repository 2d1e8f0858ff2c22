package dozo.command;

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

/** Tokens. */
@Command(
        name = "token",
        mixinStandardHelpOptions = true,
        description = "Tokens for programs: add, list, revoke.",
        footer = {"", "Programs bring a token in DOZO_TOKEN or in the file DOZO_TOKEN_FILE."})
final class TokenCommand {

    @Spec
    private @Nullable CommandSpec spec;

    @Command(
            name = "add",
            mixinStandardHelpOptions = true,
            description = "Makes a token of your own and prints its secret, once. Takes a password, no token.")
    int add(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME", description = "What it is for.") String name,
            @Option(names = "--roles", split = ",", paramLabel = "ROLE", description = "At most these of yours.")
                    @Nullable
                    List<String> roles,
            @Option(names = "--read-only", description = "It changes nothing.") boolean readOnly,
            @Option(
                            names = "--studies",
                            description = "It only asks whether a study may be deleted: for a scanner's console.")
                    boolean studies,
            @Option(
                            names = "--days",
                            paramLabel = "N",
                            defaultValue = "90",
                            description = "Until it expires: 1 to 366 (90).")
                    int days) {
        Map<String, Object> asked = new HashMap<>(Map.of("name", name, "readOnly", readOnly, "days", days));
        asked.put("roles", roles);
        asked.put("scope", studies ? "studies" : null);
        JsonNode token = service.post("/api/v1/me/tokens", asked);
        Dozo.say(out(), service, token, token.path("secret").asString());
        return Exit.WELL;
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists your tokens, or another user's.")
    int list(
            @Mixin Connection service,
            @Option(names = "--user", paramLabel = "NAME", description = "Whose.") @Nullable String user) {
        JsonNode page = service.get(path(user));
        if (service.json()) {
            out().println(Connection.JSON.writeValueAsString(page.path("items")));
            out().flush();
            return Exit.WELL;
        }
        Table table = new Table(">ID", "NAME", "ROLES", "MAY", "EXPIRES", "LAST USED");
        page.path("items")
                .forEach(token -> table.row(
                        token.path("id").asLong(),
                        token.path("name").asString(),
                        String.join(
                                ",",
                                token.path("roles")
                                        .valueStream()
                                        .map(JsonNode::asString)
                                        .toList()),
                        may(token),
                        token.path("expiresAt").asString(),
                        token.path("lastUsedAt").asString("-")));
        table.print(out());
        return Exit.WELL;
    }

    private static String may(JsonNode token) {
        if (token.path("scope").asString("all").equals("studies")) {
            return "ask of studies";
        }
        return token.path("readOnly").asBoolean() ? "read" : "change";
    }

    @Command(name = "revoke", mixinStandardHelpOptions = true, description = "Revokes a token at once.")
    int revoke(
            @Mixin Connection service,
            @Parameters(paramLabel = "ID", description = "As list shows it.") int id,
            @Option(names = "--user", paramLabel = "NAME", description = "Whose, if not yours.") @Nullable
                    String user) {
        Dozo.say(out(), service, service.delete(path(user) + "/" + id), "revoked token " + id);
        return Exit.WELL;
    }

    private static String path(@Nullable String user) {
        return user == null ? "/api/v1/me/tokens" : "/api/v1/users/%s/tokens".formatted(Connection.encoded(user));
    }

    private java.io.PrintWriter out() {
        return java.util.Objects.requireNonNull(spec).commandLine().getOut();
    }
}
