package dozo.security;

import dozo.ledger.Sight;
import dozo.people.Admission;
import dozo.people.Users.User;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.MethodParameter;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.security.web.firewall.RequestRejectedException;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Puts the gate before every handler, and gives handlers its results: a {@link Sight}, the {@link User}, a {@link Caller},
 * an {@link Admission}.
 */
@Configuration
class GateConfiguration implements WebMvcConfigurer {

    private final Gate gate;
    private final Provider provider;

    GateConfiguration(Gate gate, Provider provider) {
        this.gate = gate;
        this.provider = provider;
    }

    @Override
    public void addInterceptors(InterceptorRegistry interceptors) {
        interceptors
                .addInterceptor(new ReadableParameters())
                .order(Ordered.HIGHEST_PRECEDENCE)
                .excludePathPatterns("/api/**", "/error");
        // NB: not before the error page: the failed request has passed the gate, or there was nothing to admit it to.
        interceptors.addInterceptor(gate).excludePathPatterns("/error");
        interceptors.addInterceptor(new WayToProvider()).addPathPatterns(LoginForm.PATH);
    }

    /** Gives the login page what its button for single sign-on needs, if there is a provider. */
    private final class WayToProvider implements HandlerInterceptor {

        @Override
        public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
            if (provider.given()) {
                request.setAttribute("providerName", provider.shown());
                // NB: begins where it ends, because the session is known to one host only.
                request.setAttribute("providerStart", provider.serviceUrl() + ProviderLogins.START);
            }
            return true;
        }
    }

    /**
     * Refuses queries and forms of pages that cannot be read, or that contain NUL, which the database cannot store. Tomcat
     * and the firewall read them only when the first parameter is needed, which is here.
     */
    private static final class ReadableParameters implements HandlerInterceptor {

        @Override
        public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
                throws IOException {
            try {
                if (request.getParameterMap().values().stream()
                        .flatMap(Arrays::stream)
                        .noneMatch(value -> value.indexOf('\0') >= 0)) {
                    return true;
                }
            } catch (InvalidParameterException | RequestRejectedException unreadable) {
                // Refused below.
            }
            response.sendError(HttpStatus.BAD_REQUEST.value());
            return false;
        }
    }

    @Override
    public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
        resolvers.add(new FoundByGate());
    }

    private static final class FoundByGate implements HandlerMethodArgumentResolver {

        private static final Set<Class<?>> TYPES = Set.of(Sight.class, User.class, Caller.class, Admission.class);

        @Override
        public boolean supportsParameter(MethodParameter parameter) {
            return TYPES.contains(parameter.getParameterType());
        }

        @Override
        public Object resolveArgument(
                MethodParameter parameter,
                @Nullable ModelAndViewContainer container,
                NativeWebRequest request,
                @Nullable WebDataBinderFactory binders) {
            return Objects.requireNonNull(
                    request.getAttribute(parameter.getParameterType().getName(), RequestAttributes.SCOPE_REQUEST),
                    "no gate was passed");
        }
    }
}
