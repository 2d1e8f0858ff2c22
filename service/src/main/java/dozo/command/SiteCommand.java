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
@Command(name = "site", mixinStandardHelpOptions = true, description = "DR sites: add, check, show.")
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
            sayCapabilities(found);
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

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description =
                    "Shows where a site is, what it could do when it was last looked at, and when it will be full.")
    int show(
            @Mixin Connection service, @Parameters(paramLabel = "NAME", description = "The site's name.") String name) {
        JsonNode site = service.get("/api/v1/sites/" + Connection.encoded(name));
        JsonNode can = site.path("capabilities");
        if (service.json()) {
            out().println(Connection.JSON.writeValueAsString(site));
        } else {
            out().println(Connection.visible("site %s at %s@%s:%d:%s"
                    .formatted(
                            name,
                            site.path("user").asString(""),
                            site.path("host").asString(""),
                            site.path("port").asInt(),
                            site.path("root").asString(""))));
            if (can.isObject()) {
                sayCapabilities(can);
                out().println("  since    %s, last seen %s"
                        .formatted(
                                can.path("firstSeenAt").asString(""),
                                can.path("lastSeenAt").asString("")));
            } else {
                out().println("  nobody has looked at it yet; `dozo site check %s` does".formatted(name));
            }
            if (site.path("capacity").isObject()) {
                sayCapacity(site.path("capacity"));
            }
        }
        out().flush();
        return Exit.WELL;
    }

    private void sayCapabilities(JsonNode can) {
        out().println("  server   " + Connection.visible(can.path("server").asString("")));
        double rate = can.path("digestBytesPerSecond").asDouble(0);
        out().println("  digests  "
                + Connection.visible(can.path("digest").asString(""))
                + (rate > 0 ? ", %s/s from memory".formatted(Size.text((long) rate)) : ""));
        out().println("  sync     " + (can.path("syncsAtOnce").asBoolean() ? "by one command" : "file by file"));
        out().println("  reads    "
                + (can.hasNonNull("cacheTool")
                        ? "cold, by " + Connection.visible(can.path("cacheTool").asString(""))
                        : "warm"));
        out().println("  names    " + (can.path("namesAreBytes").asBoolean() ? "any bytes" : "UTF-8 only"));
        if (can.hasNonNull("clockAheadSeconds")) {
            out().println("  clock    %+d s"
                    .formatted(can.path("clockAheadSeconds").asLong()));
        }
    }

    private void sayCapacity(JsonNode capacity) {
        out().println("  room     %d %% full, %s of %s free, seen %s"
                .formatted(
                        capacity.path("percentFull").asInt(),
                        Size.text(capacity.path("freeBytes").asLong()),
                        Size.text(capacity.path("totalBytes").asLong()),
                        capacity.path("seenAt").asString("")));
        String rate = Size.text(capacity.path("bytesPerDay").asLong(0));
        out().println("  full     "
                + switch (capacity.path("outlook").asString("")) {
                    case "FILLING" ->
                        "about %.10s, at %s a day"
                                .formatted(capacity.path("fullAt").asString(""), rate);
                    case "FULL" -> "now";
                    case "FAR" -> "in more than 10 years, at %s a day".formatted(rate);
                    case "NOT_FILLING" -> "not known: what is free has not become less in the last 4 weeks";
                    default -> "not known: it was looked at on too few days of the last 4 weeks";
                });
    }

    private PrintWriter out() {
        return java.util.Objects.requireNonNull(spec).commandLine().getOut();
    }
}
