package dozo.security;

import dozo.file.Message;
import dozo.people.Permissions;
import dozo.people.Tokens;
import dozo.people.Users;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.InstantSource;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.AuthenticationSuccessHandler;
import org.springframework.security.web.authentication.SavedRequestAwareAuthenticationSuccessHandler;
import org.springframework.security.web.authentication.www.BasicAuthenticationFilter;
import org.springframework.security.web.csrf.CsrfException;
import org.springframework.security.web.header.writers.CrossOriginOpenerPolicyHeaderWriter.CrossOriginOpenerPolicy;
import org.springframework.security.web.header.writers.ReferrerPolicyHeaderWriter.ReferrerPolicy;
import org.springframework.web.util.UriComponentsBuilder;

/**
 * How people and programs log in: to REST with every request, to pages by a form or single sign-on, and a session. All other addresses are
 * closed. {@link Gate} then checks permissions.
 */
@Configuration
class Access {

    /** Files that pages load. They contain no data, and pages have no such names. */
    private static final String[] ASSETS = {"/*.css", "/*.js", "/*.svg", "/webjars/**"};

    private static final String DOCUMENTATION = "/docs/**";

    /** The protocol of witnesses, which has no login. A servlet of its own answers, no handler with a permission. */
    private static final String WITNESS = "/witness/**";

    private final Answers answers;
    private final LoginForm loginForm;
    private final TokenFilter tokens;
    private final Provider provider;
    private final ProviderLogins byProvider;
    private final TlsProxy tls;
    private final Refusals refusals;

    Access(
            Answers answers,
            LoginForm loginForm,
            Tokens tokens,
            Users users,
            Provider provider,
            ProviderLogins byProvider,
            TlsProxy tls,
            Refusals refusals,
            InstantSource clock) {
        this.answers = answers;
        this.loginForm = loginForm;
        this.provider = provider;
        this.byProvider = byProvider;
        this.tls = tls;
        this.refusals = refusals;
        this.tokens = new TokenFilter(tokens, users, answers, clock);
    }

