package dozo.command;

import dozo.api.SiteApi.CheckedSite;
import dozo.api.SiteApi.ShownJump;
import dozo.api.SiteApi.ShownSite;
import dozo.file.Size;
import dozo.registry.Capabilities.Capability;
import dozo.registry.Capacity;
import dozo.remote.Way;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** DR sites. */
@Command(name = "site", mixinStandardHelpOptions = true, description = "DR sites: add, remove, check, show.")
final class SiteCommand {

    private static final Pattern WHERE = Pattern.compile("([^@]+)@(\\[[^]]+]|[^:]+):(/.*)");

    /** The host key, given in one of two ways. */
    static final class HostKey {

        @Option(
                names = "--host-key",
                paramLabel = "LINE",
                description = "The site's public host key: ssh-ed25519 AAAA…")
        private @Nullable String line;

        @Option(
                names = "--host-key-file",
                paramLabel = "FILE",
                description = "A file with the host key, as ssh-keyscan writes it.")
        private @Nullable Path file;

        String text() {
            return line != null ? line : read("--host-key-file", java.util.Objects.requireNonNull(file));
        }
    }

    /** A host in front of the site. */
    static final class Jump {

        @Option(
                names = "--jump",
                required = true,
                paramLabel = "USER@HOST[:PORT]",
                description = "A jump host, as with ssh -J. The same private key is used.")
        private String host = "";

        @Option(
                names = "--jump-host-key-file",
                required = true,
                paramLabel = "FILE",
                description = "A file with its host key, as ssh-keyscan writes it.")
        private Path file = Path.of("");

        Map<String, Object> fields(Connection service) {
            Location.There jump = Location.login(host).orElse(null);
            if (jump == null || jump.user() == null) {
                throw new ParameterException(
                        service.commandLine(), "--jump \"%s\": expected user@host or user@host:port".formatted(host));
            }
            return Map.of(
                    "user", jump.user(),
                    "host", jump.host(),
                    "port", jump.port(),
                    "hostKey", read("--jump-host-key-file", file));
        }
    }

