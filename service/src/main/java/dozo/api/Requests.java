package dozo.api;

import dozo.registry.Refusal;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.webmvc.autoconfigure.WebMvcRegistrations;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.MethodParameter;
import org.springframework.http.MediaType;
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

    @Bean
    static JacksonModule keptText() {
        return NoText.module();
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
        return handler.getPackageName().equals(Requests.class.getPackageName());
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
        public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
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
                throw new Refusal(
                        name,
                        known.isEmpty()
                                ? "no parameters are accepted here"
                                : "is no parameter here: %s are accepted".formatted(String.join(", ", known)));
            }
            for (String value : values) {
                if (!NoText.isKept(value)) {
                    throw new Refusal(name, NoText.ACCEPTED);
                }
            }
        }
    }
}