    /** Anybody may send checkpoints: their signatures say whose they are, and cookies say nothing. */
    @Bean
    @Order(0)
    SecurityFilterChain witness(HttpSecurity http) throws Exception {
        return headers(http)
                .securityMatcher(WITNESS)
                .authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                .sessionManagement(session -> session.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
                .csrf(AbstractHttpConfigurer::disable)
                .requestCache(AbstractHttpConfigurer::disable)
                .build();
    }

    @Bean
    @Order(1)
    SecurityFilterChain api(HttpSecurity http) throws Exception {
        return headers(http)
                .securityMatcher("/api/**", Permissions.METRICS)
                .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                .sessionManagement(session -> session.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
                // NB: cookies do not authenticate here, so requests cannot be forged.
                .csrf(AbstractHttpConfigurer::disable)
                .requestCache(AbstractHttpConfigurer::disable)
                .httpBasic(basic -> basic.authenticationEntryPoint(this::turnAway))
                .addFilterBefore(tokens, BasicAuthenticationFilter.class)
                .exceptionHandling(
                        failures -> failures.accessDeniedHandler((request, response, failure) -> answers.refuse(
                                request,
                                response,
                                HttpStatus.FORBIDDEN,
                                Message.of("you are not permitted to do this"))))
                .build();
    }

    @Bean
    @Order(2)
    SecurityFilterChain pages(HttpSecurity http) throws Exception {
        if (provider.given()) {
            http.with(
                    new ProviderFilter.InChain(provider, byProvider), login -> login.successHandler(toWhatWasWanted()));
        }
        return headers(http)
                .authorizeHttpRequests(requests -> requests.dispatcherTypeMatchers(DispatcherType.ERROR)
                        .permitAll()
                        .requestMatchers(EndpointRequest.to("health"))
                        .permitAll()
                        .requestMatchers(ASSETS)
                        .permitAll()
                        // NB: the form login permits only its exact address, not one with a parameter that chooses a
                        // language.
                        .requestMatchers(LoginForm.PATH)
                        .permitAll()
                        .requestMatchers(pages())
                        .authenticated()
                        .requestMatchers(DOCUMENTATION)
                        .authenticated()
                        .anyRequest()
                        .denyAll())
                .formLogin(form -> form.loginPage(LoginForm.PATH)
                        .permitAll()
                        .successHandler(toWhatWasWanted())
                        .failureHandler(this::formFailed))
                .csrf(csrf -> csrf.csrfTokenRepository(new FormTokens(tls.isTls())))
                .requestCache(cache -> cache.requestCache(loginForm.wanted()))
                .exceptionHandling(
                        failures -> failures.authenticationEntryPoint(loginForm).accessDeniedHandler(this::denied))
                .logout(logout -> logout.logoutSuccessHandler(byProvider::loggedOut)
                        .deleteCookies(TlsProxy.COOKIE_PLAIN, TlsProxy.COOKIE))
                .build();
    }

    private void turnAway(HttpServletRequest request, HttpServletResponse response, AuthenticationException failure)
            throws IOException {
        if (failure instanceof NotNow later) {
            answers.refuse(request, response, later);
        } else {
            answers.demandLogin(request, response, Message.of("user name or password is missing or wrong"));
        }
    }

    /**
     * Responds if a form is too old or not the user's, or if an address is not in the table of permissions. A form of a
     * session that has ended leads to the login.
     */
    private void denied(HttpServletRequest request, HttpServletResponse response, AccessDeniedException failure)
            throws IOException {
        if (failure instanceof CsrfException && LoginForm.hasEndedSession(request)) {
            loginForm.again(request, response);
            return;
        }
        if (failure instanceof CsrfException) {
            refusals.log("form", request);
        }
        response.sendError((failure instanceof CsrfException ? HttpStatus.FORBIDDEN : HttpStatus.NOT_FOUND).value());
    }

    private void formFailed(HttpServletRequest request, HttpServletResponse response, AuthenticationException failure)
            throws IOException {
        if (failure instanceof NotNow later) {
            answers.refuse(request, response, later);
        } else {
            response.sendRedirect("/login?error");
        }
    }

    /**
     * Redirects to the requested page after login. The redirect contains no host, because the saved request has the
     * host that the client sent.
     */
    private AuthenticationSuccessHandler toWhatWasWanted() {
        SavedRequestAwareAuthenticationSuccessHandler handler = new SavedRequestAwareAuthenticationSuccessHandler();
        handler.setRequestCache(loginForm.wanted());
        handler.setRedirectStrategy(
                (request, response, url) -> response.sendRedirect(UriComponentsBuilder.fromUriString(url)
                        .scheme(null)
                        .host(null)
                        .port(null)
                        .build()
                        .toUriString()
                        .replaceFirst("^/*", "/")));
        return handler;
    }

    /** Lists the paths of pages in the table of permissions. A variable matches one part of the path. */
    private static String[] pages() {
        return Permissions.endpoints().stream()
                .filter(Permissions.Endpoint::isPage)
                .map(Permissions.Endpoint::path)
                .toArray(String[]::new);
    }

    /**
     * Adds headers to those that Spring Security sends itself: no-store, nosniff, and HSTS if the request came over
     * TLS.
     */
    private static HttpSecurity headers(HttpSecurity http) throws Exception {
        return http.headers(
                headers -> headers.contentSecurityPolicy(policy -> policy.policyDirectives(Headers.CONTENT_POLICY))
                        .referrerPolicy(referrer -> referrer.policy(ReferrerPolicy.NO_REFERRER))
                        .permissionsPolicyHeader(permissions -> permissions.policy(Headers.NO_PERMISSIONS))
                        .crossOriginOpenerPolicy(opener -> opener.policy(CrossOriginOpenerPolicy.SAME_ORIGIN)));
    }
}
