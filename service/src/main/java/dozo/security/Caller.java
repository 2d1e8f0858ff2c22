package dozo.security;

import dozo.people.Role;
import dozo.people.Scope;
import java.io.Serializable;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.security.core.AuthenticatedPrincipal;

/**
 * Who logged in, and how. What they may is looked up at every request.
 *
 * @param stamp the user's when they logged in: another one now, and this login is over
 * @param token what they logged in with; null: with a password
 */
public record Caller(
        int userId, String name, int stamp, @Nullable UsedToken token) implements AuthenticatedPrincipal, Serializable {

    private static final long serialVersionUID = 1L;

    /** What a token may: what the roles may that it has at most, whether it changes anything, and what it is for. */
    public record UsedToken(int id, Set<Role> roles, boolean readOnly, Scope scope) implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    @Override
    public String getName() {
        return name;
    }
}
