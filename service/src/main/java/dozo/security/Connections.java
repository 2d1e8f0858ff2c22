package dozo.security;

import dozo.start.HttpSettings;
import java.net.InetAddress;
import java.nio.channels.SocketChannel;
import java.util.Set;
import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.tomcat.util.net.NioEndpoint;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.stereotype.Component;

/**
 * Closes connections of an address that already has {@value #OF_ADDRESS_MAX}, so that one client that opens connections and
 * says nothing cannot take all of the server's. Those of the configured proxies are not counted.
 */
@Component
class Connections implements WebServerFactoryCustomizer<TomcatServletWebServerFactory> {

    /** An eighth of Tomcat's; a proxy that is not configured has the connections of all its users. */
    static final int OF_ADDRESS_MAX = 1_000;

    private final Set<String> proxies;

    Connections(HttpSettings settings) {
        proxies = Set.copyOf(settings.proxies());
    }

    @Override
    public void customize(TomcatServletWebServerFactory server) {
        server.setProtocol(Protocol.class.getName());
        server.addConnectorCustomizers(
                connector -> ((Protocol) connector.getProtocolHandler()).endpoint.proxies = proxies);
    }

    /** Tomcat creates it by its name. */
    public static final class Protocol extends Http11NioProtocol {

        private final Endpoint endpoint;

        public Protocol() {
            this(new Endpoint());
        }

        private Protocol(Endpoint endpoint) {
            super(endpoint);
            this.endpoint = endpoint;
        }
    }

    private static final class Endpoint extends NioEndpoint {

        private Set<String> proxies = Set.of();

        @Override
        protected boolean setSocketOptions(SocketChannel accepted) {
            if (connections.size() >= OF_ADDRESS_MAX && isOneTooMany(address(accepted))) {
                destroySocket(accepted);
                return false;
            }
            return super.setSocketOptions(accepted);
        }

        private boolean isOneTooMany(@Nullable InetAddress client) {
            return client != null
                    && !proxies.contains(client.getHostAddress())
                    && connections.keySet().stream()
                                    .filter(other -> client.equals(address(other)))
                                    .count()
                            >= OF_ADDRESS_MAX;
        }

        /** Returns the other end; null if it has gone already. */
        private static @Nullable InetAddress address(SocketChannel connection) {
            return connection.socket().getInetAddress();
        }
    }
}
