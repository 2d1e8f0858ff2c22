package dozo.web;

import jakarta.servlet.ServletRequest;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The path below which a proxy shows the service, such as {@code /dozo}. Requests arrive without it, and nothing inside
 * the service knows it: links, redirects and {@code Location} headers get it when they leave.
 */
public final class Prefix {

    /** The header by which a proxy says it. */
    public static final String HEADER = "X-Forwarded-Prefix";

    /** No empty part and no dots alone, so that it leads to no other host and to no other path. */
    private static final Pattern VALID = Pattern.compile("(/[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,63}){1,8}");

    private static final String ATTRIBUTE = Prefix.class.getName();

    private Prefix() {}

    /** Keeps what a trusted proxy says with a request. Anything but a path is ignored. */
    public static void keep(ServletRequest request, @Nullable String said) {
        String path = said == null ? "" : said.strip().replaceFirst("/$", "");
        if (VALID.matcher(path).matches()) {
            request.setAttribute(ATTRIBUTE, path);
        }
    }

    /** Returns the prefix of a request; empty: none. */
    public static String of(ServletRequest request) {
        return request.getAttribute(ATTRIBUTE) instanceof String prefix ? prefix : "";
    }

    /** Returns an address as browsers must see it: a path of this service gets the prefix, anything else stays. */
    public static String before(String address, ServletRequest request) {
        return address.startsWith("/") && !address.startsWith("//") ? of(request) + address : address;
    }
}
