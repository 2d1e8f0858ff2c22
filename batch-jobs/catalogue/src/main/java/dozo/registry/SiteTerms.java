package dozo.registry;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import dozo.remote.SiteAddress;
import dozo.remote.Way;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A site's address as people enter it.
 *
 * @param root the absolute path of Dozo's folder at the site
 * @param jump a jump host in front of the site; null: none
 * @param dscp the DSCP mark of packets, 0 to 63; null: none
 */
public record SiteTerms(
        Host site,
        String root,
        @Nullable Host jump,
        @Nullable Integer dscp) {

    /** SSH's port. */
    public static final int PORT_USUAL = 22;

    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.:_-]{0,252}");
    private static final Pattern USER = Pattern.compile("[A-Za-z_][A-Za-z0-9._@-]{0,63}");

    /** A public key on its own line, or a {@code known_hosts} line, which begins with names of the host. */
    private static final Pattern HOST_KEY =
            Pattern.compile("(?:\\S+\\s+)?((?:ssh-|ecdsa-sha2-)[a-z0-9-]+\\s+AAAA[A-Za-z0-9+/=]+)(?:\\s.*)?");

    private static final int ROOT_LENGTH_MAX = 4_096;
    private static final int HOST_KEY_LENGTH_MAX = 65_536;

    /**
     * A host to log in to.
     *
     * @param port null: 22
     * @param identity the file with the private key, on the service's machine; null or empty: for a site the
     *     {@linkplain SiteKey service's own key}, for a jump host that of the site
     * @param hostKey its public host keys, one a line
     */
    public record Host(
            String host,
            @Nullable Integer port,
            String user,
            @Nullable String identity,
            String hostKey) {}

    /**
     * Returns the address.
     *
     * @param own the service's own key, which is asked for only if the site has no other
     * @throws Refusal if something is not as expected; fields of the jump host begin with {@code jump.}
     */
    public SiteAddress address(SiteKey own) {
        demand(dscp == null || (dscp >= 0 && dscp <= Way.DSCP_MAX), "dscp", "expected 0 to 63");
        SiteAddress address = address(site, "", root, own::created);
        return address.by(new Way(
                Optional.ofNullable(jump).map(host -> address(host, "jump.", "/", address::identity)),
                dscp == null ? 0 : dscp));
    }

    /** @param at what the names of the host's fields begin with */
    private static SiteAddress address(Host host, String at, String root, Supplier<Path> otherwise) {
        demand(isHost(host.host), at + "host", "expected a host name or an address");
        demand(USER.matcher(host.user).matches(), at + "user", "expected a login name");
        int port = host.port == null ? PORT_USUAL : host.port;
        demand(isPort(port), at + "port", "expected 1 to 65535");
        demand(
                root.startsWith("/")
                        && root.length() <= ROOT_LENGTH_MAX
                        && root.chars().noneMatch(c -> c < ' '),
                at + "root",
                "expected an absolute path at the site");
        String identity = host.identity;
        Path key = identity == null || identity.isEmpty() ? otherwise.get() : identityFile(identity, at + "identity");
        return new SiteAddress(host.host, port, host.user, root, key, keys(host.hostKey, at + "hostKey"));
    }

    private static String keys(String lines, String field) {
        demand(lines.length() <= HOST_KEY_LENGTH_MAX, field, "expected at most 64 KiB");
        List<String> keys = lines.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .map(line -> key(line, field))
                .distinct()
                .toList();
        demand(!keys.isEmpty(), field, "expected at least one public host key");
        return String.join("\n", keys);
    }

    private static String key(String line, String field) {
        Matcher key = HOST_KEY.matcher(line);
        demand(
                key.matches(),
                field,
                "expected public keys such as ssh-ed25519 AAAA…, one on each line; ssh-keyscan prints them");
        return key.group(1);
    }

    /** Returns whether the text has the form of a host's name or address. */
    public static boolean isHost(String text) {
        return HOST.matcher(text).matches();
    }

    /** Returns whether a TCP port can have this number. */
    public static boolean isPort(int number) {
        return number >= 1 && number <= 65_535;
    }

    private static Path identityFile(String identity, String field) {
        try {
            Path file = Path.of(identity);
            demand(file.isAbsolute(), field, "expected the absolute path of a private key's file");
            demand(
                    Files.isRegularFile(file) && Files.isReadable(file),
                    field,
                    "the service cannot read a file of this name on its machine");
            return file;
        } catch (InvalidPathException e) {
            throw new Refusal(field, "expected the absolute path of a private key's file");
        }
    }

    @FormatMethod
    private static void demand(boolean met, String field, @FormatString String expected, Object... values) {
        if (!met) {
            throw new Refusal(field, expected, values);
        }
    }
}
