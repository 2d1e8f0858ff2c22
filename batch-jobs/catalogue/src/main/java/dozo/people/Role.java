package dozo.people;

import dozo.registry.Refusal;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a user may do. A user with several roles may do what any of them allows. The table is in {@link Permissions}.
 */
public enum Role {

    /** Sees and changes what belongs to the user's own projects. */
    LAB_MANAGER,

    /** Sees everything and runs the backup. */
    OPERATOR,

    /** Sees everything and changes nothing. */
    AUDITOR,

    /** May do everything: users, sites and projects too. */
    ADMIN;

    /**
     * Returns the roles with these names.
     *
     * @throws Refusal for the field {@code roles} if a name is not a role
     */
    public static Set<Role> of(Collection<String> names) {
        Set<Role> roles = EnumSet.noneOf(Role.class);
        for (String name : names) {
            roles.add(Arrays.stream(values())
                    .filter(role -> role.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new Refusal("roles", "\"%s\": expected a role: %s", name, known())));
        }
        return roles;
    }

    private static String known() {
        return Arrays.stream(values()).map(Role::name).collect(Collectors.joining(", "));
    }
}
