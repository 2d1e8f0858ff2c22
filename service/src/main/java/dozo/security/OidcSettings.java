package dozo.security;

import dozo.setting.Setting;
import dozo.setting.Setting.Agree;
import dozo.setting.Setting.Secret;
import dozo.setting.WrongSetting;
import dozo.start.SecretFile;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** The provider of OpenID Connect, for single sign-on to pages, in addition to other logins. */
@ConfigurationProperties("dozo.oidc")
public record OidcSettings(
        @Setting(
                value = "the provider of OpenID Connect for single sign-on to pages, exactly as it names itself",
                allowed = "https://host or https://host/path; http:// only for this machine itself",
                empty = "no single sign-on; the other settings of this section are ignored")
        @DefaultValue("")
        String issuer,

        @Setting(
                value = "certificates to trust instead of Java's",
                allowed = "a readable file with certificates in PEM format",
                empty = "Java's",
                agree = Agree.SERVICES_WHETHER_SET)
        @DefaultValue("")
        String caFile,

        @Setting(value = "Dozo's name at the provider", allowed = "a client ID", empty = "required with a provider")
        @DefaultValue("")
        String clientId,

        @Setting(
                value = "Dozo's secret at the provider; read at every login",
                allowed = SecretFile.ALLOWED,
                empty = "required with a provider",
                secret = Secret.IN_FILE)
        @DefaultValue("")
        String clientSecretFile,

        @Setting(
                value = "the provider's name on the button \"Log in with …\"",
                allowed = "up to 40 characters",
                empty = "the provider's host")
        @DefaultValue("")
        String label,

        @Setting(value = "the scopes to request", allowed = "words separated by spaces, with openid")
        @DefaultValue("openid profile")
        String scopes,

        @Setting(value = "the claim with the user's name", allowed = "a name") @DefaultValue("preferred_username")
        String nameClaim,

        @Setting(value = "the claim with the user's groups", allowed = "a name") @DefaultValue("groups")
        String groupsClaim,

        @Setting(value = "the roles of groups, by the name in the claim", allowed = Groups.ROLES, empty = "nothing")
        @DefaultValue("")
        String roles,

        @Setting(
                value = "the own projects of groups' members, by the name in the claim",
                allowed = Groups.PROJECTS,
                empty = "nothing")
        @DefaultValue("")
        String projects,

        @Setting(
                value = "the time limit of each response of the provider; a login needs up to four",
                min = "100ms",
                max = "1m")
        @DefaultValue("5s")
        Duration timeout,

        @Setting(
                value = "how long a user's tokens work after the last login; the provider cannot be asked about a user",
                min = "12h",
                max = "366d")
        @DefaultValue("30d")
        Duration loginAge) {

    private static final int LABEL_MAX = 40;

    public OidcSettings {
        if (!issuer.isEmpty()) {
            WrongSetting.unless(isSafe(issuer), "issuer");
            WrongSetting.unless(caFile.isEmpty() || Files.isReadable(Path.of(caFile)), "caFile");
            WrongSetting.unless(!clientId.isBlank(), "clientId");
            WrongSetting.unless(
                    !clientSecretFile.isEmpty(),
                    "clientSecretFile",
                    "is missing: the provider gives each client a secret");
            WrongSetting.unless(label.length() <= LABEL_MAX, "label");
            WrongSetting.unless(List.of(scopes.split(" ", -1)).contains("openid"), "scopes");
            WrongSetting.unless(!nameClaim.isBlank(), "nameClaim");
            WrongSetting.unless(!groupsClaim.isBlank(), "groupsClaim");
            var _ = Groups.in(roles, projects);
        }
    }

    /** Returns whether there is a provider. */
    public boolean given() {
        return !issuer.isEmpty();
    }

    /** Returns the provider's name for people. */
    String shown() {
        return label.isEmpty() ? URI.create(issuer).getHost() : label;
    }

    String clientSecret() {
        return SecretFile.read(clientSecretFile);
    }

    Groups groups() {
        return Groups.in(roles, projects);
    }

    /** Returns whether secrets may be sent to this address: over TLS, or within this machine. */
    static boolean isSafe(String address) {
        try {
            URI parsed = URI.create(address);
            String host = parsed.getHost();
            return host != null
                    && parsed.getUserInfo() == null
                    && parsed.getFragment() == null
                    && ("https".equals(parsed.getScheme())
                            || ("http".equals(parsed.getScheme())
                                    && List.of("localhost", "127.0.0.1", "[::1]")
                                            .contains(host)));
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
