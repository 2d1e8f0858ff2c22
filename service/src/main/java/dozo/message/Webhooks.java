package dozo.message;

import dozo.alert.Outbox.Message;
import dozo.message.Text.Written;
import dozo.start.SecretFile;
import dozo.start.Settings;
import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.SystemDefaultDnsResolver;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.StringEntity;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.util.Timeout;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * Posts messages to webhooks, with the field {@code text} that chats show. Redirects are not followed, and internal
 * addresses are refused when a name is resolved, so that nobody reaches other services of this network by a URL.
 */
@Component
@EnableConfigurationProperties(WebhookSettings.class)
class Webhooks {

    private static final Timeout CONNECT = Timeout.of(Duration.ofSeconds(10));
    private static final Timeout ANSWER = Timeout.of(Duration.ofSeconds(20));

    private static final int REQUEST_TIMEOUT = 408;
    private static final int TOO_MANY_REQUESTS = 429;

    private final CloseableHttpClient http;
    private final JsonMapper json;

    Webhooks(WebhookSettings settings, JsonMapper json) {
        this.json = json;
        this.http = HttpClients.custom()
                .setUserAgent("dozo")
                .disableRedirectHandling()
                .disableAutomaticRetries()
                .disableCookieManagement()
                .disableAuthCaching()
                .setDefaultRequestConfig(
                        RequestConfig.custom().setResponseTimeout(ANSWER).build())
                .setConnectionManager(PoolingHttpClientConnectionManagerBuilder.create()
                        .setDnsResolver(new Outside(settings.internal()))
                        .setDefaultConnectionConfig(ConnectionConfig.custom()
                                .setConnectTimeout(CONNECT)
                                .setSocketTimeout(ANSWER)
                                .build())
                        .build())
                .build();
    }

    @PreDestroy
    void close() {
        http.close(CloseMode.IMMEDIATE);
    }

    /**
     * Posts a message.
     *
     * @throws NotDelivered if the answer is not 2xx
     */
    void send(Message message, Written written) throws NotDelivered {
        HttpPost request = new HttpPost(url(message.address()));
        request.setHeader(
                "Idempotency-Key",
                "dozo-%d-%d".formatted(message.id(), message.createdAt().toEpochMilli()));
        request.setEntity(
                new StringEntity(json.writeValueAsString(body(message, written)), ContentType.APPLICATION_JSON));
        int status;
        try {
            status = http.execute(request, response -> response.getCode());
        } catch (Internal e) {
            throw new NotDelivered(String.valueOf(e.getMessage()), true, e);
        } catch (IOException e) {
            // Its message may contain the URL, which is the webhook's secret.
            throw new NotDelivered(
                    "the webhook does not answer: " + e.getClass().getSimpleName(), false, e);
        }
        if (status / 100 == 3) {
            throw new NotDelivered(
                    "the webhook answers HTTP %d; redirects are not followed".formatted(status), true, null);
        }
        if (status / 100 != 2) {
            boolean passes = status >= 500 || status == REQUEST_TIMEOUT || status == TOO_MANY_REQUESTS;
            throw new NotDelivered("the webhook answers HTTP %d".formatted(status), !passes, null);
        }
    }

    private static URI url(String file) throws NotDelivered {
        String text;
        try {
            text = SecretFile.read(file);
        } catch (IllegalArgumentException e) {
            throw new NotDelivered("the webhook's URL file " + e.getMessage(), false, e);
        }
        if (Settings.isAddress(text, "https?")) {
            return URI.create(text);
        }
        throw new NotDelivered(
                "the webhook's URL file contains no URL such as https://chat.example.org/hooks/1", false, null);
    }

