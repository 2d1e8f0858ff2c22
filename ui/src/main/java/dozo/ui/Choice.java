package dozo.ui;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.springframework.http.ResponseCookie;

/** What a reader chooses by a link that says so, {@code ?lang=ja}, and the browser remembers in a cookie. */
enum Choice {
    LANGUAGE("lang", "dozo-language", List.of("en", "ja")),
    /** {@code auto}: as the system has it. */
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

    /** What was chosen before. */
    Optional<String> of(HttpServletRequest request) {
        return Arrays.stream(Optional.ofNullable(request.getCookies()).orElse(new Cookie[0]))
                .filter(each -> each.getName().equals(cookie))
                .map(Cookie::getValue)
                .filter(values::contains)
                .findFirst();
    }

    /** The cookie that remembers what is asked for now; empty if nothing is, or something that there is not. */
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
