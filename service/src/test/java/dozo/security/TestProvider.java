package dozo.security;

import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;
import dozo.loopback.Ports;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.interfaces.RSAPrivateKey;
import java.security.interfaces.RSAPublicKey;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.core.authority.FactorGrantedAuthority;
import org.springframework.security.core.context.SecurityContextImpl;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.server.authorization.client.InMemoryRegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClient;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.settings.AuthorizationServerSettings;
import org.springframework.security.oauth2.server.authorization.settings.ClientSettings;
import org.springframework.security.oauth2.server.authorization.token.JwtEncodingContext;
import org.springframework.security.oauth2.server.authorization.token.OAuth2TokenCustomizer;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.HttpStatusEntryPoint;
import org.springframework.security.web.context.SecurityContextHolderFilter;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.filter.DelegatingFilterProxy;

/**
 * A provider of OpenID Connect in this process: Spring Authorization Server in a Tomcat and a context of its own. The
 * test says who sits before the browser, and may spoil ID tokens.
 */
public final class TestProvider implements AutoCloseable {

    public static final String CLIENT = "dozo-of-test";
    public static final String SECRET = "client's secret";

    private static final KeyPair KEYS = keys();

    private final int port;
    private final Path folder;
    private final @Nullable Path keys;
    private final InMemoryRegisteredClientRepository clients;

    private volatile Person person = new Person("1", Map.of());
    private volatile Consumer<JwtEncodingContext> spoil = token -> {};
    private @Nullable Tomcat tomcat;

    /** Who has logged in at the provider, with the claims of the ID token. */
    record Person(String subject, Map<String, Object> claims) {}

    private TestProvider(Path folder, int port, @Nullable Path keys) {
        this.keys = keys;
        this.folder = folder;
        this.port = port;
        this.clients = new InMemoryRegisteredClientRepository(client("-", "http://127.0.0.1:1"));
    }

    /** Returns one that is not started yet, at a port that is free. */
    public static TestProvider at(Path folder) {
        return at(folder, null);
    }

    /** Returns one that speaks TLS with a key of {@link MadeKeys}, and is not started yet. */
    public static TestProvider at(Path folder, @Nullable Path keys) {
        return new TestProvider(folder, Ports.free(), keys);
    }

    /** NB: another host name than the service's, because cookies do not know ports. */
    public String issuer() {
        return (keys == null ? "http" : "https") + "://localhost:" + port;
    }

    /** Registers the service at this address as the only one. */
    public void register(String serviceUrl) {
        clients.save(client(CLIENT, serviceUrl));
    }

    public void sits(String subject, String name, String... groups) {
        person = new Person(subject, Map.of("preferred_username", name, "groups", List.of(groups)));
    }

    void sits(Person somebody) {
        person = somebody;
    }

    /** Changes what ID tokens say before they are signed. */
    void spoils(Consumer<JwtEncodingContext> change) {
        spoil = change;
    }

    /** Starts it if it does not run. */
    public void start() throws LifecycleException, IOException {
        if (tomcat != null) {
            return;
        }
        AnnotationConfigWebApplicationContext beans = new AnnotationConfigWebApplicationContext();
        beans.register(Wiring.class);
        beans.addBeanFactoryPostProcessor(factory -> factory.registerSingleton("testProvider", this));
        Tomcat server = new Tomcat();
        server.setBaseDir(Files.createDirectories(folder.resolve("provider")).toString());
        Connector connector = new Connector();
        connector.setPort(port);
        connector.setProperty("address", "127.0.0.1");
        if (keys != null) {
            connector.setScheme("https");
            connector.setSecure(true);
            connector.setProperty("SSLEnabled", "true");
            SSLHostConfig tls = new SSLHostConfig();
            SSLHostConfigCertificate pair = new SSLHostConfigCertificate(tls, SSLHostConfigCertificate.Type.UNDEFINED);
            pair.setCertificateKeystoreFile(keys.toString());
            pair.setCertificateKeystorePassword(MadeKeys.PASSWORD);
            pair.setCertificateKeystoreType("PKCS12");
            tls.addCertificate(pair);
            connector.addSslHostConfig(tls);
        }
        server.setConnector(connector);
        Context pages = server.addContext("", null);
        beans.setServletContext(pages.getServletContext());
        beans.refresh();
        FilterDef filter = new FilterDef();
        filter.setFilterName("security");
        filter.setFilter(new DelegatingFilterProxy("springSecurityFilterChain", beans));
        pages.addFilterDef(filter);
        FilterMap everywhere = new FilterMap();
        everywhere.setFilterName("security");
        everywhere.addURLPattern("/*");
        everywhere.setDispatcher(DispatcherType.REQUEST.name());
        pages.addFilterMap(everywhere);
        Tomcat.addServlet(pages, "nothing", new jakarta.servlet.http.HttpServlet() {});
        pages.addServletMappingDecoded("/", "nothing");
        server.start();
        tomcat = server;
    }

