package dozo.remote;

import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The address of a DR site, the login there, and its host key.
 *
 * @param port 1 to 65535
 * @param root the absolute path, as text, of Dozo's folder at the site
 * @param identity a file with the private key, unencrypted, in OpenSSH or PEM form; it may be missing if the way has an agent, or
 *     passwords that can be asked for
 * @param hostKey one or more OpenSSH public key lines ({@code ssh-ed25519 AAAA…}); a host with any other key is refused
 */
public record SiteAddress(String host, int port, String user, String root, Path identity, String hostKey, Way way) {

    public SiteAddress {
        if (host.isBlank() || user.isBlank()) {
            throw new IllegalArgumentException("a site needs a host and a user");
        }
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("port must be 1 to 65535: " + port);
        }
        if (!root.startsWith("/") || root.chars().anyMatch(c -> c < ' ')) {
            throw new IllegalArgumentException("root must be an absolute path without control characters");
        }
        if (hostKeyLines(hostKey).isEmpty()) {
            throw new IllegalArgumentException("a site needs a pinned host key");
        }
    }

    /** An address that is reached directly. */
    public SiteAddress(String host, int port, String user, String root, Path identity, String hostKey) {
        this(host, port, user, root, identity, hostKey, Way.DIRECT);
    }

    /** Returns the same login with another root. */
    public SiteAddress withRoot(String other) {
        return new SiteAddress(host, port, user, other, identity, hostKey, way);
    }

    /** Returns the same site, reached in this way. */
    public SiteAddress by(Way other) {
        return new SiteAddress(host, port, user, root, identity, hostKey, other);
    }

    /** Returns the same site behind this jump host. */
    public SiteAddress behind(SiteAddress jump) {
        return by(new Way(Optional.of(jump), way.dscp(), way.agent(), way.passwords()));
    }

    /**
     * Returns the same login with a folder below this root as its root.
     *
     * @throws IllegalArgumentException if the folder's name is not UTF-8
     */
    public SiteAddress below(FilePath folder) {
        if (!folder.isUtf8()) {
            throw new IllegalArgumentException("root must be UTF-8: " + folder);
        }
        String path = new String(rootPrefix(), StandardCharsets.UTF_8)
                + "/"
                + new String(folder.bytes(), StandardCharsets.UTF_8);
        return withRoot(path);
    }

    List<String> hostKeyLines() {
        return hostKeyLines(hostKey);
    }

    /** Returns the root's bytes without a trailing slash, so that {@code '/'} and a path can follow. */
    byte[] rootPrefix() {
        int end = root.length();
        while (end > 0 && root.charAt(end - 1) == '/') {
            end--;
        }
        return root.substring(0, end).getBytes(StandardCharsets.UTF_8);
    }

    static List<String> hostKeyLines(String hostKey) {
        return hostKey.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .toList();
    }

    /** Returns {@code user@host:port}, for messages. */
    @Override
    public String toString() {
        return user + "@" + host + ":" + port;
    }
}
