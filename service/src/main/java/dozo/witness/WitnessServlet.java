package dozo.witness;

import dozo.certificate.TrustedLogs;
import dozo.certificate.TrustedLogs.Answer;
import dozo.db.ActiveService;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The addresses of a witness, without a login: {@code POST /witness/add-checkpoint} and {@code GET /witness/HASH/checkpoint}. An
 * address has at most {@value #MINUTE_MAX} requests a minute, a body at most {@value TrustedLogs#REQUEST_BYTES_MAX} bytes.
 */
final class WitnessServlet extends HttpServlet {

    static final int MINUTE_MAX = 120;

    private static final long serialVersionUID = 1L;
    private static final int ADDRESSES_MAX = 10_000;

    private final transient TrustedLogs logs;
    private final transient ActiveService active;
    private final transient InstantSource clock;
    private final transient Map<String, Integer> requests = new HashMap<>();
    private transient Instant minute = Instant.EPOCH;

    /** Registers it. */
    @Configuration
    static class Registration {

        @Bean
        ServletRegistrationBean<WitnessServlet> witnessServlet(
                TrustedLogs logs, ActiveService active, InstantSource clock) {
            return new ServletRegistrationBean<>(new WitnessServlet(logs, active, clock), "/witness/*");
        }
    }

    private WitnessServlet(TrustedLogs logs, ActiveService active, InstantSource clock) {
        this.logs = logs;
        this.active = active;
        this.clock = clock;
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (!"/add-checkpoint".equals(request.getPathInfo())) {
            answer(response, new Answer(404, "text/plain", ""));
        } else if (mayAsk(request, response)) {
            byte[] body = request.getInputStream().readNBytes(TrustedLogs.REQUEST_BYTES_MAX + 1);
            answer(
                    response,
                    body.length > TrustedLogs.REQUEST_BYTES_MAX
                            ? new Answer(413, "text/plain", "the request is too long\n")
                            : logs.add(body));
        }
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String path = String.valueOf(request.getPathInfo());
        if (!path.matches("/[0-9a-f]{64}/checkpoint")) {
            answer(response, new Answer(404, "text/plain", ""));
        } else if (mayAsk(request, response)) {
            answer(response, logs.latest(path.substring(1, 65)));
        }
    }

    private boolean mayAsk(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (!active.isHere()) {
            // Only the active service signs: two must never answer from different states.
            answer(response, new Answer(503, "text/plain", "this service stands by\n"));
            return false;
        }
        if (isTooOften(request.getRemoteAddr())) {
            response.setHeader("Retry-After", "60");
            answer(response, new Answer(429, "text/plain", "too many requests\n"));
            return false;
        }
        return true;
    }

    private synchronized boolean isTooOften(String address) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.MINUTES);
        if (!now.equals(minute) || requests.size() > ADDRESSES_MAX) {
            requests.clear();
            minute = now;
        }
        return requests.merge(address, 1, Integer::sum) > MINUTE_MAX;
    }

    private static void answer(HttpServletResponse response, Answer answer) throws IOException {
        byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
        response.setStatus(answer.status());
        response.setContentType(answer.type());
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }
}
