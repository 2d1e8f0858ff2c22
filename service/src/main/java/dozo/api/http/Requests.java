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

/** What holds for every request to REST: JSON both ways where nothing else is said, and no parameter that nobody reads. */
@Configuration
class Requests implements WebMvcConfigurer {

    /** After the gate: who may not ask is told nothing else. */
    static final int AFTER_GATE = 1;

    /** Where REST's handlers are. */
    private static final String RESOURCES = "dozo.api";

    /** Why an endpoint cannot be asked for, or with, this type of content. */
    private static final String UNFIT = Requests.class.getName() + ".unfit";

    @Bean
    static JacksonModule keptText() {
        return NoText.module();
    }

    /** No handler knows what a null in a list or a map would mean. */
    @Bean
    static JsonMapperBuilderCustomizer noNullsInLists() {
        return json -> json.changeDefaultNullHandling(nulls -> nulls.withContentNulls(Nulls.FAIL));
    }

    /** NB: without this, what libraries bring along would be read and written too, YAML for one. */
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

    /** Whether a handler is one of REST's. */
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
         * An endpoint that takes or gives another type of content is chosen all the same, for the gate to see the request before
         * {@link KnownParameters} refuses it: whoever may not ask is told nothing else.
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

    /** Refuses parameters that a handler does not have: a misspelt filter would give more than was asked for. */
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
