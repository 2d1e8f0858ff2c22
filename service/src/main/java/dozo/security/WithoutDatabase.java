package dozo.security;

import dozo.db.LostDatabase;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** Responds to logins and user lookups while the database is away: nothing is known about a password then. */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE + 1)
class WithoutDatabase extends OncePerRequestFilter {

    private final Answers answers;

    WithoutDatabase(Answers answers) {
        this.answers = answers;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        try {
            chain.doFilter(request, response);
        } catch (IOException | ServletException | RuntimeException failure) {
            // A response that has begun can only be cut off.
            if (response.isCommitted() || !LostDatabase.isBehind(failure)) {
                throw failure;
            }
            response.resetBuffer();
            answers.refuseWithoutDatabase(request, response, failure);
        }
    }
}
