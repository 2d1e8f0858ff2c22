package dozo.security;

import com.nimbusds.jose.JOSEException;
import dozo.security.ProviderFault.Kind;
import dozo.start.Settings;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpTimeoutException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.http.converter.FormHttpMessageConverter;
import org.springframework.security.oauth2.client.endpoint.RestClientAuthorizationCodeTokenResponseClient;
import org.springframework.security.oauth2.client.http.OAuth2ErrorResponseErrorHandler;
import org.springframework.security.oauth2.client.oidc.authentication.OidcAuthorizationCodeAuthenticationProvider;
import org.springframework.security.oauth2.client.oidc.authentication.OidcIdTokenDecoderFactory;
import org.springframework.security.oauth2.client.oidc.authentication.OidcIdTokenValidator;
import org.springframework.security.oauth2.client.oidc.userinfo.OidcUserService;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.client.registration.ClientRegistrations;
import org.springframework.security.oauth2.client.userinfo.DefaultOAuth2UserService;
import org.springframework.security.oauth2.core.DelegatingOAuth2TokenValidator;
import org.springframework.security.oauth2.core.converter.ClaimTypeConverter;
import org.springframework.security.oauth2.core.http.converter.OAuth2AccessTokenResponseHttpMessageConverter;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtTimestampValidator;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.stereotype.Component;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;
import org.springframework.web.client.RestClientResponseException;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.util.UriComponentsBuilder;

/**
 * The provider of single sign-on. This is the only class that sends requests to it. It is first asked when somebody
 * logs in, so the service starts without it. Every response has a time limit for all of it, at most eight requests run
 * at once, and few wait for their turn.
 * No redirect is followed, and addresses in its description must be as safe as its own.
 */
@Component
class Provider implements ClientRegistrationRepository {

    /** The path after which the provider's answer comes back. */
    static final String CALLBACK = "/login/oauth2/code/dozo";

    static final String ID = "dozo";
    private static final String DESCRIPTION = "/.well-known/openid-configuration";

    /** Addresses in the description, to which browsers or this service are sent. */
    private static final List<String> ADDRESSES = List.of(
            "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "end_session_endpoint");

    private static final int AT_ONCE_MAX = 8;

    /** Further requests fail at once, so that a provider that hangs holds few of the service's threads. */
    private static final int WAITING_MAX = 32;

    private static final Duration DESCRIPTION_KEPT = Duration.ofHours(1);
    private static final int UNAUTHORIZED = 401;

    private static final String TOO_MANY = "too many requests are waiting for the provider";

    /** What Java says when a response is closed while it is read: when the time is over. */
    private static final String CLOSED = "closed";

    private final OidcSettings settings;
    private final String serviceUrl;
    private final Semaphore places = new Semaphore(AT_ONCE_MAX + WAITING_MAX);
    private final Semaphore turns = new Semaphore(AT_ONCE_MAX, true);

    private @Nullable JdkClientHttpRequestFactory connections;
    private volatile @Nullable Described described;

    /** What the provider says about itself. */
    private record Described(Map<String, Object> facts, long atNanos) {}

    /** The provider cannot be used: where and why. */
    static final class Unusable extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient ProviderFault fault;

        Unusable(Kind kind, String message) {
            super(message);
            this.fault = new ProviderFault(kind, message);
        }
    }

    @Autowired
    Provider(OidcSettings settings, Settings service) {
        this(settings, service.service().url());
    }

    Provider(OidcSettings settings, String serviceUrl) {
        this.settings = settings;
        this.serviceUrl = serviceUrl.replaceFirst("/$", "");
    }

    boolean given() {
        return settings.given();
    }

    /** Returns its name for people. */
    String shown() {
        return settings.shown();
    }

    /** Returns where people find this service; empty: where their request came to. */
    String serviceUrl() {
        return serviceUrl;
    }

    /**
     * Returns how to log in there.
     *
     * @throws NotNow if it does not answer, or not as the settings expect
     */
    @Override
    public @Nullable ClientRegistration findByRegistrationId(String id) {
        if (!id.equals(ID)) {
            return null;
        }
        try {
            return registration(description());
        } catch (Unusable e) {
            throw NotNow.providerGone(e);
        }
    }

    /** Returns where a browser ends its session at the provider; empty if it has no such address. */
    Optional<String> endOfSession(String idToken, String backTo) {
        Described last = described;
        return last == null || !(last.facts().get("end_session_endpoint") instanceof String end)
                ? Optional.empty()
                : Optional.of(UriComponentsBuilder.fromUriString(end)
                        .queryParam("id_token_hint", "{hint}")
                        .queryParam("client_id", "{client}")
                        .queryParam("post_logout_redirect_uri", "{back}")
                        .encode()
                        .buildAndExpand(idToken, settings.clientId(), backTo)
                        .toUriString());
    }

