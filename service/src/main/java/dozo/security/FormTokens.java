package dozo.security;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.security.web.csrf.CsrfTokenRepository;
import org.springframework.security.web.csrf.HttpSessionCsrfTokenRepository;

/**
 * Tokens against forged forms: in the session, or in a cookie while there is none. So who has not logged in takes no
 * memory here.
 */
final class FormTokens implements CsrfTokenRepository {

    private final CsrfTokenRepository inSession = new HttpSessionCsrfTokenRepository();
    private final CookieCsrfTokenRepository inCookie = new CookieCsrfTokenRepository();

    /** @param tls whether browsers reach the service only over TLS */
    FormTokens(boolean tls) {
        inCookie.setCookieName(tls ? "__Host-dozo-form" : "dozo-form");
        inCookie.setCookieCustomizer(cookie -> cookie.secure(tls).sameSite("Lax"));
    }

    private CsrfTokenRepository of(HttpServletRequest request) {
        return request.getSession(false) == null ? inCookie : inSession;
    }

    @Override
    public CsrfToken generateToken(HttpServletRequest request) {
        return of(request).generateToken(request);
    }

    @Override
    public void saveToken(@Nullable CsrfToken token, HttpServletRequest request, HttpServletResponse response) {
        of(request).saveToken(token, request, response);
    }

    @Override
    public @Nullable CsrfToken loadToken(HttpServletRequest request) {
        return of(request).loadToken(request);
    }
}
