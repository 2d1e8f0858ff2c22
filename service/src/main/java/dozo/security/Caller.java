package dozo.security;

import dozo.people.Role;
import dozo.people.Scope;
import java.io.Serializable;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.security.core.AuthenticatedPrincipal;

/**
 * Who logged in, and how. Permissions are looked up at every request.
 *
 * @param stamp the user's stamp at login; when the user's stamp has changed, this login has expired
 * @param token the token of this login; null: the user logged in with a password
 */
public record Caller(
        int userId, String name, int stamp, @Nullable UsedToken token) implements AuthenticatedPrincipal, Serializable {

    private static final long serialVersionUID = 1L;

    /** What a token may do: its roles at most, whether it is read-only, and its scope. */
    public record UsedToken(int id, Set<Role> roles, boolean readOnly, Scope scope) implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    @Override
    public String getName() {
        return name;
    }
}