    /** Returns what exchanges a code for the user, and checks the ID token. */
    OidcAuthorizationCodeAuthenticationProvider exchange() {
        RestClientAuthorizationCodeTokenResponseClient codes = new RestClientAuthorizationCodeTokenResponseClient();
        codes.setRestClient(RestClient.builder()
                .requestFactory((address, method) -> connections().createRequest(address, method))
                .requestInterceptor(this::inTurn)
                .configureMessageConverters(converters -> converters
                        .addCustomConverter(new FormHttpMessageConverter())
                        .addCustomConverter(new OAuth2AccessTokenResponseHttpMessageConverter()))
                .defaultStatusHandler(new OAuth2ErrorResponseErrorHandler())
                .build());
        DefaultOAuth2UserService facts = new DefaultOAuth2UserService();
        RestTemplate rest = rest();
        rest.setErrorHandler(new OAuth2ErrorResponseErrorHandler());
        facts.setRestOperations(rest);
        OidcUserService users = new OidcUserService();
        users.setOauth2UserService(facts);
        OidcAuthorizationCodeAuthenticationProvider exchange =
                new OidcAuthorizationCodeAuthenticationProvider(codes, users);
        exchange.setJwtDecoderFactory(this::idTokens);
        return exchange;
    }

    /** Returns what is wrong with the provider; empty: nothing. No user logs in. */
    Optional<ProviderFault> fault() {
        try {
            Map<String, Object> facts = description();
            ask(String.valueOf(facts.get("jwks_uri")));
            return clientFault(String.valueOf(facts.get("token_endpoint")));
        } catch (Unusable e) {
            return Optional.of(e.fault);
        }
    }

    /** Sends a code that does not exist: a provider checks the client first. */
    private Optional<ProviderFault> clientFault(String tokens) {
        MultiValueMap<String, String> form = new LinkedMultiValueMap<>();
        form.add("grant_type", "authorization_code");
        form.add("code", "doctor");
        form.add("redirect_uri", serviceUrl + CALLBACK);
        try {
            var _ = RestClient.create(rest())
                    .post()
                    .uri(tokens)
                    .headers(headers -> headers.setBasicAuth(settings.clientId(), settings.clientSecret()))
                    .body(form)
                    .retrieve()
                    .toBodilessEntity();
            return Optional.empty();
        } catch (RestClientResponseException e) {
            return e.getStatusCode().value() == UNAUTHORIZED
                            || e.getResponseBodyAsString().contains("invalid_client")
                    ? Optional.of(new ProviderFault(
                            Kind.CLIENT, "it refuses the client %s or its secret".formatted(settings.clientId())))
                    : Optional.empty();
        } catch (RestClientException e) {
            return Optional.of(unusable(e).fault);
        }
    }

    private ClientRegistration registration(Map<String, Object> facts) throws Unusable {
        try {
            return ClientRegistrations.fromOidcConfiguration(facts)
                    .registrationId(ID)
                    .issuerUri(settings.issuer())
                    .clientId(settings.clientId())
                    .clientSecret(settings.clientSecret())
                    .clientSettings(ClientRegistration.ClientSettings.builder()
                            .requireProofKey(true)
                            .build())
                    .redirectUri((serviceUrl.isEmpty() ? "{baseUrl}" : serviceUrl) + CALLBACK)
                    .scope(settings.scopes().split(" ", -1))
                    .build();
        } catch (IllegalArgumentException e) {
            throw new Unusable(Kind.ISSUER, "its description cannot be used: " + e.getMessage());
        }
    }

    /** NB: a signature with the client's secret, or none, is never accepted. */
    private JwtDecoder idTokens(ClientRegistration registration) {
        NimbusJwtDecoder decoder = NimbusJwtDecoder.withJwkSetUri(
                        String.valueOf(registration.getProviderDetails().getJwkSetUri()))
                .jwsAlgorithms(algorithms -> algorithms.addAll(List.of(SignatureAlgorithm.values())))
                .restOperations(rest())
                .build();
        decoder.setJwtValidator(new DelegatingOAuth2TokenValidator<>(
                new JwtTimestampValidator(), new OidcIdTokenValidator(registration)));
        decoder.setClaimSetConverter(
                new ClaimTypeConverter(OidcIdTokenDecoderFactory.createDefaultClaimTypeConverters()));
        return decoder;
    }

    private Map<String, Object> description() throws Unusable {
        Described last = described;
        if (last != null && System.nanoTime() - last.atNanos() < DESCRIPTION_KEPT.toNanos()) {
            return last.facts();
        }
        Map<String, Object> facts = checked(ask(settings.issuer().replaceFirst("/$", "") + DESCRIPTION));
        described = new Described(facts, System.nanoTime());
        return facts;
    }

    private Map<String, Object> checked(Map<String, Object> facts) throws Unusable {
        if (!settings.issuer().equals(facts.get("issuer"))) {
            throw new Unusable(
                    Kind.ISSUER, "it names itself %s, not %s".formatted(facts.get("issuer"), settings.issuer()));
        }
        for (String address : ADDRESSES) {
            Object value = facts.get(address);
            boolean required = !address.equals("userinfo_endpoint") && !address.equals("end_session_endpoint");
            if (value == null ? required : !OidcSettings.isSafe(value.toString())) {
                throw new Unusable(
                        Kind.ISSUER,
                        value == null
                                ? "its description has no %s".formatted(address)
                                : "its %s does not use TLS: %s".formatted(address, value));
            }
        }
        return facts;
    }

