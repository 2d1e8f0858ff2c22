package dozo.security;

import dozo.db.LostDatabase;
import dozo.file.Message;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/** What the doors say: a problem detail (RFC 9457) to who asks REST, a page to a browser. */
@Component
class Answers {

    static final String REST = "/api/";

    private static final String HEALTH = "/actuator/health";

    private final JsonMapper json;

    private record Problem(String title, int status, String detail, String instance) {}

    Answers(JsonMapper json) {
        this.json = json;
    }

    static boolean isRest(HttpServletRequest request) {
        return request.getRequestURI().startsWith(REST);
    }

    static boolean isHealth(HttpServletRequest request) {
        String path = request.getServletPath();
        return path.equals(HEALTH) || path.startsWith(HEALTH + "/");
    }

    void refuse(HttpServletRequest request, HttpServletResponse response, HttpStatus status, Message detail)
            throws IOException {
        response.setHeader("Cache-Control", "no-store");
        if (!isRest(request)) {
            // For the page of errors.
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
        refuse(request, response, later.status(), later.message());
    }

    /** For whoever needs the database while it does not answer; pages have words of their own for it. */
    void refuseWithoutDatabase(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setHeader("Retry-After", String.valueOf(LostDatabase.RETRY_AFTER_SECONDS));
        if (isRest(request)) {
            refuse(request, response, HttpStatus.SERVICE_UNAVAILABLE, Message.verbatim(LostDatabase.SAID));
        } else {
            response.setHeader("Cache-Control", "no-store");
            response.sendError(HttpStatus.SERVICE_UNAVAILABLE.value());
        }
    }

    /** Says how to log in; browsers are sent to the form elsewhere. */
    void demandLogin(HttpServletRequest request, HttpServletResponse response, Message detail) throws IOException {
        response.addHeader("WWW-Authenticate", "Basic realm=\"Dozo\", charset=\"UTF-8\"");
        response.addHeader("WWW-Authenticate", "Bearer realm=\"Dozo\"");
        refuse(request, response, HttpStatus.UNAUTHORIZED, detail);
    }
}
