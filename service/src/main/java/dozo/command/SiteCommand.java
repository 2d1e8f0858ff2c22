package dozo.command;

import dozo.file.Size;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** DR sites. */
@Command(name = "site", mixinStandardHelpOptions = true, description = "DR sites: add, check.")
final class SiteCommand {

    private static final Pattern WHERE = Pattern.compile("([^@]+)@(\\[[^]]+]|[^:]+):(/.*)");

    @Spec
    private @Nullable CommandSpec spec;

    /** The host key, in one of two ways. */
    static final class HostKey {

        @Option(
                names = "--host-key",
                paramLabel = "LINE",
                description = "The site's public host key: ssh-ed25519 AAAA…")
        private @Nullable String line;

        @Option(
                names = "--host-key-file",
                paramLabel = "FILE",
                description = "Or a file with it, as ssh-keyscan writes it.")
        private @Nullable Path file;

        String text() {
            if (line != null) {
                return line;
            }
            try {
                return Files.readString(java.util.Objects.requireNonNull(file));
            } catch (IOException e) {
                throw new Failure(Exit.USAGE, "--host-key-file names %s, which cannot be read".formatted(file));
            }
        }
    }

    @Command(name = "add", mixinStandardHelpOptions = true, description = "Registers a site, or changes its address.")
    int add(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME", description = "What it is called here.") String name,
            @Parameters(paramLabel = "USER@HOST:/ROOT", description = "Where it is.") String where,
            @Option(names = "--port", defaultValue = "22", description = "Its SSH port (${DEFAULT-VALUE}).") int port,
            @Option(
                            names = "--identity",
                            required = true,
                            paramLabel = "FILE",
                            description = "The private key's file, on the service's machine.")
                    Path identity,
            @ArgGroup(multiplicity = "1") HostKey hostKey) {
        Matcher parts = WHERE.matcher(where);
        if (!parts.matches()) {
            throw new ParameterException(
                    java.util.Objects.requireNonNull(spec).commandLine(),
                    "\"%s\" is no site: user@host:/root is accepted".formatted(where));
        }
        JsonNode site = service.put(
                "/api/v1/sites/" + Connection.encoded(name),
                Map.of(
                        "user", parts.group(1),
                        "host", parts.group(2).replaceAll("[\\[\\]]", ""),
                        "root", parts.group(3),
                        "port", port,
                        "identity", identity.toAbsolutePath().normalize().toString(),
                        "hostKey", hostKey.text()));
        Dozo.say(out(), service, site, "site %s is registered; try it with `dozo site check %s`".formatted(name, name));
        return Exit.WELL;
    }

    @Command(name = "check", mixinStandardHelpOptions = true, description = "Looks whether a site can be used.")
    int check(
            @Mixin Connection service, @Parameters(paramLabel = "NAME", description = "The site's name.") String name) {
        JsonNode found = service.post("/api/v1/sites/%s/check".formatted(Connection.encoded(name)), Map.of());
        boolean usable = found.path("usable").asBoolean();
        if (service.json()) {
            out().println(Connection.JSON.writeValueAsString(found));
        } else {
            out().println("site %s %s".formatted(name, usable ? "can be used" : "cannot be used"));
            out().println("  server   "
                    + Connection.visible(found.path("server").asString("")));
            out().println("  digests  "
                    + Connection.visible(found.path("digest").asString("")));
            if (found.hasNonNull("freeBytes")) {
                out().println("  free     %s of %s"
                        .formatted(
                                Size.text(found.path("freeBytes").asLong()),
                                Size.text(found.path("totalBytes").asLong())));
            }
            found.path("findings").forEach(finding -> out().println("  - " + Connection.visible(finding.asString())));
        }
        out().flush();
        return usable && found.path("findings").isEmpty() ? Exit.WELL : Exit.NOT_SAFE;
    }

    private PrintWriter out() {
        return java.util.Objects.requireNonNull(spec).commandLine().getOut();
    }
}
