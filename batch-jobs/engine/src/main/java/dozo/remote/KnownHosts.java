package dozo.remote;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.sshd.client.config.hosts.KnownHostEntry;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;

/**
 * The host keys in OpenSSH's known_hosts files: plain, hashed and with wildcards. Invalid lines and certificate
 * authorities are ignored.
 */
public final class KnownHosts {

    private static final int PORT_USUAL = 22;

    private final List<KnownHostEntry> entries;

    private KnownHosts(List<KnownHostEntry> entries) {
        this.entries = entries;
    }

    /** Reads these files; a missing one is ignored. */
    public static KnownHosts in(List<Path> files) throws IOException {
        List<KnownHostEntry> entries = new ArrayList<>();
        for (Path file : files) {
            // NB: comments may be in any encoding; all other text is ASCII.
            try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
                lines.map(KnownHosts::entry).flatMap(Optional::stream).forEach(entries::add);
            } catch (NoSuchFileException nothingSaid) {
                // Ignored, as in OpenSSH.
            } catch (UncheckedIOException e) {
                throw Objects.requireNonNull(e.getCause());
            }
        }
        return new KnownHosts(entries);
    }

    /**
     * Returns the keys of a host, one per line, in the form that {@link SiteAddress} expects; empty if the host is
     * unknown, or all its keys are revoked. As in OpenSSH, an entry without a port applies to every port that has no
     * entry of its own.
     */
    public String keysOf(String host, int port) {
        String name = host.toLowerCase(Locale.ROOT);
        List<PublicKey> keys = keys(name, port, "");
        if (keys.isEmpty() && port != PORT_USUAL) {
            keys = keys(name, PORT_USUAL, "");
        }
        List<PublicKey> revoked = Stream.of(port, PORT_USUAL)
                .flatMap(each -> keys(name, each, "revoked").stream())
                .toList();
        return keys.stream()
                .filter(key -> revoked.stream().noneMatch(bad -> KeyUtils.compareKeys(bad, key)))
                .map(PublicKeyEntry::toString)
                .distinct()
                .collect(Collectors.joining("\n"));
    }

    private List<PublicKey> keys(String host, int port, String marker) {
        return entries.stream()
                .filter(entry -> marker.equals(Objects.requireNonNullElse(entry.getMarker(), ""))
                        && entry.isHostMatch(host, port))
                .map(KnownHosts::key)
                .flatMap(Optional::stream)
                .toList();
    }

    private static Optional<KnownHostEntry> entry(String line) {
        String text = line.strip();
        if (text.isEmpty() || text.startsWith("#")) {
            return Optional.empty();
        }
        try {
            return Optional.ofNullable(KnownHostEntry.parseKnownHostEntry(text));
        } catch (RuntimeException notUnderstood) {
            return Optional.empty();
        }
    }

    private static Optional<PublicKey> key(KnownHostEntry entry) {
        try {
            return Optional.ofNullable(entry.getKeyEntry().resolvePublicKey(null, null, null));
        } catch (IOException | GeneralSecurityException | RuntimeException otherKind) {
            return Optional.empty();
        }
    }
}