    private Map<String, Object> ask(String address) throws Unusable {
        try {
            Map<String, Object> facts = rest().exchange(
                            address, HttpMethod.GET, null, new ParameterizedTypeReference<Map<String, Object>>() {})
                    .getBody();
            if (facts == null) {
                throw new Unusable(Kind.ISSUER, "%s is empty".formatted(address));
            }
            return facts;
        } catch (RestClientException e) {
            throw unusable(e);
        }
    }

    private static Unusable unusable(RestClientException e) {
        if (e instanceof RestClientResponseException said) {
            HttpStatusCode status = said.getStatusCode();
            return new Unusable(
                    status.is5xxServerError() ? Kind.AWAY : Kind.ISSUER,
                    "it answers HTTP %d".formatted(status.value()));
        }
        for (Throwable each : causes(e)) {
            if (each instanceof SSLException) {
                return new Unusable(Kind.TLS, String.valueOf(each.getMessage()));
            }
        }
        return cutOff(e)
                .map(why -> new Unusable(Kind.AWAY, why))
                .orElseGet(() -> new Unusable(Kind.ISSUER, "it does not answer with JSON"));
    }

    /**
     * Returns whether a login failed because the provider did not answer, or cannot be used at all.
     *
     * @param failure of Spring, with its causes
     */
    static boolean isAway(Throwable failure) {
        return causes(failure).stream()
                .anyMatch(each -> each instanceof NotNow
                        || each instanceof IOException
                        || (each instanceof RestClientResponseException said
                                && said.getStatusCode().is5xxServerError()));
    }

    /** Returns a reason for the log. Contains only what cannot be a code or a token. */
    static String reason(Throwable failure) {
        List<Throwable> causes = causes(failure);
        Optional<String> cutOff = cutOff(failure);
        for (Throwable each : causes) {
            if (each instanceof Unusable unusable) {
                return unusable.fault.message();
            }
            if (each instanceof RestClientResponseException said) {
                return "it answers HTTP %d; is the client secret right?"
                        .formatted(said.getStatusCode().value());
            }
            if (each instanceof JOSEException && cutOff.isEmpty()) {
                return "its keys cannot be used";
            }
        }
        if (cutOff.isPresent()) {
            return cutOff.get();
        }
        return causes.getFirst()
                        instanceof org.springframework.security.oauth2.core.OAuth2AuthenticationException refused
                ? refused.getError().getErrorCode().replaceAll("[^a-z_]", "?")
                : causes.getFirst().getClass().getSimpleName();
    }

    /** Returns why there is no connection or no complete response; empty: there is one. */
    private static Optional<String> cutOff(Throwable failure) {
        return causes(failure).stream()
                .filter(IOException.class::isInstance)
                .reduce((_, last) -> last)
                .map(last -> last instanceof HttpTimeoutException || CLOSED.equals(last.getMessage())
                        ? "no complete response within DOZO_OIDC_TIMEOUT"
                        : last.getMessage() == null ? last.getClass().getSimpleName() : last.getMessage());
    }

    private static List<Throwable> causes(Throwable failure) {
        List<Throwable> causes = new ArrayList<>();
        for (Throwable each = failure; each != null && !causes.contains(each); each = each.getCause()) {
            causes.add(each);
        }
        return causes;
    }

    private RestTemplate rest() {
        RestTemplate rest = new RestTemplate((address, method) -> connections().createRequest(address, method));
        rest.getInterceptors().add(this::inTurn);
        return rest;
    }

    private ClientHttpResponse inTurn(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
            throws IOException {
        if (!places.tryAcquire()) {
            throw new IOException(TOO_MANY);
        }
        boolean turn = false;
        try {
            turn = turns.tryAcquire(settings.timeout().toMillis(), TimeUnit.MILLISECONDS);
            if (!turn) {
                throw new IOException(TOO_MANY);
            }
            return execution.execute(request, body);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            if (turn) {
                turns.release();
            }
            places.release();
        }
    }

    private synchronized JdkClientHttpRequestFactory connections() throws IOException {
        JdkClientHttpRequestFactory known = connections;
        if (known == null) {
            try {
                known = new JdkClientHttpRequestFactory(HttpClient.newBuilder()
                        .sslContext(Trust.in(settings.caFile()))
                        .connectTimeout(settings.timeout())
                        .followRedirects(HttpClient.Redirect.NEVER)
                        .build());
            } catch (GeneralSecurityException e) {
                throw new IOException("DOZO_OIDC_CA_FILE cannot be used: " + e.getMessage(), e);
            }
            known.setReadTimeout(settings.timeout());
            connections = known;
        }
        return known;
    }
}
