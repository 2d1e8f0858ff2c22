package dozo.security;

import dozo.start.HttpSettings;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.catalina.valves.RemoteIpValve;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.Cookie;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.stereotype.Component;

/**
 * The proxies with TLS that stand before us: their word is taken for who asks and that they came over TLS, cookies go over TLS
 * only, and answers say so for a year. Nobody else's word is taken: who could name their address would not be throttled.
 */
@Component
class TlsProxy implements WebServerFactoryCustomizer<TomcatServletWebServerFactory> {

    static final String COOKIE_PLAIN = "JSESSIONID";

    /** Browsers take this name over TLS only, from this host only, for the whole of it. */
    static final String COOKIE = "__Host-dozo";

    private final List<String> addresses;

    TlsProxy(HttpSettings settings) {
        addresses = settings.proxies();
    }

    @Override
    public void customize(TomcatServletWebServerFactory server) {
        if (addresses.isEmpty()) {
            return;
        }
        RemoteIpValve valve = new RemoteIpValve();
        valve.setInternalProxies(addresses.stream().map(Pattern::quote).collect(Collectors.joining("|")));
        valve.setRemoteIpHeader("X-Forwarded-For");
        valve.setProtocolHeader("X-Forwarded-Proto");
        server.addEngineValves(valve);
        Cookie cookie = server.getSettings().getSession().getCookie();
        cookie.setSecure(true);
        cookie.setName(COOKIE);
        cookie.setPath("/");
    }
}
