package dozo.source.delivery;

import dozo.file.Malformed;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The address of a web server and our login there. A password is sent only over TLS or loopback. No text of this class
 * contains the password.
 */
public final class Server {

    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");
    private static final Pattern LOGIN = Pattern.compile("[\\x21-\\x39\\x3b-\\x7e]{1,128}:[\\x20-\\x7e]{1,512}");
    private static final int FILE_BYTES_MAX = 4_096;

    private final URI base;
    private final @Nullable String authorization;

    private Server(URI base, @Nullable String authorization) {
        this.base = base;
        this.authorization = authorization;
    }

    /**
     * Returns a server without authentication.
     *
     * @throws Malformed if the address is not valid; the message says what was expected
     */
    public static Server at(String address) {
        return new Server(base(address), null);
    }

    /**
     * Returns a server that requires a name and a password.
     *
     * @param login the file that contains them as {@code NAME:PASSWORD}; white space around them is ignored
     * @throws Malformed if the address or the file's content is not valid; the message does not quote the file
     */
    public static Server at(String address, Path login) throws IOException {
        URI base = base(address);
        if (!base.getScheme().equals("https") && !LOOPBACK.contains(base.getHost())) {
            throw new Malformed("a password is only sent to https addresses, or to this machine");
        }
        try (InputStream in = Files.newInputStream(login)) {
            String text = new String(in.readNBytes(FILE_BYTES_MAX), StandardCharsets.ISO_8859_1).strip();
            if (!LOGIN.matcher(text).matches()) {
                throw new Malformed("expected a login file with one line NAME:PASSWORD in ASCII");
            }
            byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
            return new Server(base, "Basic " + Base64.getEncoder().encodeToString(bytes));
        }
    }

    private static URI base(String address) {
        URI uri;
        try {
            uri = URI.create(address.endsWith("/") ? address.substring(0, address.length() - 1) : address);
        } catch (IllegalArgumentException e) {
            throw notAnAddress();
        }
        boolean web = "https".equals(uri.getScheme()) || "http".equals(uri.getScheme());
        boolean more = uri.getRawUserInfo() != null || uri.getRawQuery() != null || uri.getRawFragment() != null;
        if (!web || uri.getHost() == null || more) {
            throw notAnAddress();
        }
        return uri;
    }

    public URI base() {
        return base;
    }

    /** Returns the value of the header {@code Authorization}; null for a server without authentication. */
    public @Nullable String authorization() {
        return authorization;
    }

    @Override
    public String toString() {
        return "the server at " + base;
    }

    private static Malformed notAnAddress() {
        return new Malformed("expected an address such as http(s)://HOST[:PORT][/PATH]");
    }
}
