package dozo.security;

import dozo.db.LostDatabase;
import dozo.file.Message;
import dozo.people.Permissions;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/** Writes refusals: a problem detail (RFC 9457) for REST, a page for browsers. */
@Component
class Answers {

    private static final String REST = "/api/";

    private static final String HEALTH = "/actuator/health";

    private final JsonMapper json;
    private final Refusals refusals;

    private record Problem(String title, int status, String detail, String instance) {}

    Answers(JsonMapper json, Refusals refusals) {
        this.json = json;
        this.refusals = refusals;
    }

    /** Returns whether a request is one of programs, which log in with each request and get no pages. */
    static boolean isRest(HttpServletRequest request) {
        return isRest(request.getRequestURI());
    }

    static boolean isRest(String uri) {
        return uri.startsWith(REST) || uri.equals(Permissions.METRICS);
    }

    static boolean isHealth(HttpServletRequest request) {
        String path = request.getServletPath();
        return path.equals(HEALTH) || path.startsWith(HEALTH + "/");
    }

    void refuse(HttpServletRequest request, HttpServletResponse response, HttpStatus status, Message detail)
            throws IOException {
        if (status == HttpStatus.FORBIDDEN || status == HttpStatus.TOO_MANY_REQUESTS) {
            refusals.log("request", request);
        }
        send(request, response, status, detail);
    }

    private void send(HttpServletRequest request, HttpServletResponse response, HttpStatus status, Message detail)
            throws IOException {
        response.setHeader("Cache-Control", "no-store");
        if (!isRest(request)) {
            // The error page reads this attribute.
            request.setAttribute(Message.class.getName(), detail);
            response.sendError(status.value());
            return;
        }
        response.setStatus(status.value());
        response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
        response.setCharacterEncoding("UTF-8");
        response.getWriter()
                .write(json.writeValueAsString(new Problem(
                        status.getReasonPhrase(), status.value(), detail.toString(), request.getRequestURI())));
    }

    void refuse(HttpServletRequest request, HttpServletResponse response, NotNow later) throws IOException {
        response.setHeader("Retry-After", String.valueOf(later.retryAfterSeconds()));
        send(request, response, later.status(), later.message());
    }

    /** Refuses a request that needs the database while it does not answer. Pages have their own text for this. */
    void refuseWithoutDatabase(HttpServletRequest request, HttpServletResponse response, Exception failure)
            throws IOException {
        response.setHeader("Retry-After", String.valueOf(LostDatabase.RETRY_AFTER_SECONDS));
        if (isRest(request)) {
            refuse(request, response, HttpStatus.SERVICE_UNAVAILABLE, Message.verbatim(LostDatabase.said(failure)));
        } else {
            response.setHeader("Cache-Control", "no-store");
            response.sendError(HttpStatus.SERVICE_UNAVAILABLE.value());
        }
    }

    /** Does the same for a token that is refused. */
    void refuseToken(HttpServletRequest request, HttpServletResponse response, Message detail) throws IOException {
        refusals.log("token", request);
        demandLogin(request, response, detail);
    }

    /** Refuses a request and says how to log in. Browsers are redirected to the form elsewhere. */
    void demandLogin(HttpServletRequest request, HttpServletResponse response, Message detail) throws IOException {
        response.addHeader("WWW-Authenticate", "Basic realm=\"Dozo\", charset=\"UTF-8\"");
        response.addHeader("WWW-Authenticate", "Bearer realm=\"Dozo\"");
        refuse(request, response, HttpStatus.UNAUTHORIZED, detail);
    }
}