    @Override
    public void close() throws LifecycleException {
        Tomcat server = tomcat;
        if (server != null) {
            server.stop();
            server.destroy();
            tomcat = null;
        }
    }

    private static RegisteredClient client(String id, String serviceUrl) {
        return RegisteredClient.withId("1")
                .clientId(id)
                .clientSecret("{noop}" + SECRET)
                .clientAuthenticationMethod(ClientAuthenticationMethod.CLIENT_SECRET_BASIC)
                .authorizationGrantType(AuthorizationGrantType.AUTHORIZATION_CODE)
                .redirectUri(serviceUrl + "/login/oauth2/code/dozo")
                .postLogoutRedirectUri(serviceUrl + "/login?logout")
                .scope("openid")
                .scope("profile")
                .clientSettings(ClientSettings.builder().requireProofKey(true).build())
                .build();
    }

    private static KeyPair keys() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(2048);
            return generator.generateKeyPair();
        } catch (java.security.GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The beans of the provider. Not found by the scan of the service. */
    @EnableWebSecurity
    static class Wiring {

        @Bean
        SecurityFilterChain chain(HttpSecurity http, TestProvider provider) throws Exception {
            return http.oauth2AuthorizationServer(server -> server.oidc(Customizer.withDefaults()))
                    .oauth2ResourceServer(server -> server.jwt(Customizer.withDefaults()))
                    .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                    .exceptionHandling(failures -> failures.authenticationEntryPoint(
                            new HttpStatusEntryPoint(org.springframework.http.HttpStatus.UNAUTHORIZED)))
                    .addFilterAfter(
                            (request, response, rest) -> {
                                String path = ((HttpServletRequest) request).getRequestURI();
                                if (List.of("/oauth2/authorize", "/connect/logout")
                                        .contains(path)) {
                                    org.springframework.security.core.context.SecurityContextHolder.setContext(
                                            new SecurityContextImpl(UsernamePasswordAuthenticationToken.authenticated(
                                                    provider.person.subject(),
                                                    null,
                                                    List.of(FactorGrantedAuthority.fromAuthority(
                                                            FactorGrantedAuthority.PASSWORD_AUTHORITY)))));
                                }
                                rest.doFilter(request, response);
                            },
                            SecurityContextHolderFilter.class)
                    .build();
        }

        @Bean
        RegisteredClientRepository clients(TestProvider provider) {
            return provider.clients;
        }

        @Bean
        AuthorizationServerSettings settings(TestProvider provider) {
            return AuthorizationServerSettings.builder()
                    .issuer(provider.issuer())
                    .build();
        }

        @Bean
        JWKSource<SecurityContext> jwks() {
            return new ImmutableJWKSet<>(new JWKSet(new RSAKey.Builder((RSAPublicKey) KEYS.getPublic())
                    .privateKey((RSAPrivateKey) KEYS.getPrivate())
                    .keyID("1")
                    .build()));
        }

        @Bean
        JwtDecoder decoder() {
            return NimbusJwtDecoder.withPublicKey((RSAPublicKey) KEYS.getPublic())
                    .build();
        }

        @Bean
        OAuth2TokenCustomizer<JwtEncodingContext> claims(TestProvider provider) {
            return token -> {
                if (token.getTokenType().getValue().equals("id_token")) {
                    token.getClaims().claims(claims -> claims.putAll(provider.person.claims()));
                    provider.spoil.accept(token);
                }
            };
        }
    }
}
