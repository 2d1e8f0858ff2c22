package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.api.SiteApi.ShownSite;
import dozo.api.SiteKeyApi.ShownHostKey;
import dozo.api.SiteKeyApi.ShownSiteKey;
import dozo.registry.SiteTerms;
import dozo.remote.Way;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;

/** DR sites. */
@Command(
        name = "site",
        mixinStandardHelpOptions = true,
        description = "DR sites: add, change, remove, check, show, key, schedule, timetable, title.")
public final class SiteCommand {

    SiteCommand() {}

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
            return line != null ? line : read("--host-key-file", requireNonNull(file));
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

        SiteTerms.Host terms(CommandLine commandLine) {
            Location.There jump = Location.login(host).orElse(null);
            if (jump == null || jump.user() == null) {
                throw new ParameterException(
                        commandLine, "--jump \"%s\": expected user@host or user@host:port".formatted(host));
            }
            return new SiteTerms.Host(
                    jump.host(),
                    jump.port() == 0 ? 22 : jump.port(),
                    jump.user(),
                    null,
                    read("--jump-host-key-file", file));
        }
    }

    /** The parts of {@code user@host:/root}. */
    private record Place(String user, String host, String root) {

        static Place of(String where, CommandLine commandLine) {
            Matcher parts = WHERE.matcher(where);
            if (!parts.matches()) {
                throw new ParameterException(commandLine, "\"%s\": expected user@host:/root".formatted(where));
            }
            return new Place(parts.group(1), parts.group(2).replaceAll("[\\[\\]]", ""), parts.group(3));
        }
    }

    private static String read(String option, Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new Failure(Exit.USAGE, "%s names %s, which cannot be read".formatted(option, file));
        }
    }

    /** How a site is reached; what is not given stays as it is. */
    public static final class Access {

        @Option(names = "--port", description = "Its SSH port (default: 22).")
        private @Nullable Integer port;

        @Option(
                names = "--identity",
                paramLabel = "FILE",
                description = "The private key's file, on the service's machine (default: the service's own key).")
        private @Nullable Path identity;

        @ArgGroup
        private @Nullable HostKey hostKey;

        @ArgGroup(exclusive = false)
        private @Nullable Jump jump;

        @Option(
                names = "--dscp",
                paramLabel = "MARK",
                description = "The DSCP mark of packets: cs0 to cs7, af11 to af43, ef, le, or 0 to 63.")
        private @Nullable String dscp;

        /**
         * Returns the address for a site that no service knows.
         *
         * @param where {@code user@host:/root}
         */
        public SiteTerms terms(String where, CommandLine commandLine) {
            Place place = Place.of(where, commandLine);
            if (hostKey == null) {
                throw new ParameterException(
                        commandLine, "expected the site's host key: --host-key or --host-key-file");
            }
            return new SiteTerms(
                    new SiteTerms.Host(
                            place.host, port, place.user, identity == null ? null : absolute(identity), hostKey.text()),
                    place.root,
                    jump == null ? null : jump.terms(commandLine),
                    dscp == null ? null : mark(dscp, commandLine));
        }

        /** Adds these fields to an address. */
        void addTo(Map<String, Object> address, @Nullable String where, CommandLine commandLine) {
            if (where != null) {
                Place place = Place.of(where, commandLine);
                address.put("user", place.user);
                address.put("host", place.host);
                address.put("root", place.root);
            }
            if (port != null) {
                address.put("port", port);
            }
            if (identity != null) {
                address.put("identity", absolute(identity));
            }
            if (hostKey != null) {
                address.put("hostKey", hostKey.text());
            }
            if (jump != null) {
                address.put("jump", jump.terms(commandLine));
            }
            if (dscp != null) {
                address.put("dscp", mark(dscp, commandLine));
            }
        }

        private static String absolute(Path file) {
            return file.toAbsolutePath().normalize().toString();
        }

        private static int mark(String dscp, CommandLine commandLine) {
            return Way.dscp(dscp)
                    .orElseThrow(() -> new ParameterException(
                            commandLine,
                            "--dscp \"%s\": expected cs0 to cs7, af11 to af43, ef, le, or 0 to 63".formatted(dscp)));
        }
    }

    @Command(
            name = "add",
            mixinStandardHelpOptions = true,
            description = {
                "Registers a site, or replaces the address of an existing one: without --jump it is reached directly.",
                "Without a host key, prints the key that the host presents, for you to compare."
            })
    int add(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME", description = "Its name in Dozo.") String name,
            @Parameters(paramLabel = "USER@HOST:/ROOT", description = "The site's address.") String where,
            @Mixin Access access) {
        Map<String, Object> address = new HashMap<>();
        access.addTo(address, where, service.commandLine());
        if (access.hostKey == null) {
            throw new Failure(
                    Exit.USAGE,
                    access.jump == null
                            ? compare(service, String.valueOf(address.get("host")), address.get("port"))
                            : "with --jump, give the site's host key, too: --host-key or --host-key-file");
        }
        Answer<ShownSite> site = service.put(address(name), address, ShownSite.class);
        String login = access.identity != null
                ? ""
                : "%nIt logs in with its own key; add this line to the authorized_keys of %s there:%n%s"
                        .formatted(address.get("user"), ownKey(service).value().publicKey());
        service.confirm(
                site, "site %s is registered; check it with `dozo site check %s`".formatted(name, name) + login);
        return Exit.WELL;
    }

    /** Returns what to do if the user has given no host key. */
    private static String compare(Connection service, String host, @Nullable Object port) {
        ShownHostKey presented = service.get(
                        new Query("/api/v1/host-key")
                                .with("host", host)
                                .with("port", port)
                                .toString(),
                        ShownHostKey.class)
                .value();
        return """
               %s presents this host key:
                 %s %s
               Compare it with the one that the site's administrators give you; they get it with `ssh-keygen -l -f /etc/ssh/ssh_host_ed25519_key.pub`.
               If it is the same, give the same command again, with --host-key '%s'""".formatted(
                        Connection.visible(host),
                        Connection.visible(presented.kind()),
                        Connection.visible(presented.fingerprint()),
                        Connection.visible(presented.hostKey()));
    }

    @Command(
            name = "change",
            mixinStandardHelpOptions = true,
            description = {
                "Changes how a site is reached; what you do not give stays as it is. Copies that are there continue to",
                "count: for another, empty place add another site."
            })
    int change(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME", description = "The site's name.") String name,
            @Parameters(arity = "0..1", paramLabel = "USER@HOST:/ROOT", description = "Its new address.") @Nullable
                    String where,
            @Mixin Access access,
            @Option(names = "--no-jump", description = "Reaches it directly, without a jump host.") boolean direct) {
        String resource = address(name);
        JsonNode before = service.send("get", resource, null).sent();
        Map<String, Object> address = Connection.JSON.convertValue(before, new TypeReference<>() {});
        address.keySet()
                .retainAll(Set.of("user", "host", "port", "root", "identity", "hostKey", "dscp", direct ? "" : "jump"));
        access.addTo(address, where, service.commandLine());
        service.confirm(
                service.put(resource, address, ShownSite.class),
                "site %s is changed; check it with `dozo site check %s`".formatted(name, name));
        return Exit.WELL;
    }

    private static Answer<ShownSiteKey> ownKey(Connection service) {
        return service.get("/api/v1/site-key", ShownSiteKey.class);
    }

    @Command(
            name = "check",
            mixinStandardHelpOptions = true,
            description = {
                "Checks whether a site can be used: writes, renames and digests small files there, and removes them.",
                "Reports how digests are computed and how fast, whether files can be sent as archives, whether reads",
                "can be cold, what somebody with a stolen key could do to stored files, and capabilities lost since the",
                "last check."
            })
    int check(
            @Mixin Connection service, @Parameters(paramLabel = "NAME", description = "The site's name.") String name) {
        Answer<JsonNode> answer = service.send("post", address(name) + "/check", Map.of());
        JsonNode found = answer.sent();
        boolean usable = found.path("usable").booleanValue();
        service.print(answer, out -> {
            out.println("site %s %s".formatted(name, usable ? "can be used" : "cannot be used"));
            Phrase.print(
                    out,
                    found,
                    "  exchange {keyExchange}, safe against later decryption: [{safeAgainstLaterDecryption?}yes|no]");
            if (usable) {
                SiteReport.capabilities(out, found);
            }
            Phrase.print(out, found, "  free     {freeBytes size} of {totalBytes size}");
            found.path("findings").forEach(finding -> out.println("  - " + Connection.visible(finding.stringValue())));
        });
        return usable && found.path("findings").isEmpty() ? Exit.WELL : Exit.NOT_SAFE;
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description =
                    "Shows a site's address and host key, its capabilities at the last check and since when, and its capacity.")
    int show(
            @Mixin Connection service, @Parameters(paramLabel = "NAME", description = "The site's name.") String name) {
        Answer<JsonNode> answer = service.send("get", address(name), null);
        JsonNode site = answer.sent();
        JsonNode can = site.path("capabilities");
        service.print(answer, out -> {
            Phrase.print(
                    out,
                    site,
                    "site {name}[ ({title})] at {user}@{host}:{port}:{root}",
                    "  through  {jump.user}@{jump.host}:{jump.port}",
                    "{dscp?}  DSCP     {dscp}");
            site.path("hostKey")
                    .asString()
                    .lines()
                    .forEach(line -> out.println("  host key " + Connection.visible(line)));
            if (can.isObject()) {
                SiteReport.capabilities(out, can);
                Phrase.print(out, can, "  since    {firstSeenAt}, last seen {lastSeenAt}");
            } else {
                Phrase.print(out, site, "  not checked yet; check it with `dozo site check {name}`");
            }
            if (site.path("capacity").isObject()) {
                SiteReport.capacity(out, site.path("capacity"));
            }
        });
        return Exit.WELL;
    }

    private static String address(String name) {
        return "/api/v1/sites/" + Connection.encoded(name);
    }
}
