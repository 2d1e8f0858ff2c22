package dozo.security;

import java.util.Optional;

/**
 * What is wrong with the directory of users.
 *
 * @param message of the directory, or of Java
 */
public record DirectoryFault(Kind kind, String message) {

    /** Where it fails. */
    public enum Kind {
        /** There is no connection, or no response within the limit. */
        AWAY,
        /** The connection cannot be secured, or the certificate is not trusted. */
        TLS,
        /** The user that searches is refused. */
        LOGIN,
        /** A base of the searches is not found. */
        BASE
    }

    /** Looks at the directory of these settings, which must name one. Empty: nothing is wrong. */
    public static Optional<DirectoryFault> of(DirectorySettings settings) {
        return new Directory(settings).fault();
    }
}
