package dozo.api.http;

import dozo.api.http.KeptAnswers.Kept;
import dozo.people.Permissions;
import dozo.people.Permissions.Endpoint;
import dozo.people.Permissions.Line;
import dozo.people.Permissions.Token;
import dozo.registry.Refusal;
import dozo.security.Caller;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.security.core.Authentication;
import org.springframework.transaction.TransactionException;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.util.WebUtils;

/**
 * Executes a POST with the header {@code Idempotency-Key} only once. A client that repeats it, because it does not know
 * the result, gets the first response again (ADR 0032). The filter gives the request a body that can be read twice, and
 * stores the response. The decision is made behind the gate, so that only permitted users get a response.
 */
@Configuration
public class Idempotency implements WebMvcConfigurer {

    public static final String HEADER = "Idempotency-Key";
    public static final String REPLAYED = "Idempotency-Replayed";
    public static final int LENGTH_MAX = 255;

    private static final Logger LOG = LoggerFactory.getLogger(Idempotency.class);

    private static final Pattern KEY = Pattern.compile("[!-~]{1," + LENGTH_MAX + "}");
    private static final String AT = Idempotency.class.getName() + ".at";
    private static final String BEGUN = Idempotency.class.getName() + ".begun";

    private final KeptAnswers answers;

    /**
     * The requests that this process is working on. NB: only the active service accepts changes, so a key that is not in
     * this set has no worker.
     */
    private final Set<At> underWay = ConcurrentHashMap.newKeySet();

    private record At(int user, String key) {}

    Idempotency(KeptAnswers answers) {
        this.answers = answers;
    }

    @Bean
    FilterRegistrationBean<Around> keyedRequests() {
        return new FilterRegistrationBean<>(new Around());
    }

    @Override
    public void addInterceptors(InterceptorRegistry interceptors) {
        interceptors.addInterceptor(new Once()).order(Requests.AFTER_GATE + 1);
    }

    final class Around extends OncePerRequestFilter {

        @Override
        protected boolean shouldNotFilter(HttpServletRequest request) {
            return !request.getMethod().equals("POST")
                    || request.getHeader(HEADER) == null
                    || !request.getRequestURI().startsWith("/api/");
        }

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            KeyedResponse answer = new KeyedResponse(response);
            try (KeyedRequest again = new KeyedRequest(request)) {
                chain.doFilter(again, answer);
                keep(request, answer);
            } finally {
                if (request.getAttribute(AT) instanceof At at) {
                    underWay.remove(at);
                }
            }
        }

        /** Stores the response, unless the server failed: such a request may be tried again. */
        private void keep(HttpServletRequest request, KeyedResponse answer) {
            if (!(request.getAttribute(BEGUN) instanceof At at)
                    || answer.getStatus() >= HttpStatus.INTERNAL_SERVER_ERROR.value()) {
                return;
            }
            try {
                answers.answered(at.user(), at.key(), answer.kept());
            } catch (DataAccessException | TransactionException failure) {
                LOG.error(
                        "could not store a response; a repeated request would be executed again: {}",
                        failure.getMessage());
            }
        }
    }

    private final class Once implements HandlerInterceptor {

        @Override
        public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
                throws IOException {
            KeyedRequest keyed = WebUtils.getNativeRequest(request, KeyedRequest.class);
            if (keyed == null || !(handler instanceof HandlerMethod method) || !Requests.isRest(method.getBeanType())) {
                return true;
            }
            At at = new At(caller(request), key(request));
            if (!underWay.add(at)) {
                throw new UnderWay();
            }
            request.setAttribute(AT, at);
            Optional<Kept> first = answers.begin(at.user(), at.key(), keyed.digest());
            if (first.isPresent()) {
                again(first.get(), response);
            } else {
                request.setAttribute(BEGUN, at);
            }
            return first.isEmpty();
        }

        private static int caller(HttpServletRequest request) {
            return request.getUserPrincipal() instanceof Authentication login
                            && login.getPrincipal() instanceof Caller caller
                    ? caller.userId()
                    : unknown();
        }

        private static int unknown() {
            throw new IllegalStateException("nobody comes through the gate without a name");
        }

        private static String key(HttpServletRequest request) {
            List<String> keys = Collections.list(request.getHeaders(HEADER));
            if (keys.size() != 1 || !KEY.matcher(keys.getFirst()).matches()) {
                throw new Refusal(HEADER, "expected 1 to %d printable ASCII characters without spaces", LENGTH_MAX);
            }
            if (isSecret(request)) {
                throw new Refusal(HEADER, "this answer contains secrets and is not stored: omit the key");
            }
            return keys.getFirst();
        }

        /**
         * Returns whether the response contains a secret. Passwords and tokens are made where tokens are not permitted.
         */
        private static boolean isSecret(HttpServletRequest request) {
            Object path = request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
            Optional<Line> line = Permissions.of(new Endpoint(request.getMethod(), String.valueOf(path)));
            return line.isEmpty() || line.get().token() == Token.NONE;
        }

        private static void again(Kept first, HttpServletResponse response) throws IOException {
            byte[] body = first.body();
            if (body == null) {
                throw Refusal.conflict(
                        HEADER,
                        "the request was executed before with status %d; its response was too long to store. It was"
                                + " not executed again",
                        first.status());
            }
            response.setStatus(first.status());
            response.setHeader(REPLAYED, "true");
            if (first.location() != null) {
                response.setHeader(HttpHeaders.LOCATION, first.location());
            }
            if (first.contentType() != null) {
                response.setContentType(first.contentType());
            }
            response.getOutputStream().write(body);
        }
    }

    /** Thrown if an earlier request with this key has not ended yet. */
    static final class UnderWay extends RuntimeException {

        private static final long serialVersionUID = 1L;

        UnderWay() {
            super("the first request with this key is still in progress: retry later to get its response");
        }
    }
}