    private static String read(String option, Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new Failure(Exit.USAGE, "%s names %s, which cannot be read".formatted(option, file));
        }
    }

    @Command(
            name = "add",
            mixinStandardHelpOptions = true,
            description =
                    "Registers a site, or replaces the address of an existing one: without --jump it is reached directly.")
    int add(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME", description = "Its name in Dozo.") String name,
            @Parameters(paramLabel = "USER@HOST:/ROOT", description = "The site's address.") String where,
            @Option(names = "--port", defaultValue = "22", description = "Its SSH port (${DEFAULT-VALUE}).") int port,
            @Option(
                            names = "--identity",
                            required = true,
                            paramLabel = "FILE",
                            description = "The private key's file, on the service's machine.")
                    Path identity,
            @ArgGroup(multiplicity = "1") HostKey hostKey,
            @ArgGroup(exclusive = false) @Nullable Jump jump,
            @Option(
                            names = "--dscp",
                            paramLabel = "MARK",
                            description = "The DSCP mark of packets: cs0 to cs7, af11 to af43, ef, le, or 0 to 63.")
                    @Nullable
                    String dscp) {
        Matcher parts = WHERE.matcher(where);
        if (!parts.matches()) {
            throw new ParameterException(service.commandLine(), "\"%s\": expected user@host:/root".formatted(where));
        }
        Map<String, Object> address = new HashMap<>(Map.of(
                "user", parts.group(1),
                "host", parts.group(2).replaceAll("[\\[\\]]", ""),
                "root", parts.group(3),
                "port", port,
                "identity", identity.toAbsolutePath().normalize().toString(),
                "hostKey", hostKey.text()));
        if (jump != null) {
            address.put("jump", jump.fields(service));
        }
        if (dscp != null) {
            address.put(
                    "dscp",
                    Way.dscp(dscp)
                            .orElseThrow(() -> new ParameterException(
                                    service.commandLine(),
                                    "--dscp \"%s\": expected cs0 to cs7, af11 to af43, ef, le, or 0 to 63"
                                            .formatted(dscp))));
        }
        Answer<ShownSite> site = service.put("/api/v1/sites/" + Connection.encoded(name), address, ShownSite.class);
        service.say(site, "site %s is registered; check it with `dozo site check %s`".formatted(name, name));
        return Exit.WELL;
    }

    @Command(
            name = "remove",
            mixinStandardHelpOptions = true,
            description = "Removes a site that no run has used. Nothing is changed at the site itself.")
    int remove(
            @Mixin Connection service, @Parameters(paramLabel = "NAME", description = "The site's name.") String name) {
        service.say(
                service.delete("/api/v1/sites/" + Connection.encoded(name), Void.class),
                "site %s removed".formatted(name));
        return Exit.WELL;
    }

    @Command(
            name = "check",
            mixinStandardHelpOptions = true,
            description = {
                "Checks whether a site can be used: writes, renames and digests small files there, and removes them.",
                "Reports how digests are computed and how fast, whether files can be sent as archives, whether reads",
                "can be cold, and capabilities lost since the last check."
            })
    int check(
            @Mixin Connection service, @Parameters(paramLabel = "NAME", description = "The site's name.") String name) {
        Answer<CheckedSite> answer =
                service.post("/api/v1/sites/%s/check".formatted(Connection.encoded(name)), Map.of(), CheckedSite.class);
        CheckedSite found = answer.value();
        service.print(answer, out -> {
            out.println("site %s %s".formatted(name, found.usable() ? "can be used" : "cannot be used"));
            if (found.usable()) {
                sayCapabilities(
                        out,
                        found.server(),
                        found.digest(),
                        found.digestBytesPerSecond(),
                        found.syncsAtOnce(),
                        found.unpacksTar(),
                        found.cacheTool(),
                        found.namesAreBytes(),
                        found.clockAheadSeconds());
            }
            if (found.freeBytes() != null && found.totalBytes() != null) {
                out.println(
                        "  free     %s of %s".formatted(Size.text(found.freeBytes()), Size.text(found.totalBytes())));
            }
            found.findings().forEach(finding -> out.println("  - " + Connection.visible(finding)));
        });
        return found.usable() && found.findings().isEmpty() ? Exit.WELL : Exit.NOT_SAFE;
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description =
                    "Shows a site's address, its capabilities at the last check and since when, and its capacity.")
    int show(
            @Mixin Connection service, @Parameters(paramLabel = "NAME", description = "The site's name.") String name) {
        Answer<ShownSite> answer = service.get("/api/v1/sites/" + Connection.encoded(name), ShownSite.class);
        ShownSite site = answer.value();
        Capability can = site.capabilities();
        service.print(answer, out -> {
            out.println(Connection.visible(
                    "site %s at %s@%s:%d:%s".formatted(name, site.user(), site.host(), site.port(), site.root())));
            ShownJump jump = site.jump();
            if (jump != null) {
                out.println(Connection.visible("  through  %s@%s:%d".formatted(jump.user(), jump.host(), jump.port())));
            }
            if (site.dscp() > 0) {
                out.println("  DSCP     " + site.dscp());
            }
            if (can != null) {
                sayCapabilities(
                        out,
                        can.server(),
                        can.digest(),
                        can.digestBytesPerSecond(),
                        can.syncsAtOnce(),
                        can.unpacksTar(),
                        can.cacheTool(),
                        can.namesAreBytes(),
                        can.clockAheadSeconds());
                out.println("  since    %s, last seen %s".formatted(can.firstSeenAt(), can.lastSeenAt()));
            } else {
                out.println("  not checked yet; check it with `dozo site check %s`".formatted(name));
            }
            if (site.capacity() != null) {
                sayCapacity(out, site.capacity());
            }
        });
        return Exit.WELL;
    }

    private static void sayCapabilities(
            PrintWriter out,
            String server,
            String digest,
            double digestBytesPerSecond,
            boolean syncsAtOnce,
            boolean unpacksTar,
            @Nullable String cacheTool,
            boolean namesAreBytes,
            @Nullable Long clockAheadSeconds) {
        out.println("  server   " + Connection.visible(server));
        out.println("  digests  "
                + Connection.visible(digest)
                + (digestBytesPerSecond > 0
                        ? ", %s/s from memory".formatted(Size.text((long) digestBytesPerSecond))
                        : ""));
        out.println("  way in   " + (unpacksTar && syncsAtOnce ? "archives into tar, and SFTP" : "SFTP"));
        out.println("  sync     " + (syncsAtOnce ? "by one command" : "file by file"));
        out.println("  reads    " + (cacheTool == null ? "warm" : "cold, by " + Connection.visible(cacheTool)));
        out.println("  names    " + (namesAreBytes ? "any bytes" : "UTF-8 only"));
        if (clockAheadSeconds != null) {
            out.println("  clock    %+d s".formatted(clockAheadSeconds));
        }
    }

    private static void sayCapacity(PrintWriter out, Capacity capacity) {
        out.println("  capacity %d %% full, %s of %s free, seen %s"
                .formatted(
                        capacity.percentFull(),
                        Size.text(capacity.freeBytes()),
                        Size.text(capacity.totalBytes()),
                        capacity.seenAt()));
        String rate = Size.text(capacity.bytesPerDay() == null ? 0 : capacity.bytesPerDay());
        out.println("  full     "
                + switch (capacity.outlook()) {
                    case FILLING -> "about %.10s, at %s a day".formatted(capacity.fullAt(), rate);
                    case FULL -> "now";
                    case FAR -> "in more than 10 years, at %s a day".formatted(rate);
                    case NOT_FILLING -> "unknown: free space has not decreased in the last 4 weeks";
                    case TOO_LITTLE_KNOWN -> "unknown: checked on too few days of the last 4 weeks";
                });
    }
}
