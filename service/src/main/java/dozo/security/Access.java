package dozo.security;

import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.crypto.factory.PasswordEncoderFactories;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.header.writers.ReferrerPolicyHeaderWriter.ReferrerPolicy;

/**
 * How people and programs log in: to REST at every request, to pages by a form with a session; the rest is open to nobody. Who
 * may what then is {@link Gate}'s.
 */
@Configuration
class Access {

    private static final String CONTENT_POLICY =
            "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

    private final Answers answers;

    Access(Answers answers) {
        this.answers = answers;
    }

    @Bean
    @Order(1)
    SecurityFilterChain api(HttpSecurity http) throws Exception {
        return headers(http)
                .securityMatcher("/api/**")
                .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                .sessionManagement(session -> session.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
                // NB: no cookie lets anybody in here, so there is nothing to forge.
                .csrf(AbstractHttpConfigurer::disable)
                .requestCache(AbstractHttpConfigurer::disable)
                .httpBasic(basic -> basic.authenticationEntryPoint((request, response, failure) ->
                        answers.demandLogin(request, response, "name and password are missing or wrong")))
                .exceptionHandling(failures -> failures.accessDeniedHandler((request, response, failure) ->
                        answers.refuse(request, response, HttpStatus.FORBIDDEN, "this is not allowed to you")))
                .build();
    }

    @Bean
    @Order(2)
    SecurityFilterChain pages(HttpSecurity http) throws Exception {
        return headers(http)
                .authorizeHttpRequests(requests -> requests.requestMatchers(EndpointRequest.to("health"))
                        .permitAll()
                        .requestMatchers("/dozo.css", "/favicon.svg", "/error")
                        .permitAll()
                        .requestMatchers(pages())
                        .authenticated()
                        .anyRequest()
                        .denyAll())
                .formLogin(Customizer.withDefaults())
                .logout(logout -> logout.logoutSuccessUrl("/login?logout"))
                .build();
    }

    @Bean
    PasswordEncoder passwordEncoder() {
        return PasswordEncoderFactories.createDelegatingPasswordEncoder();
    }

    /** The pages of the table of permissions, variables as one part of the path. */
    private static String[] pages() {
        return Permissions.endpoints().stream()
                .map(Permissions.Endpoint::path)
                .filter(path -> !path.startsWith("/api/"))
                .toArray(String[]::new);
    }

    private static HttpSecurity headers(HttpSecurity http) throws Exception {
        return http.headers(headers -> headers.contentSecurityPolicy(policy -> policy.policyDirectives(CONTENT_POLICY))
                .referrerPolicy(referrer -> referrer.policy(ReferrerPolicy.NO_REFERRER)));
    }
}
