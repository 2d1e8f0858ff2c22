package dozo.security;

import dozo.ledger.Sight;
import dozo.ui.Admission;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springdoc.core.utils.SpringDocUtils;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.MethodParameter;
import org.springframework.core.Ordered;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** Puts the gate before every handler, and gives handlers what it found: a {@link Sight} and a {@link Caller}. */
@Configuration
class GateConfiguration implements WebMvcConfigurer {

    static {
        SpringDocUtils.getConfig().addRequestWrapperToIgnore(Sight.class, Caller.class);
    }

    private final Gate gate;

    GateConfiguration(Gate gate) {
        this.gate = gate;
    }

    /** For what is answered as long as somebody looks. */
    @Bean
    static Admission admission(Gate gate) {
        return new Admission(gate::again);
    }

    @Override
    public void addInterceptors(InterceptorRegistry interceptors) {
        interceptors
                .addInterceptor(new ReadableParameters())
                .order(Ordered.HIGHEST_PRECEDENCE)
                .excludePathPatterns("/api/**", "/error");
        // NB: what failed was let in, or was nobody's to let in.
        interceptors.addInterceptor(gate).excludePathPatterns("/error");
    }

    @Override
    public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
        resolvers.add(new FoundByGate(Sight.class, Gate.SIGHT));
        resolvers.add(new FoundByGate(Caller.class, Gate.CALLER));
    }

    private record FoundByGate(Class<?> type, String name) implements HandlerMethodArgumentResolver {

        @Override
        public boolean supportsParameter(MethodParameter parameter) {
            return parameter.getParameterType() == type;
        }

        @Override
        public Object resolveArgument(
                MethodParameter parameter,
                @Nullable ModelAndViewContainer container,
                NativeWebRequest request,
                @Nullable WebDataBinderFactory binders) {
            return Objects.requireNonNull(
                    request.getAttribute(name, RequestAttributes.SCOPE_REQUEST), "no gate was passed");
        }
    }
}
