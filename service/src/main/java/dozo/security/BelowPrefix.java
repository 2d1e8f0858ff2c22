package dozo.security;

import dozo.web.Prefix;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** Puts a proxy's {@link Prefix} before the paths of redirects and {@code Location} headers, whoever writes them. */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
class BelowPrefix extends OncePerRequestFilter {

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return Prefix.of(request).isEmpty();
    }

    @Override
    protected boolean shouldNotFilterErrorDispatch() {
        return false;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        chain.doFilter(request, new Outside(request, response));
    }

    private static final class Outside extends HttpServletResponseWrapper {

        private final HttpServletRequest request;

        Outside(HttpServletRequest request, HttpServletResponse response) {
            super(response);
            this.request = request;
        }

        @Override
        public void sendRedirect(String location) throws IOException {
            super.sendRedirect(Prefix.before(location, request));
        }

        @Override
        public void setHeader(String name, @Nullable String value) {
            super.setHeader(name, outside(name, value));
        }

        @Override
        public void addHeader(String name, @Nullable String value) {
            super.addHeader(name, outside(name, value));
        }

        /** Returns a location as it was set: a kept answer gets the prefix when it is sent again. */
        @Override
        public @Nullable String getHeader(String name) {
            String value = super.getHeader(name);
            String prefix = Prefix.of(request);
            return value != null && isLocation(name) && value.startsWith(prefix + "/")
                    ? value.substring(prefix.length())
                    : value;
        }

        private @Nullable String outside(String name, @Nullable String value) {
            return value != null && isLocation(name) ? Prefix.before(value, request) : value;
        }

        private static boolean isLocation(String name) {
            return name.equalsIgnoreCase(HttpHeaders.LOCATION);
        }
    }
}
