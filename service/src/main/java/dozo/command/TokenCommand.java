package dozo.command;

import dozo.api.TokenApi.ShownToken;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Tokens. */
@Command(
        name = "token",
        mixinStandardHelpOptions = true,
        description = "Tokens for programs: add, list, revoke.",
        footer = {"", "Programs pass a token in DOZO_TOKEN or in the file named by DOZO_TOKEN_FILE."})
final class TokenCommand {

    @Command(
            name = "add",
            mixinStandardHelpOptions = true,
            description = "Creates a token for you and prints its secret once. Requires a password login.")
    int add(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME", description = "The purpose of the token.") String name,
            @Option(
                            names = "--roles",
                            split = ",",
                            paramLabel = "ROLE",
                            description = "Limits the token to these of your roles.")
                    @Nullable
                    List<String> roles,
            @Option(names = "--read-only", description = "A read-only token.") boolean readOnly,
            @Option(
                            names = "--studies",
                            description =
                                    "Only permits asking whether a study may be deleted: for a scanner's console.")
                    boolean studies,
            @Option(
                            names = "--days",
                            paramLabel = "N",
                            defaultValue = "90",
                            description = "The days until it expires: 1 to 366 (90).")
                    int days) {
        Map<String, Object> asked = new HashMap<>(Map.of("name", name, "readOnly", readOnly, "days", days));
        asked.put("roles", roles);
        asked.put("scope", studies ? "studies" : null);
        Answer<ShownToken> token = service.post("/api/v1/me/tokens", asked, ShownToken.class);
        service.print(token, String.valueOf(token.value().secret()));
        return Exit.WELL;
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists your tokens, or another user's.")
    int list(
            @Mixin Connection service,
            @Option(names = "--user", paramLabel = "NAME", description = "The user's name.") @Nullable String user) {
        Answer<List<ShownToken>> tokens = service.page(path(user), ShownToken.class);
        Table table = new Table(">ID", "NAME", "ROLES", "MAY", "EXPIRES", "LAST USED");
        tokens.value()
                .forEach(token -> table.row(
                        (long) token.id(),
                        token.name(),
                        UserCommand.words(token.roles()),
                        may(token),
                        token.expiresAt(),
                        Times.text(token.lastUsedAt())));
        service.print(tokens, table::print);
        return Exit.WELL;
    }

    private static String may(ShownToken token) {
        if (token.scope().equals("studies")) {
            return "check studies";
        }
        return token.readOnly() ? "read" : "change";
    }

    @Command(name = "revoke", mixinStandardHelpOptions = true, description = "Revokes a token at once.")
    int revoke(
            @Mixin Connection service,
            @Parameters(paramLabel = "ID", description = "The token's number, as `token list` shows it.") int id,
            @Option(names = "--user", paramLabel = "NAME", description = "Another user's name; by default yourself.")
                    @Nullable
                    String user) {
        service.confirm(service.delete(path(user) + "/" + id, Void.class), "revoked token " + id);
        return Exit.WELL;
    }

    private static String path(@Nullable String user) {
        return user == null ? "/api/v1/me/tokens" : "/api/v1/users/%s/tokens".formatted(Connection.encoded(user));
    }
}
