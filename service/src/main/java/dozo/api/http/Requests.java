package dozo.api.http;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.Nulls;
import dozo.registry.Refusal;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jackson.autoconfigure.JsonMapperBuilderCustomizer;
import org.springframework.boot.webmvc.autoconfigure.WebMvcRegistrations;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.MethodParameter;
import org.springframework.http.MediaType;
import org.springframework.web.HttpMediaTypeException;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import tools.jackson.databind.JacksonModule;

/** Rules for every REST request: JSON in both directions unless declared otherwise, and no unknown parameters. */
@Configuration
class Requests implements WebMvcConfigurer {

    /** Runs after the gate, so that unauthorized users learn nothing else. */
    static final int AFTER_GATE = 1;

    /** The package of REST's handlers. */
    private static final String RESOURCES = "dozo.api";

    /** The request attribute with the reason why an endpoint does not support the content type. */
    private static final String UNFIT = Requests.class.getName() + ".unfit";

    @Bean
    static JacksonModule keptText() {
        return NoText.module();
    }

    /** Refuses null in lists and maps, because no handler gives it a meaning. */
    @Bean
    static JsonMapperBuilderCustomizer noNullsInLists() {
        return json -> json.changeDefaultNullHandling(nulls -> nulls.withContentNulls(Nulls.FAIL));
    }

    /**
     * Restricts content to JSON by default. NB: otherwise Spring would also read and write other formats of libraries,
     * such as YAML.
     */
    @Bean
    static WebMvcRegistrations json() {
        return new WebMvcRegistrations() {
            @Override
            public RequestMappingHandlerMapping getRequestMappingHandlerMapping() {
                return new JsonByDefault();
            }
        };
    }

    @Override
    public void addInterceptors(InterceptorRegistry interceptors) {
        interceptors.addInterceptor(new KnownParameters()).order(AFTER_GATE);
    }

    static boolean isRest(Class<?> handler) {
        return handler.getPackageName().equals(RESOURCES);
    }

    private static final class JsonByDefault extends RequestMappingHandlerMapping {

        @Override
        protected @Nullable RequestMappingInfo getMappingForMethod(Method method, Class<?> handler) {
            RequestMappingInfo info = super.getMappingForMethod(method, handler);
            if (info == null || !isRest(handler)) {
                return info;
            }
            RequestMappingInfo.Builder json = info.mutate();
            if (info.getProducesCondition().isEmpty()) {
                json.produces(produced(method));
            }
            if (info.getConsumesCondition().isEmpty() && readsJson(method)) {
                json.consumes(MediaType.APPLICATION_JSON_VALUE);
            }
            return json.build();
        }

        /**
         * Selects the endpoint even if it does not support the requested content type. The gate then sees the request
         * before {@link KnownParameters} refuses it, so that unauthorized users learn nothing else.
         */
        @Override
        protected @Nullable HandlerMethod handleNoMatch(
                Set<RequestMappingInfo> mappings, String path, HttpServletRequest request) throws ServletException {
            try {
                return super.handleNoMatch(mappings, path, request);
            } catch (HttpMediaTypeException unfit) {
                RequestMappingInfo asked = mappings.stream()
                        .filter(each -> isAsked(each, request))
                        .findFirst()
                        .orElseThrow(() -> unfit);
                handleMatch(asked, path, request);
                request.setAttribute(UNFIT, unfit);
                return getHandlerMethods().get(asked);
            }
        }

        private static boolean isAsked(RequestMappingInfo mapping, HttpServletRequest request) {
            return requireNonNull(mapping.getPathPatternsCondition()).getMatchingCondition(request) != null
                    && mapping.getMethodsCondition().getMatchingCondition(request) != null;
        }
    }

    private static String[] produced(Method handler) {
        return Sheet.isGivenBy(handler)
                ? new String[] {MediaType.APPLICATION_JSON_VALUE, Sheet.TYPE}
                : new String[] {MediaType.APPLICATION_JSON_VALUE};
    }

    private static boolean readsJson(Method handler) {
        return Arrays.stream(handler.getParameters())
                .anyMatch(parameter -> parameter.isAnnotationPresent(RequestBody.class));
    }

    /**
     * Refuses parameters that a handler does not have: with a misspelt filter, the response would contain more than the
     * client wants.
     */
    private static final class KnownParameters implements HandlerInterceptor {

        @Override
        public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
                throws HttpMediaTypeException {
            if (request.getAttribute(UNFIT) instanceof HttpMediaTypeException unfit) {
                throw unfit;
            }
            if (!(handler instanceof HandlerMethod method) || !isRest(method.getBeanType())) {
                return true;
            }
            Set<String> known = new TreeSet<>();
            for (MethodParameter parameter : method.getMethodParameters()) {
                RequestParam declared = parameter.getParameterAnnotation(RequestParam.class);
                if (declared != null && Map.class.isAssignableFrom(parameter.getParameterType())) {
                    return true;
                }
                if (declared != null) {
                    known.add(nameOf(declared, parameter.getParameter().getName()));
                }
                if (parameter.getParameterType() == Sheet.class) {
                    known.addAll(Sheet.PARAMETERS.keySet());
                }
            }
            request.getParameterMap().forEach((name, values) -> check(name, values, known));
            return true;
        }

        private static String nameOf(RequestParam declared, String otherwise) {
            return declared.name().isEmpty() ? otherwise : declared.name();
        }

        private static void check(String name, String[] values, Set<String> known) {
            if (!known.contains(name)) {
                throw known.isEmpty()
                        ? new Refusal(name, "unknown parameter: none is expected here")
                        : new Refusal(name, "unknown parameter: expected %s", String.join(", ", known));
            }
            for (String value : values) {
                if (!NoText.isKept(value)) {
                    throw new Refusal(name, NoText.EXPECTED);
                }
            }
        }
    }
}
