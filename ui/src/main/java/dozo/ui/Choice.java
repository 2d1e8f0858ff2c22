package dozo.ui;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.springframework.http.ResponseCookie;

/** A reader's choice, made by a link such as {@code ?lang=ja} and stored in a cookie. */
enum Choice {
    LANGUAGE("lang", "dozo-language", List.of("en", "ja")),
    /** {@code auto}: the system's setting. */
    THEME("theme", "dozo-theme", List.of("auto", "light", "dark"));

    private static final Duration AGE = Duration.ofDays(365);

    final String parameter;
    private final String cookie;

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> values;

    Choice(String parameter, String cookie, List<String> values) {
        this.parameter = parameter;
        this.cookie = cookie;
        this.values = values;
    }

    /** Returns the stored choice. */
    Optional<String> of(HttpServletRequest request) {
        return Arrays.stream(Optional.ofNullable(request.getCookies()).orElse(new Cookie[0]))
                .filter(each -> each.getName().equals(cookie))
                .map(Cookie::getValue)
                .filter(values::contains)
                .findFirst();
    }

    /** Returns a cookie with the choice in this request; empty if the request has none or an unknown one. */
    Optional<ResponseCookie> asked(HttpServletRequest request) {
        return Optional.ofNullable(request.getParameter(parameter))
                .filter(values::contains)
                .map(value -> ResponseCookie.from(cookie, value)
                        .path("/")
                        .maxAge(AGE)
                        .httpOnly(true)
                        .secure(request.isSecure())
                        .sameSite("Lax")
                        .build());
    }
}
