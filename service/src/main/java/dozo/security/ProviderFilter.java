package dozo.security;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractAuthenticationFilterConfigurer;
import org.springframework.security.core.Authentication;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.authentication.OAuth2AuthenticationToken;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizationRequestRedirectFilter;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizedClientRepository;
import org.springframework.security.oauth2.client.web.OAuth2LoginAuthenticationFilter;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.web.servlet.util.matcher.PathPatternRequestMatcher;
import org.springframework.security.web.util.matcher.RequestMatcher;

/**
 * Takes the provider's answers. Spring checks them: state, nonce, code and ID token. What it proves becomes a {@link
 * Caller}, like every other login; the tokens of the provider are not kept.
 */
final class ProviderFilter extends OAuth2LoginAuthenticationFilter {

    private final ProviderLogins logins;

    private ProviderFilter(Provider provider, ProviderLogins logins) {
        super(provider, new Forgetting(), Provider.CALLBACK);
        setAuthorizationRequestRepository(logins.begun());
        this.logins = logins;
    }

    @Override
    public Authentication attemptAuthentication(HttpServletRequest request, HttpServletResponse response) {
        OAuth2AuthenticationToken proven = (OAuth2AuthenticationToken) super.attemptAuthentication(request, response);
        return logins.admit((OidcUser) proven.getPrincipal());
    }

    /** Puts the filter into the chain of pages, with the session rules of the form login. */
    static final class InChain extends AbstractAuthenticationFilterConfigurer<HttpSecurity, InChain, ProviderFilter> {

        private final Provider provider;
        private final ProviderLogins logins;

        InChain(Provider provider, ProviderLogins logins) {
            super(new ProviderFilter(provider, logins), Provider.CALLBACK);
            this.provider = provider;
            this.logins = logins;
            failureHandler(logins::failed);
        }

        @Override
        public void init(HttpSecurity http) {
            loginPage(LoginForm.PATH);
            loginProcessingUrl(Provider.CALLBACK);
            super.init(http);
            http.authenticationProvider(provider.exchange());
        }

        @Override
        public void configure(HttpSecurity http) {
            OAuth2AuthorizationRequestRedirectFilter start = new OAuth2AuthorizationRequestRedirectFilter(provider);
            start.setAuthorizationRequestRepository(logins.begun());
            start.setAuthenticationFailureHandler(logins::failed);
            http.addFilter(start);
            super.configure(http);
        }

        @Override
        protected RequestMatcher createLoginProcessingUrlMatcher(String path) {
            return PathPatternRequestMatcher.withDefaults().matcher(path);
        }
    }

    /** Keeps no token: Dozo asks the provider for nothing after the login. */
    private static final class Forgetting implements OAuth2AuthorizedClientRepository {

        @Override
        @SuppressWarnings("TypeParameterUnusedInFormals") // As the interface has it.
        public <T extends OAuth2AuthorizedClient> @Nullable T loadAuthorizedClient(
                String registration, Authentication login, HttpServletRequest request) {
            return null;
        }

        @Override
        public void saveAuthorizedClient(
                OAuth2AuthorizedClient client,
                Authentication login,
                HttpServletRequest request,
                HttpServletResponse response) {
            // Nothing is kept.
        }

        @Override
        public void removeAuthorizedClient(
                String registration, Authentication login, HttpServletRequest request, HttpServletResponse response) {
            // Nothing is kept.
        }
    }
}
