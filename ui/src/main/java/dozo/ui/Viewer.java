package dozo.ui;

import dozo.ledger.Findings.KeptFinding;
import dozo.people.Permissions;
import dozo.people.Permissions.Endpoint;
import dozo.people.Users.User;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * The user of a page and their permissions. Pages hide actions that the user may not take.
 *
 * @param user null if nobody is logged in
 */
record Viewer(@Nullable User user) {

    static Viewer of(HttpServletRequest request) {
        return new Viewer(request.getAttribute(User.class.getName()) instanceof User user ? user : null);
    }

    /** Returns the user's name; empty if nobody is logged in. */
    public String name() {
        return user == null ? "" : user.name();
    }

    /** Returns where the user can do something about a finding; null if there is no such place for them. */
    public @Nullable Cure cure(KeptFinding finding) {
        Cure cure = Cure.of(finding);
        return cure != null && may(cure.method(), cure.pattern()) ? cure : null;
    }

    /** Returns whether the user may use this method and path pattern. */
    public boolean may(String method, String path) {
        return user != null && Permissions.allow(user.roles(), new Endpoint(method, path));
    }
}
