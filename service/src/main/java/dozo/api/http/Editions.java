package dozo.api.http;

import dozo.registry.Refusal;
import dozo.web.Etag;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.http.server.ServletServerHttpResponse;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;
import tools.jackson.databind.json.JsonMapper;

/** Prevents two editors from overwriting each other's changes, by ETags and {@code If-Match} (ADR 0032). */
@Component
public class Editions {

    private final JsonMapper json;
    private final TransactionTemplate transaction;

    Editions(JsonMapper json, PlatformTransactionManager transactions) {
        this.json = json;
        this.transaction = new TransactionTemplate(transactions);
    }

    /** Returns the strong ETag of a representation. It changes whenever any part of the representation changes. */
    String tag(Edited shown) {
        return Etag.of(json, shown);
    }

    /**
     * Makes a change if the resource is still as the editor saw it. The comparison is in the change's transaction and
     * behind a lock, so of two editors who saw the same state one is refused.
     *
     * @param lock takes the row that every change of this resource locks first
     * @param present the current representation; empty: the resource does not exist
     * @throws Stale if the resource has changed or does not exist
     */
    public <T> T change(IfMatch seen, Runnable lock, Supplier<Optional<? extends Edited>> present, Supplier<T> change) {
        if (!seen.isGiven()) {
            return change.get();
        }
        return transaction.execute(status -> {
            lock.run();
            Edited now = present.get()
                    .orElseThrow(() -> new Stale("the resource does not exist, so If-Match does not match"));
            if (!seen.accepts(tag(now))) {
                throw new Stale("the resource has changed since you read it (ETag mismatch)");
            }
            return change.get();
        });
    }

    /** Adds the ETag to edited resources. Responds with 304 if the client already has the current representation. */
    @RestControllerAdvice
    static final class Tags implements ResponseBodyAdvice<Object> {

        private final Editions editions;

        Tags(Editions editions) {
            this.editions = editions;
        }

        @Override
        public boolean supports(MethodParameter answer, Class<? extends HttpMessageConverter<?>> converter) {
            return Edited.class.isAssignableFrom(answer.getParameterType());
        }

        @Override
        public @Nullable Object beforeBodyWrite(
                @Nullable Object body,
                MethodParameter answer,
                MediaType type,
                Class<? extends HttpMessageConverter<?>> converter,
                ServerHttpRequest asked,
                ServerHttpResponse answered) {
            if (!(body instanceof Edited shown)
                    || !(asked instanceof ServletServerHttpRequest request)
                    || !(answered instanceof ServletServerHttpResponse response)) {
                return body;
            }
            String tag = editions.tag(shown);
            boolean read =
                    Set.of("GET", "HEAD").contains(request.getServletRequest().getMethod());
            if (read
                    && new ServletWebRequest(request.getServletRequest(), response.getServletResponse())
                            .checkNotModified(tag)) {
                return null;
            }
            response.getHeaders().setETag(tag);
            return body;
        }
    }

    /** Reads the header for handlers that use it, and refuses it for all others, which would ignore it. */
    @Configuration
    static class Headers implements WebMvcConfigurer {

        private static final Pattern TAGS =
                Pattern.compile("\\s*(?:W/)?\"[!#-~\\x80-\\xff]*\"\\s*(?:,\\s*(?:W/)?\"[!#-~\\x80-\\xff]*\"\\s*)*");
        private static final Pattern TAG = Pattern.compile("(?:W/)?\"[^\"]*\"");

        @Override
        public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
            resolvers.add(new Given());
        }

        @Override
        public void addInterceptors(InterceptorRegistry interceptors) {
            interceptors.addInterceptor(new Heeded()).order(Requests.AFTER_GATE);
        }

        private static IfMatch read(List<String> headers) {
            String header = String.join(",", headers);
            if (headers.isEmpty()) {
                return new IfMatch(null);
            }
            if (header.strip().equals(IfMatch.ANY)) {
                return new IfMatch(List.of(IfMatch.ANY));
            }
            if (!TAGS.matcher(header).matches()) {
                throw new Refusal(HttpHeaders.IF_MATCH, "expected ETags as received, in quotes, or *");
            }
            // NB: a weak tag never matches here (RFC 9110, 13.1.1).
            return new IfMatch(
                    TAG.matcher(header).results().map(MatchResult::group).toList());
        }

        private static final class Given implements HandlerMethodArgumentResolver {

            @Override
            public boolean supportsParameter(MethodParameter parameter) {
                return parameter.getParameterType() == IfMatch.class;
            }

            @Override
            public Object resolveArgument(
                    MethodParameter parameter,
                    @Nullable ModelAndViewContainer container,
                    NativeWebRequest request,
                    @Nullable WebDataBinderFactory binders) {
                String[] given = request.getHeaderValues(HttpHeaders.IF_MATCH);
                return read(given == null ? List.of() : List.of(given));
            }
        }

        private static final class Heeded implements HandlerInterceptor {

            @Override
            public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
                if (request.getHeader(HttpHeaders.IF_MATCH) != null
                        && handler instanceof HandlerMethod method
                        && Requests.isRest(method.getBeanType())
                        && !takes(method)) {
                    throw new Refusal(HttpHeaders.IF_MATCH, "not supported here: omit it");
                }
                return true;
            }

            private static boolean takes(HandlerMethod method) {
                for (MethodParameter parameter : method.getMethodParameters()) {
                    if (parameter.getParameterType() == IfMatch.class) {
                        return true;
                    }
                }
                return false;
            }
        }
    }
}
