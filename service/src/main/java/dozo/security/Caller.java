package dozo.security;

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

    /** A token's scope: the roles that it has at most, and whether it may change anything. */
    public record UsedToken(int id, Set<Role> roles, boolean readOnly) implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    @Override
    public String getName() {
        return name;
    }
}
