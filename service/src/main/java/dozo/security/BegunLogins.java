package dozo.security;

import static java.nio.charset.StandardCharsets.UTF_8;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Duration;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseCookie;
import org.springframework.security.oauth2.client.web.AuthorizationRequestRepository;
import org.springframework.security.oauth2.core.endpoint.OAuth2AuthorizationRequest;
import org.springframework.security.oauth2.core.endpoint.OAuth2ParameterNames;
import org.springframework.security.oauth2.core.endpoint.PkceParameterNames;
import org.springframework.security.oauth2.core.oidc.OidcScopes;
import org.springframework.security.oauth2.core.oidc.endpoint.OidcParameterNames;
import org.springframework.web.util.WebUtils;

/**
 * The login that a browser has begun at the provider, in a cookie of that browser: who has not logged in has no session, and
 * takes no memory here. The cookie holds what this browser alone needs to prove that the answer is its own: state, nonce,
 * key (RFC 7636) and the address of the answer. It says nothing about who logs in, so it is not signed.
 */
final class BegunLogins implements AuthorizationRequestRepository<OAuth2AuthorizationRequest> {

    private static final Duration KEPT = Duration.ofMinutes(10);
    private static final int PARTS = 4;

    private final OidcSettings settings;
    private final boolean tls;

    /** @param tls whether browsers reach the service only over TLS */
    BegunLogins(OidcSettings settings, boolean tls) {
        this.settings = settings;
        this.tls = tls;
    }

    @Override
    public @Nullable OAuth2AuthorizationRequest loadAuthorizationRequest(HttpServletRequest request) {
        Cookie cookie = WebUtils.getCookie(request, name());
        String state = request.getParameter(OAuth2ParameterNames.STATE);
        String[] parts = cookie == null ? new String[0] : parts(cookie.getValue());
        if (parts.length != PARTS || !parts[0].equals(state)) {
            return null;
        }
        return OAuth2AuthorizationRequest.authorizationCode()
                .authorizationUri(settings.issuer())
                .clientId(settings.clientId())
                .scope(OidcScopes.OPENID)
                .state(state)
                .redirectUri(parts[3])
                .attributes(attributes -> {
                    attributes.put(OAuth2ParameterNames.REGISTRATION_ID, Provider.ID);
                    attributes.put(OidcParameterNames.NONCE, parts[1]);
                    attributes.put(PkceParameterNames.CODE_VERIFIER, parts[2]);
                })
                .build();
    }

    @Override
    public void saveAuthorizationRequest(
            @Nullable OAuth2AuthorizationRequest begun, HttpServletRequest request, HttpServletResponse response) {
        if (begun != null) {
            keep(
                    String.join(
                            "\n",
                            begun.getState(),
                            begun.getAttribute(OidcParameterNames.NONCE),
                            begun.getAttribute(PkceParameterNames.CODE_VERIFIER),
                            begun.getRedirectUri()),
                    KEPT,
                    response);
        }
    }

    @Override
    public @Nullable OAuth2AuthorizationRequest removeAuthorizationRequest(
            HttpServletRequest request, HttpServletResponse response) {
        OAuth2AuthorizationRequest begun = loadAuthorizationRequest(request);
        if (begun != null) {
            keep("", Duration.ZERO, response);
        }
        return begun;
    }

    private void keep(String value, Duration time, HttpServletResponse response) {
        response.addHeader(
                HttpHeaders.SET_COOKIE,
                ResponseCookie.from(
                                name(), Base64.getUrlEncoder().withoutPadding().encodeToString(value.getBytes(UTF_8)))
                        .path("/")
                        .httpOnly(true)
                        .secure(tls)
                        // NB: Strict would keep it back: the provider sends the browser here.
                        .sameSite("Lax")
                        .maxAge(time)
                        .build()
                        .toString());
    }

    private static String[] parts(String cookie) {
        try {
            return new String(Base64.getUrlDecoder().decode(cookie), UTF_8).split("\n", -1);
        } catch (IllegalArgumentException changed) {
            return new String[0];
        }
    }

    private String name() {
        return tls ? "__Host-dozo-begun" : "dozo-begun";
    }
}
