package dozo.security;

import com.fasterxml.jackson.annotation.JsonInclude;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.core.StandardHost;
import org.apache.catalina.valves.ErrorReportValve;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.security.web.firewall.HttpFirewall;
import org.springframework.security.web.firewall.StrictHttpFirewall;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reports errors that no controller has seen, for REST as problem details: requests that the firewall refused, and
 * requests that Tomcat could not read.
 */
@Configuration
class BareErrors implements WebServerFactoryCustomizer<TomcatServletWebServerFactory> {

    private static final JsonMapper JSON = new JsonMapper();

    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Problem(
            String title,
            int status,
            String detail,
            @Nullable String instance) {}

    @Override
    public void customize(TomcatServletWebServerFactory server) {
        server.addContextCustomizers(context -> {
            if (context.getParent() instanceof StandardHost host) {
                // NB: the valve is added when the host starts, so it comes before the one for pages that Spring Boot
                // has added.
                host.setErrorReportValveClass(Unread.class.getName());
            }
        });
    }

    /**
     * Lets all methods pass, so that REST can respond 405 with the supported ones. Pages require a CSRF token for
     * unknown methods.
     */
    @Bean
    HttpFirewall firewall() {
        StrictHttpFirewall firewall = new StrictHttpFirewall();
        firewall.setUnsafeAllowAnyHttpMethod(true);
        return firewall;
    }

    @Bean
    FilterRegistrationBean<Unhandled> unhandled() {
        FilterRegistrationBean<Unhandled> filter = new FilterRegistrationBean<>(new Unhandled());
        filter.setDispatcherTypes(EnumSet.of(DispatcherType.ERROR));
        filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
        return filter;
    }

    /** Handles errors of a filter or of Tomcat for REST, before they get an error page. */
    static final class Unhandled implements Filter {

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
                throws IOException, ServletException {
            if (response instanceof HttpServletResponse answer) {
                Headers.say(answer);
            }
            if (request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI) instanceof String uri
                    && request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) instanceof Integer status
                    && Answers.isRest(uri)
                    && response instanceof HttpServletResponse answer) {
                write(answer, status, uri);
            } else {
                chain.doFilter(request, response);
            }
        }
    }

    /** Reports errors of requests that Tomcat cannot pass on. */
    public static final class Unread extends ErrorReportValve {

        public Unread() {
            setShowReport(false);
            setShowServerInfo(false);
        }

        @Override
        protected void report(Request request, Response response, @Nullable Throwable failure) {
            if (response.getStatus() < HttpStatus.BAD_REQUEST.value()
                    || response.getContentWritten() > 0
                    || !response.setErrorReported()) {
                return;
            }
            try {
                answer(request, response, response.getStatus());
                response.finishResponse();
            } catch (IOException | IllegalStateException gone) {
                // The client has closed the connection.
            }
        }
    }

    /** Writes a refusal of a request that no filter has seen. */
    static void answer(Request request, Response response, int status) throws IOException {
        String uri = request.getRequestURI();
        if (uri == null || Answers.isRest(uri)) {
            write(response.getResponse(), status, null);
        } else {
            writePage(response.getResponse(), status);
        }
    }

    private static void write(HttpServletResponse response, int status, @Nullable String uri) throws IOException {
        HttpStatus known = HttpStatus.resolve(status);
        String title = known == null ? "Error" : known.getReasonPhrase();
        byte[] problem = JSON.writeValueAsBytes(new Problem(title, status, detail(status), uri));
        write(response, status, MediaType.APPLICATION_PROBLEM_JSON_VALUE, problem);
    }

    /** Writes a page in both languages, because the wanted one is unknown. */
    private static void writePage(HttpServletResponse response, int status) throws IOException {
        String page = """
                <!DOCTYPE html>
                <html lang="en">
                <head><meta charset="utf-8"><title>Dozo</title></head>
                <body>
                <h1>%d</h1>
                <p>%s</p>
                <p lang="ja">このリクエストは処理できません。アドレスを確認して、もう一度お試しください。</p>
                </body>
                </html>
                """.formatted(status, detail(status));
        write(response, status, MediaType.TEXT_HTML_VALUE, page.getBytes(StandardCharsets.UTF_8));
    }

    private static void write(HttpServletResponse response, int status, String type, byte[] body) throws IOException {
        Headers.say(response);
        response.setStatus(status);
        response.setContentType(type);
        response.setCharacterEncoding(StandardCharsets.UTF_8.name());
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    private static String detail(int status) {
        return switch (status) {
            case 400 -> "the request cannot be read: its address, a header or their total size is invalid";
            case 404 -> "there is nothing at this address";
            case 405 -> "this method is not supported here";
            case 413 -> "the form is too large; expected at most 8 KiB";
            case 429 -> "too many incomplete requests come from this address; try again later";
            case 421 -> "unknown host name; add it to DOZO_HTTP_HOSTS, or use one of the names listed there";
            case 505 -> "Only HTTP/1.1 is supported.";
            case 501 -> "this is not supported";
            default -> status < 500 ? "this request is not supported" : "internal error; see the service's log";
        };
    }
}
