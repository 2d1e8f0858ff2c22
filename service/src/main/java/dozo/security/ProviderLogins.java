package dozo.security;

import dozo.people.Users;
import dozo.people.Users.Realm;
import dozo.people.Users.User;
import dozo.security.Directory.Known;
import dozo.web.Prefix;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.Serializable;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.MediaType;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.support.ServletUriComponentsBuilder;

/** Admits people whom the provider of single sign-on has proven, and ends their sessions there. */
@Component
class ProviderLogins {

    /** Where a browser begins a login. */
    static final String START = "/oauth2/authorization/dozo";

    private static final Logger LOG = LoggerFactory.getLogger(ProviderLogins.class);
    private static final int LENGTH_MAX = 1_024;

    private final Provider provider;
    private final OidcSettings settings;
    private final Users users;
    private final BegunLogins begun;

    /**
     * How a caller logged in: what names the session at the provider. Stays on the server until the logout.
     *
     * @param idToken for the provider only
     */
    private record AtProvider(String idToken) implements Serializable {

        private static final long serialVersionUID = 1L;

        @Override
        public String toString() {
            return "AtProvider";
        }
    }

    /** The provider knows the person, but Dozo does not admit them. */
    static final class NotAdmitted extends AuthenticationException {

        private static final long serialVersionUID = 1L;

        private final String page;

        NotAdmitted(String page, String message) {
            super(message);
            this.page = page;
        }
    }

    ProviderLogins(Provider provider, OidcSettings settings, Users users, TlsProxy tls) {
        this.provider = provider;
        this.settings = settings;
        this.users = users;
        this.begun = new BegunLogins(settings, tls.isTls());
    }

    /** Returns where a login is remembered until the provider's answer comes. */
    BegunLogins begun() {
        return begun;
    }

    /**
     * Stores and admits a person.
     *
     * @throws NotAdmitted if the name cannot be used or belongs to another user, or the user is disabled
     */
    Authentication admit(OidcUser person) {
        String name = person.getClaims().get(settings.nameClaim()) instanceof String claimed
                ? claimed.toLowerCase(Locale.ROOT)
                : "";
        if (!Users.isName(name)) {
            throw new NotAdmitted(
                    "taken", "the claim %s is missing, or is no name of a user".formatted(settings.nameClaim()));
        }
        String subject = person.getSubject();
        if (subject.length() > LENGTH_MAX) {
            throw new NotAdmitted("taken", "the subject of %s is too long".formatted(name));
        }
        Known known = settings.groups().of(groups(person));
        User user = users.confirm(name, Realm.OIDC, subject, known.roles(), known.projects())
                .orElseThrow(() -> new NotAdmitted(
                        "taken",
                        "the name %s belongs to another user, or this person has another name here".formatted(name)));
        if (!user.active()) {
            throw new NotAdmitted("closed", "the user %s is disabled".formatted(name));
        }
        LOG.info("{} ({}) logged in, {}", name, user.origin(), user.roles());
        UsernamePasswordAuthenticationToken login = UsernamePasswordAuthenticationToken.authenticated(
                new Caller(user.id(), user.name(), user.stamp(), null), null, List.of());
        login.setDetails(new AtProvider(person.getIdToken().getTokenValue()));
        return login;
    }

    private List<String> groups(OidcUser person) {
        return switch (person.getClaims().get(settings.groupsClaim())) {
            case Collection<?> several ->
                several.stream()
                        .filter(String.class::isInstance)
                        .map(String.class::cast)
                        .toList();
            case String one -> List.of(one);
            case null, default -> List.of();
        };
    }

    /** Leads back to the login page, which says why. */
    void failed(HttpServletRequest request, HttpServletResponse response, AuthenticationException failure)
            throws IOException {
        if (failure instanceof NotAdmitted refused) {
            LOG.warn("a login by {} is refused: {}", settings.issuer(), refused.getMessage());
            response.sendRedirect(LoginForm.PATH + "?" + refused.page);
            return;
        }
        LOG.warn("a login by {} failed: {}", settings.issuer(), Provider.reason(failure));
        response.sendRedirect(LoginForm.PATH + (Provider.isAway(failure) ? "?away" : "?failed"));
    }

    /**
     * Ends the session at the provider too, if it can. NB: by a header, because the content policy does not let a form
     * lead to another host.
     */
    void loggedOut(HttpServletRequest request, HttpServletResponse response, @Nullable Authentication login)
            throws IOException {
        String here = LoginForm.PATH + "?logout";
        String base = provider.serviceUrl().isEmpty()
                ? ServletUriComponentsBuilder.fromContextPath(request).toUriString() + Prefix.of(request)
                : provider.serviceUrl();
        Optional<String> there = login != null && login.getDetails() instanceof AtProvider session
                ? provider.endOfSession(session.idToken(), base + here)
                : Optional.empty();
        if (there.isEmpty()) {
            response.sendRedirect(here);
            return;
        }
        response.setHeader("Refresh", "0;url=" + there.get());
        response.setContentType(MediaType.TEXT_HTML_VALUE);
        response.setCharacterEncoding("UTF-8");
        response.getWriter().write("<!DOCTYPE html><title>Dozo</title>");
    }
}
