package dozo.api;

import dozo.registry.Capabilities;
import dozo.registry.Capabilities.Capability;
import dozo.registry.Capacities;
import dozo.registry.Capacity;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.SiteAddress;
import dozo.remote.SiteCache;
import dozo.remote.SiteCheck;
import dozo.remote.Space;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** DR sites. */
@RestController
@RequestMapping("/api/v1/sites")
class SiteApi {

    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.:_-]{0,252}");
    private static final Pattern USER = Pattern.compile("[A-Za-z_][A-Za-z0-9._@-]{0,63}");

    /** A public key in a line of its own or of {@code known_hosts}, where names of the host stand before it. */
    private static final Pattern HOST_KEY =
            Pattern.compile("(?:\\S+\\s+)?((?:ssh-|ecdsa-sha2-)[a-z0-9-]+\\s+AAAA[A-Za-z0-9+/=]+)(?:\\s.*)?");

    private static final int ROOT_LENGTH_MAX = 4_096;
    private static final int HOST_KEY_LENGTH_MAX = 65_536;

    private final Sites sites;
    private final Capabilities capabilities;
    private final Capacities capacities;
    private final Editions editions;

    /**
     * Where a site is.
     *
     * @param root the folder there that everything lies in
     * @param identity the file with our private key on the service's machine; the key itself is never sent
     * @param hostKey its public host keys, one a line
     */
    record NewAddress(
            @NotBlank(message = "a host is needed") String host,
            @Nullable Integer port,
            @NotBlank(message = "a user is needed") String user,

            @NotBlank(message = "the root folder at the site is needed")
            String root,

            @NotBlank(message = "the file with the private key is needed")
            String identity,

            @NotBlank(message = "the site's public host key is needed, from a person who knows it")
            String hostKey) {

        SiteAddress checked() {
            demand(HOST.matcher(host).matches(), "host", "a name or an address is accepted");
            demand(USER.matcher(user).matches(), "user", "a login name is accepted");
            int there = port == null ? 22 : port;
            demand(there >= 1 && there <= 65_535, "port", "1 to 65535 is accepted");
            demand(
                    root.startsWith("/")
                            && root.length() <= ROOT_LENGTH_MAX
                            && root.chars().noneMatch(c -> c < ' '),
                    "root",
                    "an absolute path at the site is accepted");
            return new SiteAddress(host, there, user, root, identityFile(), keys());
        }

        private Path identityFile() {
            try {
                Path file = Path.of(identity);
                demand(file.isAbsolute(), "identity", "the absolute path of a private key's file is accepted");
                demand(
                        Files.isRegularFile(file) && Files.isReadable(file),
                        "identity",
                        "there is no file of this name on the service's machine that the service can read");
                return file;
            } catch (InvalidPathException e) {
                throw new Refusal("identity", "the absolute path of a private key's file is accepted");
            }
        }

        private String keys() {
            demand(hostKey.length() <= HOST_KEY_LENGTH_MAX, "hostKey", "at most 64 KiB are accepted");
            List<String> keys = hostKey.lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                    .map(line -> {
                        Matcher key = HOST_KEY.matcher(line);
                        demand(
                                key.matches(),
                                "hostKey",
                                "public keys as ssh-ed25519 AAAA…, one a line, are accepted; ssh-keyscan prints them");
                        return key.group(1);
                    })
                    .distinct()
                    .toList();
            demand(!keys.isEmpty(), "hostKey", "at least one public host key is needed");
            return String.join("\n", keys);
        }

        private static void demand(boolean met, String field, String accepted) {
            if (!met) {
                throw new Refusal(field, accepted);
            }
        }
    }

    /** A site, with what it was last found to be able to do, and its room if it tells; null before anyone has looked. */
    record ShownSite(
            String name,
            String host,
            int port,
            String user,
            String root,
            String identity,
            String hostKey,
            @Nullable Capability capabilities,
            @Nullable Capacity capacity)
            implements Edited {

        static ShownSite of(Site site, Optional<Capability> capabilities, Optional<Capacity> capacity) {
            SiteAddress address = site.address();
            return new ShownSite(
                    site.name(),
                    address.host(),
                    address.port(),
                    address.user(),
                    address.root(),
                    address.identity().toString(),
                    address.hostKey(),
                    capabilities.orElse(null),
                    capacity.orElse(null));
        }
    }

    /**
     * What one look at a site found.
     *
     * @param usable whether all is there that a backup cannot do without
     * @param digest how digests are computed there
     * @param digestBytesPerSecond how fast, from the site's memory
     * @param cacheTool what has the site's memory forget files; null: reads there are warm
     * @param findings what a person should know, also what the site can no more since it was looked at before
     */
    record CheckedSite(
            boolean usable,
            String server,
            boolean rootThere,
            boolean writable,
            boolean renameKeeps,
            boolean namesAreBytes,
            String digest,
            double digestBytesPerSecond,
            boolean syncsAtOnce,
            @Nullable String cacheTool,
            @Nullable Long clockAheadSeconds,
            Set<String> extensions,
            @Nullable Long freeBytes,
            @Nullable Long totalBytes,
            List<String> findings) {

        static CheckedSite of(SiteCheck check, List<String> lost) {
            return new CheckedSite(
                    check.usable(),
                    check.server(),
                    check.rootThere(),
                    check.writable(),
                    check.renameKeeps(),
                    check.namesAreBytes(),
                    check.digest().method(),
                    check.digestBytesPerSecond(),
                    check.syncsAtOnce(),
                    check.cache().map(SiteCache::tool).orElse(null),
                    check.clockAhead().map(Duration::toSeconds).orElse(null),
                    new TreeSet<>(check.extensions()),
                    check.space().map(Space::freeBytes).orElse(null),
                    check.space().map(Space::totalBytes).orElse(null),
                    Stream.concat(check.findings().stream(), lost.stream()).toList());
        }
    }

    SiteApi(Sites sites, Capabilities capabilities, Capacities capacities, Editions editions) {
        this.sites = sites;
        this.capabilities = capabilities;
        this.capacities = capacities;
        this.editions = editions;
    }

    /** All sites. */
    @GetMapping
    Page<ShownSite> list() {
        return new Page<>(sites.all().stream().map(this::shown).toList(), null);
    }

    /** One site, with what it was last found to be able to do, how full it was, and when it will be full. */
    @GetMapping("/{name}")
    ShownSite one(@PathVariable String name) {
        return shown(find(name));
    }

    /** Registers a site, or changes the address of the one of this name. */
    @PutMapping("/{name}")
    ShownSite save(@PathVariable String name, @Valid @RequestBody NewAddress asked, IfMatch seen, Principal actor) {
        SiteAddress address = asked.checked();
        return shown(editions.change(
                seen,
                () -> sites.lock(name),
                () -> sites.find(name).map(this::shown),
                () -> sites.save(name, address, actor.getName())));
    }

    /** Looks at a site over one lane, and keeps what was found. */
    @PostMapping("/{name}/check")
    CheckedSite check(@PathVariable String name, Principal actor) throws RemoteException, InterruptedException {
        Site site = find(name);
        try (Lanes lanes = Lanes.to(site.address(), 1)) {
            SiteCheck check = SiteCheck.of(lanes.next());
            List<String> lost = capabilities.keep(site, check, actor.getName());
            return CheckedSite.of(check, lost);
        }
    }

    private ShownSite shown(Site site) {
        return ShownSite.of(site, capabilities.of(site.id()), capacities.of(site.id()));
    }

    private Site find(String name) {
        return sites.find(name).orElseThrow(Missing.thing("site", name));
    }
}
