package dozo.ui;

import dozo.people.Permissions;
import dozo.people.Permissions.Endpoint;
import dozo.people.Users.User;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Who looks at a page, and what they may do: what they may not is not shown.
 *
 * @param user null: nobody has logged in
 */
record Viewer(@Nullable User user) {

    static Viewer of(HttpServletRequest request) {
        return new Viewer(request.getAttribute(User.class.getName()) instanceof User user ? user : null);
    }

    /** Empty: nobody. */
    public String name() {
        return user == null ? "" : user.name();
    }

    /** Whether this method and path, as it is mapped, would be answered. */
    public boolean may(String method, String path) {
        return user != null && Permissions.allow(user.roles(), new Endpoint(method, path));
    }
}
