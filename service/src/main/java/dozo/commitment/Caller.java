package dozo.commitment;

import java.net.InetSocketAddress;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An application entity that may ask, by its title, and where it expects reports. */
record Caller(String title, String host, int port) {

    /** Visible characters only: DICOM also allows spaces in the middle. */
    static final String TITLE = "[!-~&&[^\\\\,=]]{1,16}";

    private static final Pattern FORM =
            Pattern.compile("(" + TITLE + ")=([0-9A-Za-z._-]{1,253}|\\[[0-9A-Fa-f:.]{2,45}]):([0-9]{1,5})");

    /** Returns the caller that is written {@code TITLE=host:port}; otherwise throws an IllegalArgumentException. */
    static Caller parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("expected TITLE=host:port, found %s".formatted(text));
        }
        Caller caller = new Caller(matcher.group(1), matcher.group(2), Integer.parseInt(matcher.group(3)));
        if (caller.port < 1 || caller.port > 65_535) {
            throw new IllegalArgumentException("expected a port from 1 to 65535, found %d".formatted(caller.port));
        }
        return caller;
    }

    InetSocketAddress address() {
        return new InetSocketAddress(host, port);
    }
}
