package dozo.security;

import dozo.start.HttpSettings;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Refuses requests with an unknown {@code Host} header. Otherwise another site could point its name here (DNS
 * rebinding), and the browser would treat its pages as ours. Health checks are answered under any name, because
 * container probes use addresses that are not known in advance.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
class Hosts extends OncePerRequestFilter {

    /** Names in lower case, and addresses in canonical form. */
    private final Set<String> known;

    Hosts(HttpSettings settings) {
        known = Stream.concat(Stream.of("localhost", settings.address()), settings.hostNames().stream())
                .map(Hosts::inOneForm)
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        if (isKnown(request)) {
            chain.doFilter(request, response);
        } else {
            response.sendError(HttpStatus.MISDIRECTED_REQUEST.value());
        }
    }

    /**
     * Returns whether the request's host is known. NB: an HTTP/1.0 request need not name a host; browsers always do.
     */
    private boolean isKnown(HttpServletRequest request) {
        if (request.getHeader(HttpHeaders.HOST) == null || Answers.isHealth(request)) {
            return true;
        }
        String host = request.getServerName();
        return known.contains(inOneForm(host))
                || address(host)
                        .filter(asked -> asked.isLoopbackAddress()
                                || address(request.getLocalAddr()).equals(Optional.of(asked)))
                        .isPresent();
    }

    private static String inOneForm(String host) {
        return address(host).map(InetAddress::getHostAddress).orElseGet(() -> host.toLowerCase(Locale.ROOT));
    }

    /** Parses an address. Makes no DNS request. */
    private static Optional<InetAddress> address(String host) {
        try {
            return Optional.of(InetAddress.ofLiteral(
                    host.startsWith("[") ? host.substring(1).replace("]", "") : host));
        } catch (IllegalArgumentException name) {
            return Optional.empty();
        }
    }
}
