package dozo.security;

import jakarta.servlet.http.HttpServletResponse;
import java.util.Map;

/**
 * The security headers of every response, whatever writes it. Spring Security also sends HSTS if a request came over
 * TLS.
 */
final class Headers {

    static final String CONTENT_POLICY =
            "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

    static final String NO_PERMISSIONS = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";

    private static final Map<String, String> ALWAYS = Map.of(
            "Content-Security-Policy", CONTENT_POLICY,
            "Permissions-Policy", NO_PERMISSIONS,
            "Referrer-Policy", "no-referrer",
            "Cross-Origin-Opener-Policy", "same-origin",
            "X-Content-Type-Options", "nosniff",
            "X-Frame-Options", "DENY",
            "Cache-Control", "no-store");

    private Headers() {}

    /** Adds the headers to a response that has not passed through Spring Security, or not yet. */
    static void say(HttpServletResponse response) {
        ALWAYS.forEach((name, value) -> {
            if (!response.containsHeader(name)) {
                response.setHeader(name, value);
            }
        });
    }
}
