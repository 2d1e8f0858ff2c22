package dozo.doctor;

import dozo.security.OidcSettings;
import dozo.security.ProviderFault;
import dozo.security.ProviderFault.Kind;
import dozo.start.Settings;
import java.util.List;

/** Single sign-on: the provider's description, its keys, and whether it accepts the client's secret. No user logs in. */
final class OidcCheck {

    private static final String ABOUT = "oidc";

    private OidcCheck() {}

    static List<Result> look(Installation installation) {
        String serviceUrl = installation
                .settings(Settings.class)
                .map(settings -> settings.service().url())
                .orElse("");
        return installation
                .settings(OidcSettings.class)
                .filter(OidcSettings::given)
                .map(settings -> List.of(look(settings, serviceUrl)))
                .orElse(List.of());
    }

    private static Result look(OidcSettings settings, String serviceUrl) {
        try {
            return ProviderFault.of(settings, serviceUrl)
                    .map(fault -> Result.broken(
                            ABOUT,
                            "%s cannot be used, so its users cannot log in: %s"
                                    .formatted(settings.issuer(), fault.message()),
                            cure(fault.kind())))
                    .orElseGet(() -> wellWith(settings, serviceUrl));
        } catch (IllegalArgumentException e) {
            return Result.broken(
                    ABOUT,
                    "the secret file %s".formatted(e.getMessage()),
                    "Correct DOZO_OIDC_CLIENT_SECRET_FILE, or the file's owner and mode.");
        }
    }

    private static Result wellWith(OidcSettings settings, String serviceUrl) {
        return serviceUrl.isEmpty()
                ? Result.hint(
                        ABOUT,
                        "%s accepts the client %s, but the address of the logins depends on the address in the browser"
                                .formatted(settings.issuer(), settings.clientId()),
                        "Set DOZO_SERVICE_URL to the address that is registered at the provider.")
                : Result.ok(ABOUT, "%s accepts the client %s".formatted(settings.issuer(), settings.clientId()));
    }

    private static String cure(Kind kind) {
        return switch (kind) {
            case AWAY ->
                "Start the provider, open its port to this machine, or correct DOZO_OIDC_ISSUER; if it is slow, raise DOZO_OIDC_TIMEOUT.";
            case TLS ->
                "Set DOZO_OIDC_CA_FILE to the certificates of its authority, and name the host in DOZO_OIDC_ISSUER as its certificate does.";
            case ISSUER -> "Set DOZO_OIDC_ISSUER to the issuer in the provider's /.well-known/openid-configuration.";
            case CLIENT -> "Correct DOZO_OIDC_CLIENT_ID and the secret in DOZO_OIDC_CLIENT_SECRET_FILE.";
        };
    }
}