    private static Map<String, Object> body(Message message, Written written) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("text", written.subject());
        body.put("occasion", message.occasion().name().toLowerCase(Locale.ROOT));
        if (message.night() != null && written.report() != null) {
            body.put("date", message.night().toString());
            body.put("verdict", written.report().verdict().name());
        }
        if (message.kind() != null && message.raisedAt() != null) {
            body.put("condition", message.kind().word());
            body.put("site", message.site());
            body.put("project", message.project());
            body.put("count", message.count());
            body.put("subject", message.subject());
            body.put("since", message.raisedAt().toString());
        }
        return body;
    }

    /** A host of a webhook has an internal address. */
    private static final class Internal extends UnknownHostException {

        private static final long serialVersionUID = 1L;

        Internal(String host) {
            super(
                    "the webhook's host %s has an internal address; if that is right, add it to DOZO_WEBHOOK_INTERNAL_HOSTS"
                            .formatted(host));
        }
    }

    /** Resolves names to addresses outside this network. */
    private record Outside(Set<String> internal) implements DnsResolver {

        private static final int UNIQUE_LOCAL = 0xFC;
        private static final int UNIQUE_LOCAL_MASK = 0xFE;
        private static final int SHARED_FIRST = 100;
        private static final int SHARED_SECOND = 64;
        private static final int SHARED_SECOND_MASK = 0xC0;
        private static final byte[] TRANSLATORS = {0, 0x64, (byte) 0xFF, (byte) 0x9B, 0, 0, 0, 0, 0, 0, 0, 0};
        private static final byte[] LOCAL_TRANSLATORS = {0, 0x64, (byte) 0xFF, (byte) 0x9B, 0, 1};
        private static final byte[] SIX_TO_FOUR = {0x20, 0x02};
        private static final byte[] COMPATIBLE = new byte[12];

        @Override
        public InetAddress[] resolve(String host) throws UnknownHostException {
            InetAddress[] addresses = SystemDefaultDnsResolver.INSTANCE.resolve(host);
            if (!internal.contains(host.toLowerCase(Locale.ROOT))) {
                for (InetAddress address : addresses) {
                    if (isInternal(address)) {
                        throw new Internal(host);
                    }
                }
            }
            return addresses;
        }

        @Override
        public String resolveCanonicalHostname(String host) throws UnknownHostException {
            return SystemDefaultDnsResolver.INSTANCE.resolveCanonicalHostname(host);
        }

        /**
         * NB: Java does not know unique local addresses (RFC 4193), the shared ones of carriers (RFC 6598), and those of
         * translators to IPv4 in this network (RFC 8215).
         */
        private static boolean isInternal(InetAddress address) throws UnknownHostException {
            byte[] bytes = address.getAddress();
            int inner = innerAddress(bytes);
            return address.isLoopbackAddress()
                    || address.isSiteLocalAddress()
                    || address.isLinkLocalAddress()
                    || address.isAnyLocalAddress()
                    || address.isMulticastAddress()
                    || (bytes.length == 16 && (bytes[0] & UNIQUE_LOCAL_MASK) == UNIQUE_LOCAL)
                    || (bytes.length == 4
                            && bytes[0] == SHARED_FIRST
                            && (bytes[1] & SHARED_SECOND_MASK) == SHARED_SECOND)
                    || startsWith(bytes, LOCAL_TRANSLATORS)
                    || (inner >= 0
                            && isInternal(InetAddress.getByAddress(Arrays.copyOfRange(bytes, inner, inner + 4))));
        }

        /**
         * Returns where an IPv6 address contains the IPv4 address that packets go to: of a translator (NAT64, RFC 6052),
         * of 6to4 (RFC 3056), or IPv4-compatible (RFC 4291). Returns -1 for others.
         */
        private static int innerAddress(byte[] bytes) {
            return startsWith(bytes, SIX_TO_FOUR)
                    ? SIX_TO_FOUR.length
                    : startsWith(bytes, TRANSLATORS) || startsWith(bytes, COMPATIBLE) ? TRANSLATORS.length : -1;
        }

        private static boolean startsWith(byte[] bytes, byte[] prefix) {
            return bytes.length == 16 && Arrays.equals(bytes, 0, prefix.length, prefix, 0, prefix.length);
        }
    }
}
