package dozo.security;

import dozo.people.Permissions;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.server.PathContainer;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.web.authentication.LoginUrlAuthenticationEntryPoint;
import org.springframework.security.web.savedrequest.CookieRequestCache;
import org.springframework.security.web.savedrequest.RequestCache;
import org.springframework.stereotype.Component;
import org.springframework.web.util.pattern.PathPatternParser;

/** The way to the login form, and after login to what the person wanted. */
@Component
class LoginForm extends LoginUrlAuthenticationEntryPoint {

    static final String PATH = "/login";

    /** Says that a session has ended. */
    private static final String ENDED = PATH + "?ended";

    /** Sent by htmx with requests for parts of a page. */
    private static final String PART = "HX-Request";

    /** Browsers keep no cookie above 4 KiB, and a larger one would not fit into the headers. */
    private static final int WANTED_CHARACTERS_MAX = 2_000;

    /** In a cookie, because who has not logged in has no session. */
    private final CookieRequestCache wanted = new CookieRequestCache() {
        // Forgets the page. The request itself is answered: a remembered one has no headers, so no language.
        @Override
        public @Nullable HttpServletRequest getMatchingRequest(
                HttpServletRequest request, HttpServletResponse response) {
            var _ = super.getMatchingRequest(request, response);
            return null;
        }
    };

    LoginForm() {
        super(PATH);
        wanted.setRequestMatcher(LoginForm::isNavigation);
    }

    /** Returns where requests are remembered until their user has logged in. */
    RequestCache wanted() {
        return wanted;
    }

    /** Returns whether the browser still has the cookie of a session that has ended, for example by a restart. */
    static boolean hasEndedSession(HttpServletRequest request) {
        return request.getRequestedSessionId() != null && !request.isRequestedSessionIdValid();
    }

    /** Parts of a page and streams of events are no place to return to. */
    private static boolean isNavigation(HttpServletRequest request) {
        String accepted = request.getHeader(HttpHeaders.ACCEPT);
        String query = request.getQueryString();
        boolean isNavigation = HttpMethod.GET.matches(request.getMethod())
                && request.getRequestURI().length() + (query == null ? 0 : query.length()) <= WANTED_CHARACTERS_MAX
                && request.getHeader(PART) == null
                && accepted != null
                && accepted.contains(MediaType.TEXT_HTML_VALUE);
        if (isNavigation) {
            // Nobody returns to an address that cannot be read: this throws, and the response is 400.
            var _ = request.getParameterMap();
        }
        return isNavigation;
    }

    @Override
    public void commence(HttpServletRequest request, HttpServletResponse response, AuthenticationException failure)
            throws IOException, ServletException {
        if (request.getHeader(PART) == null) {
            super.commence(request, response, failure);
        } else {
            reload(response);
        }
    }

    /** Makes htmx load the whole page again, which leads to the login form. */
    private static void reload(HttpServletResponse response) {
        response.setHeader("HX-Refresh", "true");
        response.setStatus(HttpStatus.UNAUTHORIZED.value());
    }

    @Override
    protected String determineUrlToUseForThisRequest(
            HttpServletRequest request, HttpServletResponse response, AuthenticationException failure) {
        return hasEndedSession(request) ? ENDED : PATH;
    }

    /**
     * Ends the session, and redirects to the login form. After login the browser gets the requested page again; for a
     * form that was sent, the page at the same address, so that nothing is done twice or by somebody else.
     */
    void again(HttpServletRequest request, HttpServletResponse response) throws IOException {
        HttpSession session = request.getSession(false);
        if (session != null) {
            session.invalidate();
        }
        if (request.getHeader(PART) != null) {
            reload(response);
            return;
        }
        if (isPage(request.getRequestURI())) {
            wanted.saveRequest(new PageOf(request), response);
        }
        response.sendRedirect(ENDED);
    }

    /** The request for the page at the address of a form. Without the form's fields, which may be passwords. */
    private static final class PageOf extends HttpServletRequestWrapper {

        PageOf(HttpServletRequest form) {
            super(form);
        }

        @Override
        public String getMethod() {
            return HttpMethod.GET.name();
        }

        @Override
        public Map<String, String[]> getParameterMap() {
            return Map.of();
        }
    }

    private static boolean isPage(String path) {
        PathContainer parsed = PathContainer.parsePath(path);
        return Permissions.endpoints().stream()
                .filter(endpoint -> endpoint.method().equals(HttpMethod.GET.name()))
                .anyMatch(endpoint ->
                        PathPatternParser.defaultInstance.parse(endpoint.path()).matches(parsed));
    }
}
