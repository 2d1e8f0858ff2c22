package dozo.security;

import dozo.file.Message;
import dozo.people.Tokens;
import dozo.people.Tokens.Token;
import dozo.people.Users;
import dozo.people.Users.User;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Authenticates requests with a token, {@code Authorization: Bearer dozo_…}. Tokens cannot be guessed, so attempts are
 * not throttled. A client with the secret may learn why its token does not work any more.
 */
final class TokenFilter extends OncePerRequestFilter {

    private static final String SCHEME = "bearer ";

    private final Tokens tokens;
    private final Users users;
    private final Answers answers;
    private final InstantSource clock;

    TokenFilter(Tokens tokens, Users users, Answers answers, InstantSource clock) {
        this.tokens = tokens;
        this.users = users;
        this.answers = answers;
        this.clock = clock;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        String header = request.getHeader("Authorization");
        if (header == null || !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            chain.doFilter(request, response);
            return;
        }
        Optional<Token> token = tokens.use(header.substring(SCHEME.length()).strip());
        Optional<User> user = token.flatMap(found -> users.find(found.userId()));
        Message refused = refused(token.orElse(null), user.orElse(null));
        if (refused != null) {
            answers.refuseToken(request, response, refused);
            return;
        }
        SecurityContext context = SecurityContextHolder.createEmptyContext();
        context.setAuthentication(UsernamePasswordAuthenticationToken.authenticated(
                caller(token.orElseThrow(), user.orElseThrow()), null, List.of()));
        SecurityContextHolder.setContext(context);
        request.setAttribute(User.class.getName(), user.orElseThrow());
        chain.doFilter(request, response);
    }

    private @Nullable Message refused(@Nullable Token token, @Nullable User user) {
        if (token == null || user == null) {
            return Message.of("unknown token");
        }
        if (token.revokedAt() != null) {
            return Message.of("this token was revoked");
        }
        if (!token.expiresAt().isAfter(clock.instant())) {
            return Message.of("this token has expired");
        }
        return user.active() ? null : Message.of("the user of this token is disabled");
    }

    private static Caller caller(Token token, User user) {
        return new Caller(
                user.id(),
                user.name(),
                user.stamp(),
                new Caller.UsedToken(token.id(), token.roles(), token.readOnly(), token.scope()));
    }
}
