package dozo.source.flywheel;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A user's API key with its server's address: {@code HOST:KEY} or {@code HOST:PORT:KEY}, as Flywheel shows it in a
 * user's profile. The part {@code __force_insecure} requests plain HTTP, which is allowed only on loopback. No message
 * and no text of this class contains the key.
 */
public final class ApiKey {

    private static final String INSECURE = "__force_insecure";
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1");
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?");
    private static final Pattern KEY = Pattern.compile("[\\x21-\\x39\\x3b-\\x7e]{8,512}");
    private static final int FILE_BYTES_MAX = 4_096;
    private static final int PORT_DEFAULT = 443;

    /** Keys of a newer kind have this length and use another authorization scheme; they differ only in length. */
    private static final int BEARER_LENGTH = 57;

    private final URI base;
    private final String secret;

    private ApiKey(URI base, String secret) {
        this.base = base;
        this.secret = secret;
    }

    /**
     * Reads the key from a file that contains nothing else except white space around it.
     *
     * @throws IllegalArgumentException if it is not a key; the message says what is wrong but does not quote the file
     */
    public static ApiKey inFile(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(FILE_BYTES_MAX + 1);
            if (bytes.length > FILE_BYTES_MAX) {
                throw new IllegalArgumentException("the key's file is longer than %d bytes".formatted(FILE_BYTES_MAX));
            }
            return of(new String(bytes, StandardCharsets.ISO_8859_1).strip());
        }
    }

    /**
     * Reads the key from an environment variable.
     *
     * @throws IllegalArgumentException if the variable is missing or is not a key
     */
    public static ApiKey inEnvironment(Map<String, String> environment, String variable) {
        String text = environment.get(variable);
        if (text == null) {
            throw new IllegalArgumentException("environment variable %s is not set".formatted(variable));
        }
        return of(text.strip());
    }

    static ApiKey of(String text) {
        List<String> parts = new ArrayList<>(List.of(text.split(":", -1)));
        boolean insecure = parts.removeIf(INSECURE::equals);
        if (parts.size() != 2 && parts.size() != 3) {
            throw new IllegalArgumentException("a Flywheel key has the form HOST:KEY or HOST:PORT:KEY"
                    + " (for plain HTTP on this machine: localhost:PORT:%s:KEY)".formatted(INSECURE));
        }
        String host = parts.getFirst();
        String secret = parts.getLast();
        if (!HOST.matcher(host).matches()) {
            throw new IllegalArgumentException("the part of the key before the first colon is not a host name");
        }
        if (!KEY.matcher(secret).matches()) {
            throw new IllegalArgumentException(
                    "expected 8 to 512 printable ASCII characters in the last part of the key");
        }
        if (insecure && !LOOPBACK.contains(host)) {
            throw new IllegalArgumentException(
                    "%s is allowed for localhost and 127.0.0.1 only: a key is never sent without TLS over a network"
                            .formatted(INSECURE));
        }
        int port = parts.size() == 3 ? port(parts.get(1)) : PORT_DEFAULT;
        return new ApiKey(URI.create("%s://%s:%d/api".formatted(insecure ? "http" : "https", host, port)), secret);
    }

    private static int port(String text) {
        if (!text.matches("[1-9][0-9]{0,4}") || Integer.parseInt(text) > 65_535) {
            throw new IllegalArgumentException("the part of the key between the colons is not a port");
        }
        return Integer.parseInt(text);
    }

    /** Returns the API's address, without a slash at its end. */
    public URI base() {
        return base;
    }

    /** Returns whether an address has the scheme, the host and the port of this key's server. */
    public boolean isFor(URI address) {
        int usual = "https".equals(address.getScheme()) ? PORT_DEFAULT : 80;
        return base.getScheme().equals(address.getScheme())
                && base.getHost().equalsIgnoreCase(address.getHost())
                && base.getPort() == (address.getPort() < 0 ? usual : address.getPort());
    }

    /**
     * Returns this key for an address of plain HTTP, which is possible only on loopback, where nothing leaves the
     * machine.
     *
     * @return empty if the address is not plain HTTP on loopback, or has another host or port than the key
     */
    public Optional<ApiKey> overPlainHttp(URI address) {
        boolean same = "http".equals(address.getScheme())
                && LOOPBACK.contains(base.getHost())
                && base.getHost().equals(address.getHost())
                && base.getPort() == address.getPort();
        return same
                ? Optional.of(new ApiKey(URI.create(base.toString().replaceFirst("^https?:", "http:")), secret))
                : Optional.empty();
    }

    /** Returns whether this key is used without TLS, on loopback, and the address is plain HTTP there, too. */
    boolean allowsPlainHttp(URI address) {
        return "http".equals(base.getScheme())
                && "http".equals(address.getScheme())
                && LOOPBACK.contains(address.getHost());
    }

    String authorization() {
        return (secret.length() == BEARER_LENGTH ? "Bearer " : "scitran-user ") + secret;
    }

    /** Removes the key from a text, should it occur there. */
    String without(String text) {
        return text.replace(secret, "…");
    }

    @Override
    public String toString() {
        return "a key for " + base;
    }
}
