package dozo.security;

import dozo.people.Role;
import dozo.registry.Refusal;
import dozo.security.Directory.Known;
import dozo.setting.WrongSetting;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What the groups of a directory or a provider give to their members.
 *
 * @param roles by the group's name in lower case
 * @param projects codes, by the group's name in lower case
 */
record Groups(Map<String, Set<Role>> roles, Map<String, List<String>> projects) {

    /** The form of the setting {@code roles}. */
    static final String ROLES = "group=ROLE,ROLE;group=ROLE with LAB_MANAGER, OPERATOR, AUDITOR, ADMIN";

    /** The form of the setting {@code projects}. */
    static final String PROJECTS = "group=PROJECT,PROJECT;group=PROJECT";

    /**
     * Reads two settings.
     *
     * @throws WrongSetting for the components {@code roles} and {@code projects}
     */
    static Groups in(String roles, String projects) {
        Map<String, Set<Role>> given = new LinkedHashMap<>();
        mapping("roles", roles).forEach((group, names) -> {
            try {
                given.put(group, Role.of(names));
            } catch (Refusal noRole) {
                throw new WrongSetting("roles");
            }
        });
        return new Groups(given, mapping("projects", projects));
    }

    /** Returns the roles and projects of a member of these groups. */
    Known of(Collection<String> groups) {
        Set<Role> ofAll = EnumSet.noneOf(Role.class);
        Set<String> own = new TreeSet<>();
        for (String group : groups) {
            String name = group.toLowerCase(Locale.ROOT);
            ofAll.addAll(roles.getOrDefault(name, Set.of()));
            own.addAll(projects.getOrDefault(name, List.of()));
        }
        return new Known(ofAll, own);
    }

    private static Map<String, List<String>> mapping(String key, String text) {
        Map<String, List<String>> mapping = new LinkedHashMap<>();
        for (String line : text.split(";", -1)) {
            if (!line.isBlank()) {
                int at = line.lastIndexOf('=');
                if (at <= 0 || at == line.length() - 1) {
                    throw new WrongSetting(key);
                }
                mapping.put(
                        line.substring(0, at).strip().toLowerCase(Locale.ROOT),
                        Arrays.stream(line.substring(at + 1).split(",", -1))
                                .map(String::strip)
                                .toList());
            }
        }
        return mapping;
    }
}
