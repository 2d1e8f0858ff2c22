package dozo.doctor;

import dozo.security.DirectoryFault;
import dozo.security.DirectoryFault.Kind;
import dozo.security.DirectorySettings;
import java.util.List;

/** The directory of users: the connection, TLS, the user that searches, and the bases of the searches. */
final class DirectoryCheck {

    private static final String ABOUT = "directory";

    private DirectoryCheck() {}

    static List<Result> look(DirectorySettings settings, Installation installation) {
        return settings.given() ? List.of(look(settings)) : List.of();
    }

    private static Result look(DirectorySettings settings) {
        try {
            return DirectoryFault.of(settings)
                    .map(fault -> Result.broken(
                            ABOUT,
                            "%s cannot be used, so its users cannot log in: %s"
                                    .formatted(settings.url(), fault.message()),
                            cure(fault.kind())))
                    .orElseGet(() -> Result.ok(ABOUT, "%s has %s".formatted(settings.url(), settings.base())));
        } catch (IllegalArgumentException e) {
            return Result.broken(
                    ABOUT,
                    "the password file %s".formatted(e.getMessage()),
                    "Correct DOZO_LDAP_MANAGER_PASSWORD_FILE, or the file's owner and mode.");
        }
    }

    private static String cure(Kind kind) {
        return switch (kind) {
            case AWAY ->
                "Start the directory, open its port to this machine, or correct DOZO_LDAP_URL; if it is slow, raise DOZO_LDAP_TIMEOUT.";
            case TLS ->
                "Set DOZO_LDAP_CA_FILE to the certificates of its authority, name the host in DOZO_LDAP_URL as its certificate does, and let it offer TLS.";
            case LOGIN -> "Correct DOZO_LDAP_MANAGER_DN and the password in DOZO_LDAP_MANAGER_PASSWORD_FILE.";
            case BASE ->
                "Correct DOZO_LDAP_BASE and DOZO_LDAP_GROUP_BASE, or let the user of DOZO_LDAP_MANAGER_DN read them.";
        };
    }
}
