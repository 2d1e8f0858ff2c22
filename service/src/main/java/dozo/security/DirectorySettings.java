package dozo.security;

import dozo.setting.Setting;
import dozo.setting.Setting.Agree;
import dozo.setting.Setting.Secret;
import dozo.setting.WrongSetting;
import dozo.start.SecretFile;
import dozo.start.Settings;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** The LDAP directory of users, in addition to the local ones. */
@ConfigurationProperties("dozo.ldap")
public record DirectorySettings(
        @Setting(
                value = "the directory of users, in addition to local ones; `ldap://` uses StartTLS",
                allowed = "ldaps://host:636 or ldap://host:389",
                empty = "only local users; the other settings of this section are ignored")
        @DefaultValue("")
        String url,

        @Setting(
                value = "certificates to trust instead of Java's",
                allowed = "a readable file with certificates in PEM format",
                empty = "Java's",
                agree = Agree.SERVICES_WHETHER_SET)
        @DefaultValue("")
        String caFile,

        @Setting(value = "the base DN of the search for users", allowed = "a DN", empty = "required with a directory")
        @DefaultValue("")
        String base,

        @Setting(value = "finds a user", allowed = "a filter with {0} for the name") @DefaultValue("(uid={0})")
        String userFilter,

        @Setting(value = "the base DN of the search for groups", allowed = "a DN", empty = "the base") @DefaultValue("")
        String groupBase,

        @Setting(value = "the DN of the user that searches", allowed = "a DN", empty = "anonymous search")
        @DefaultValue("")
        String managerDn,

        @Setting(
                value = "the password of the user that searches",
                allowed = "a file whose only line is the secret, writable only by its owner",
                empty = "required with `DOZO_LDAP_MANAGER_DN`",
                secret = Secret.IN_FILE)
        @DefaultValue("")
        String managerPasswordFile,

        @Setting(value = "the roles of groups, by the group's `cn`", allowed = Groups.ROLES, empty = "nothing")
        @DefaultValue("")
        String roles,

        @Setting(
                value = "the own projects of groups' members, by the group's `cn`",
                allowed = Groups.PROJECTS,
                empty = "nothing")
        @DefaultValue("")
        String projects,

        @Setting(
                value = "the time limit of each response of the directory; a login needs up to seven",
                min = "100ms",
                max = "1m")
        @DefaultValue("5s")
        Duration timeout,

        @Setting(value = "the maximum age of what the directory said about a user", min = "1s", max = "24h")
        @DefaultValue("15m")
        Duration recheck) {

    public DirectorySettings {
        if (!url.isEmpty()) {
            WrongSetting.unless(Settings.isAddress(url, "ldaps?"), "url");
            WrongSetting.unless(caFile.isEmpty() || Files.isReadable(Path.of(caFile)), "caFile");
            WrongSetting.unless(!base.isEmpty(), "base");
            WrongSetting.unless(userFilter.contains("{0}"), "userFilter");
            WrongSetting.unless(
                    managerDn.isEmpty() == managerPasswordFile.isEmpty(),
                    managerDn.isEmpty() ? "managerDn" : "managerPasswordFile",
                    "is missing: set the DN and its password file together, or neither");
            var _ = Groups.in(roles, projects);
        }
    }

    /** Returns whether there is a directory. */
    public boolean given() {
        return !url.isEmpty();
    }

    URI address() {
        return URI.create(url);
    }

    boolean overTls() {
        return url.startsWith("ldaps:");
    }

    /**
     * Returns whether to use StartTLS. Passwords are sent in clear text only to this machine itself, and only if no
     * certificates are configured.
     */
    boolean startsTls() throws UnknownHostException {
        return !overTls()
                && (!caFile.isEmpty()
                        || !InetAddress.getByName(address().getHost()).isLoopbackAddress());
    }

    String managerPassword() {
        return managerPasswordFile.isEmpty() ? "" : SecretFile.read(managerPasswordFile);
    }

    /** Returns what groups give, by their cn. */
    Groups groups() {
        return Groups.in(roles, projects);
    }
}
