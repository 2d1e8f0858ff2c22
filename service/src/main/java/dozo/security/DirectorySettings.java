package dozo.security;

import dozo.registry.Refusal;
import dozo.start.EarlySetting;
import dozo.start.Settings;
import dozo.start.StartFailure;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The LDAP directory in which users are besides the local ones.
 *
 * @param url {@code ldaps://host:636}, or {@code ldap://host:389}, which goes on with StartTLS; empty: there is none
 * @param caFile certificates in PEM to trust instead of Java's; empty: Java's
 * @param base below it users are searched
 * @param userFilter finds a user; {@code {0}} is the name
 * @param groupBase below it groups are searched; empty: below {@code base}
 * @param managerDn who searches; empty: nobody, anonymously
 * @param roles {@code group=ROLE,ROLE;group=ROLE}: what groups give, by their cn
 * @param projects {@code group=P1,P2;group=P3}
 * @param timeout for each of the at most six answers that a login takes
 * @param recheck how old what the directory said of a user may be
 */
@ConfigurationProperties("dozo.ldap")
record DirectorySettings(
        @DefaultValue("") String url,
        @DefaultValue("") String caFile,
        @DefaultValue("") String base,
        @DefaultValue("(uid={0})") String userFilter,
        @DefaultValue("") String groupBase,
        @DefaultValue("") String managerDn,
        @DefaultValue("") String managerPasswordFile,
        @DefaultValue("") String roles,
        @DefaultValue("") String projects,
        @DefaultValue("5s") Duration timeout,
        @DefaultValue("15m") Duration recheck)
        implements EarlySetting {

    private static final Duration TIMEOUT_MIN = Duration.ofMillis(100);
    private static final Duration TIMEOUT_MAX = Duration.ofMinutes(1);
    private static final Duration RECHECK_MIN = Duration.ofSeconds(1);
    private static final Duration RECHECK_MAX = Duration.ofHours(24);

    DirectorySettings {
        if (!url.isEmpty()) {
            checkAddress(url);
            demand(!base.isEmpty(), "base", "a DN below which users are");
            demand(userFilter.contains("{0}"), "user-filter", "a filter with {0} for the name");
            demand(
                    managerDn.isEmpty() == managerPasswordFile.isEmpty(),
                    "manager-password-file",
                    "a file, together with manager-dn, or neither,");
            demand(
                    timeout.compareTo(TIMEOUT_MIN) >= 0 && timeout.compareTo(TIMEOUT_MAX) <= 0,
                    "timeout",
                    "100ms to 1m");
            demand(recheck.compareTo(RECHECK_MIN) >= 0 && recheck.compareTo(RECHECK_MAX) <= 0, "recheck", "1s to 24h");
            rolesOfGroups(roles);
            mapping("projects", projects);
            password(managerPasswordFile);
        }
    }

    boolean given() {
        return !url.isEmpty();
    }

    URI address() {
        return URI.create(url);
    }

    boolean overTls() {
        return url.startsWith("ldaps:");
    }

    /** Only to this machine itself, and where no certificates are given, passwords go in the clear. */
    boolean startsTls() throws UnknownHostException {
        return !overTls()
                && (!caFile.isEmpty()
                        || !InetAddress.getByName(address().getHost()).isLoopbackAddress());
    }

    String managerPassword() {
        return password(managerPasswordFile);
    }

    /** What groups give, by their cn in lower case. */
    Map<String, Set<Role>> rolesOfGroups() {
        return rolesOfGroups(roles);
    }

    /** What groups give, by their cn in lower case. */
    Map<String, List<String>> projectsOfGroups() {
        return mapping("projects", projects);
    }

    private static String password(String file) {
        return file.isEmpty() ? "" : Settings.secretIn("dozo.ldap.manager-password-file", file);
    }

    private static void checkAddress(String url) {
        try {
            URI address = URI.create(url);
            demand(
                    ("ldap".equals(address.getScheme()) || "ldaps".equals(address.getScheme()))
                            && address.getHost() != null,
                    "url",
                    "ldaps://host:636 or ldap://host:389");
        } catch (IllegalArgumentException e) {
            demand(false, "url", "ldaps://host:636 or ldap://host:389");
        }
    }

    private static Map<String, Set<Role>> rolesOfGroups(String text) {
        Map<String, Set<Role>> roles = new LinkedHashMap<>();
        mapping("roles", text).forEach((group, names) -> {
            try {
                roles.put(group, Role.of(names));
            } catch (Refusal noRole) {
                demand(false, "roles", "group=ROLE,ROLE;group=ROLE with LAB_MANAGER, OPERATOR, AUDITOR, ADMIN");
            }
        });
        return roles;
    }

    private static Map<String, List<String>> mapping(String key, String text) {
        Map<String, List<String>> mapping = new LinkedHashMap<>();
        for (String line : text.split(";", -1)) {
            if (!line.isBlank()) {
                int at = line.lastIndexOf('=');
                demand(at > 0 && at < line.length() - 1, key, "group=WORD,WORD;group=WORD");
                mapping.put(
                        line.substring(0, at).strip().toLowerCase(Locale.ROOT),
                        Arrays.stream(line.substring(at + 1).split(",", -1))
                                .map(String::strip)
                                .toList());
            }
        }
        return mapping;
    }

    private static void demand(boolean met, String key, String allowed) {
        if (!met) {
            throw new StartFailure(
                    StartFailure.CONFIGURATION,
                    "dozo.ldap.%s (DOZO_LDAP_%s) is wrong or missing: %s is allowed"
                            .formatted(key, key.replace('-', '_').toUpperCase(Locale.ROOT), allowed));
        }
    }
}
