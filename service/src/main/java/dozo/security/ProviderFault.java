package dozo.security;

import java.util.Optional;

/**
 * What is wrong with the provider of single sign-on.
 *
 * @param message of the provider, or of Java; without secrets
 */
public record ProviderFault(Kind kind, String message) {

    /** Where it fails. */
    public enum Kind {
        /** There is no connection, or no response within the limit. */
        AWAY,
        /** The certificate is not trusted. */
        TLS,
        /** It does not describe itself as the settings expect. */
        ISSUER,
        /** It refuses the client's name or secret. */
        CLIENT
    }

    /** Looks at the provider of these settings, which must name one. Empty: nothing is wrong. */
    public static Optional<ProviderFault> of(OidcSettings settings, String serviceUrl) {
        return new Provider(settings, serviceUrl).fault();
    }
}
