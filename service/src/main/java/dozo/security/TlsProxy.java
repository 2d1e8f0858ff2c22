package dozo.security;

import dozo.start.HttpSettings;
import dozo.web.Prefix;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.RemoteIpValve;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.Cookie;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/**
 * Trusts the configured TLS proxies: their headers give the client's address, whether it used TLS, and the path below
 * which they show the service. No other client's headers are used: a client that can choose its address cannot be throttled. With proxies, and with TLS of the
 * service's own, cookies are sent only over TLS, and responses require TLS for a year (HSTS).
 */
@Component
@Order(1) // After Spring Boot's own customizers, and before those that need the client's address.
class TlsProxy implements WebServerFactoryCustomizer<TomcatServletWebServerFactory> {

    static final String COOKIE_PLAIN = "JSESSIONID";

    /** Browsers accept this name only over TLS, only from this host, and only for the whole host. */
    static final String COOKIE = "__Host-dozo";

    private final List<String> addresses;
    private final boolean isTls;

    TlsProxy(HttpSettings settings) {
        addresses = settings.proxies();
        isTls = settings.isTls();
    }

    /** Returns whether browsers reach the service only over TLS. */
    boolean isTls() {
        return isTls || !addresses.isEmpty();
    }

    @Override
    public void customize(TomcatServletWebServerFactory server) {
        if (!addresses.isEmpty()) {
            RemoteIpValve valve = new RemoteIpValve() {
                @Override
                public void invoke(Request request, Response response) throws IOException, ServletException {
                    // NB: while the request still has the address of the proxy.
                    if (addresses.contains(request.getRemoteAddr())) {
                        Prefix.keep(request, request.getHeader(Prefix.HEADER));
                    }
                    super.invoke(request, response);
                }
            };
            valve.setInternalProxies(addresses.stream().map(Pattern::quote).collect(Collectors.joining("|")));
            valve.setRemoteIpHeader("X-Forwarded-For");
            valve.setProtocolHeader("X-Forwarded-Proto");
            server.addEngineValves(valve);
        }
        if (!isTls()) {
            return;
        }
        Cookie cookie = server.getSettings().getSession().getCookie();
        cookie.setSecure(true);
        cookie.setName(COOKIE);
        cookie.setPath("/");
    }
}
