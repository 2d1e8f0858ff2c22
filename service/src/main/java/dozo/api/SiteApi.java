package dozo.api;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import dozo.api.http.Edited;
import dozo.api.http.Editions;
import dozo.api.http.IfMatch;
import dozo.api.http.Missing;
import dozo.api.http.Page;
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
import dozo.remote.Way;
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
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** DR sites. */
@RestController
@RequestMapping("/api/v1/sites")
public class SiteApi {

    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.:_-]{0,252}");
    private static final Pattern USER = Pattern.compile("[A-Za-z_][A-Za-z0-9._@-]{0,63}");

    /** A public key on its own line, or a {@code known_hosts} line, which begins with names of the host. */
    private static final Pattern HOST_KEY =
            Pattern.compile("(?:\\S+\\s+)?((?:ssh-|ecdsa-sha2-)[a-z0-9-]+\\s+AAAA[A-Za-z0-9+/=]+)(?:\\s.*)?");

    private static final int ROOT_LENGTH_MAX = 4_096;
    private static final int HOST_KEY_LENGTH_MAX = 65_536;

    private final Sites sites;
    private final Capabilities capabilities;
    private final Capacities capacities;
    private final Editions editions;

    /**
     * The address of a site.
     *
     * @param port default 22
     * @param root the absolute path of Dozo's folder at the site
     * @param identity the file with the private key, on the service's machine; the key itself is never sent
     * @param hostKey the site's public host keys, one a line
     * @param jump a jump host in front of the site; missing: none
     * @param dscp the DSCP mark of packets, 0 to 63; missing: none
     */
    record NewAddress(
            @NotBlank(message = "expected a host") String host,
            @Nullable Integer port,
            @NotBlank(message = "expected a user") String user,

            @NotBlank(message = "expected the root folder at the site")
            String root,

            @NotBlank(message = "expected the private key's file")
            String identity,

            @NotBlank(message = "expected the site's public host key, obtained from a trusted person")
            String hostKey,

            @Nullable @Valid NewJump jump,
            @Nullable Integer dscp) {

        SiteAddress checked() {
            demand(dscp == null || (dscp >= 0 && dscp <= Way.DSCP_MAX), "dscp", "expected 0 to 63");
            SiteAddress site = new NewHost("", host, port, user, root, identity, hostKey).checked();
            Optional<SiteAddress> before = Optional.ofNullable(jump)
                    .map(each -> new NewHost(
                                    "jump.",
                                    each.host,
                                    each.port,
                                    each.user,
                                    "/",
                                    each.identity == null ? identity : each.identity,
                                    each.hostKey)
                            .checked());
            return site.by(new Way(before, dscp == null ? 0 : dscp));
        }
    }

    /**
     * A jump host.
     *
     * @param port default 22
     * @param identity the file with the private key for it, on the service's machine; default: that of the site
     * @param hostKey its public host keys, one a line
     */
    record NewJump(
            @NotBlank(message = "expected a host") String host,
            @Nullable Integer port,
            @NotBlank(message = "expected a user") String user,
            @Nullable String identity,

            @NotBlank(message = "expected the jump host's public host key, obtained from a trusted person")
            String hostKey) {}

    /** A host to log in to. The request's fields for it begin with {@code at}. */
    private record NewHost(
            String at, String host, @Nullable Integer port, String user, String root, String identity, String hostKey) {

        SiteAddress checked() {
            demand(HOST.matcher(host).matches(), at + "host", "expected a host name or an address");
            demand(USER.matcher(user).matches(), at + "user", "expected a login name");
            int there = port == null ? 22 : port;
            demand(there >= 1 && there <= 65_535, at + "port", "expected 1 to 65535");
            demand(
                    root.startsWith("/")
                            && root.length() <= ROOT_LENGTH_MAX
                            && root.chars().noneMatch(c -> c < ' '),
                    at + "root",
                    "expected an absolute path at the site");
            return new SiteAddress(host, there, user, root, identityFile(), keys());
        }

        private Path identityFile() {
            try {
                Path file = Path.of(identity);
                demand(file.isAbsolute(), at + "identity", "expected the absolute path of a private key's file");
                demand(
                        Files.isRegularFile(file) && Files.isReadable(file),
                        at + "identity",
                        "the service cannot read a file of this name on its machine");
                return file;
            } catch (InvalidPathException e) {
                throw new Refusal(at + "identity", "expected the absolute path of a private key's file");
            }
        }

        private String keys() {
            demand(hostKey.length() <= HOST_KEY_LENGTH_MAX, at + "hostKey", "expected at most 64 KiB");
            List<String> keys = hostKey.lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                    .map(line -> {
                        Matcher key = HOST_KEY.matcher(line);
                        demand(
                                key.matches(),
                                at + "hostKey",
                                "expected public keys such as ssh-ed25519 AAAA…, one on each line; ssh-keyscan prints them");
                        return key.group(1);
                    })
                    .distinct()
                    .toList();
            demand(!keys.isEmpty(), at + "hostKey", "expected at least one public host key");
            return String.join("\n", keys);
        }
    }

    /**
     * A site.
     *
     * @param capabilities missing: not checked yet
     * @param capacity missing: the site does not report its free space
     */
    public record ShownSite(
            String name,
            String host,
            int port,
            String user,
            String root,
            String identity,
            String hostKey,
            @Nullable ShownJump jump,
            int dscp,
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
                    address.way().jump().map(ShownJump::of).orElse(null),
                    address.way().dscp(),
                    capabilities.orElse(null),
                    capacity.orElse(null));
        }
    }

    /** A jump host. */
    public record ShownJump(String host, int port, String user, String identity, String hostKey) {

        static ShownJump of(SiteAddress jump) {
            return new ShownJump(
                    jump.host(), jump.port(), jump.user(), jump.identity().toString(), jump.hostKey());
        }
    }

    /**
     * The result of a check of a site.
     *
     * @param usable whether the site meets all requirements of a backup
     * @param digest how digests are computed there
     * @param digestBytesPerSecond how fast, from the site's memory
     * @param unpacksTar whether files can be sent as archives
     * @param cacheTool the tool that drops files from the site's cache; missing: reads are warm
     * @param clockAheadSeconds how far the site's clock is ahead
     * @param findings problems, including capabilities lost since the last check
     */
    public record CheckedSite(
            boolean usable,
            String server,
            boolean rootThere,
            boolean writable,
            boolean renameKeeps,
            boolean namesAreBytes,
            String digest,
            double digestBytesPerSecond,
            boolean syncsAtOnce,
            boolean unpacksTar,
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
                    check.unpacksTar(),
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

    /** Lists all sites. */
    @GetMapping
    Page<ShownSite> list() {
        return new Page<>(sites.all().stream().map(this::shown).toList(), null);
    }

    /** Shows one site, with its capabilities at the last check and its capacity. */
    @GetMapping("/{name}")
    ShownSite one(@PathVariable String name) {
        return shown(find(name));
    }

    /** Registers a site, or replaces the address of an existing one. */
    @PutMapping("/{name}")
    ShownSite save(@PathVariable String name, @Valid @RequestBody NewAddress asked, IfMatch seen, Principal actor) {
        SiteAddress address = asked.checked();
        return shown(editions.change(
                seen,
                () -> sites.lock(name),
                () -> sites.find(name).map(this::shown),
                () -> sites.save(name, address, actor.getName())));
    }

    /** Removes a site that no run has used. 409: a run has used it. */
    @DeleteMapping("/{name}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void remove(@PathVariable String name, Principal actor) {
        if (!sites.remove(name, actor.getName())) {
            throw Missing.thing("site", name).get();
        }
    }

    /**
     * Checks a site now, and stores its capabilities if it is usable. 502: it cannot be reached; {@code reason} says why.
     */
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

    @FormatMethod
    private static void demand(boolean met, String field, @FormatString String expected, Object... values) {
        if (!met) {
            throw new Refusal(field, expected, values);
        }
    }
}
