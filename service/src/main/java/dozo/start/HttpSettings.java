package dozo.start;

import dozo.setting.Setting;
import dozo.setting.Setting.Agree;
import dozo.setting.WrongSetting;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** The address and port on which the service listens, its TLS, its proxies and its host names. */
@ConfigurationProperties("dozo.http")
public record HttpSettings(
        @Setting(
                value =
                        "the address on which the service listens; plain HTTP unless `DOZO_HTTP_TLS_CERTIFICATE_FILE` is set",
                allowed = "an address or a name of this machine",
                agree = Agree.NOBODY)
        @DefaultValue("127.0.0.1")
        String address,

        @Setting(
                value = "the port on which the service listens; 0: any free port",
                min = "0",
                max = "65535",
                agree = Agree.NOBODY)
        @DefaultValue("8080")
        int port,

        @Setting(
                value =
                        "the certificate for TLS by the service itself, and after it those of its issuers. When the files"
                                + " change, the new pair is used within a minute; a wrong one is logged, and the earlier one stays",
                allowed = "a file with valid certificates in PEM format, the service's own first",
                empty = "plain HTTP",
                agree = Agree.NOBODY)
        @DefaultValue("")
        String tlsCertificateFile,

        @Setting(
                value = "the private key of the certificate",
                allowed = "a file with its private key in PEM format, unencrypted, writable only by its owner",
                empty = "required with `DOZO_HTTP_TLS_CERTIFICATE_FILE`",
                agree = Agree.NOBODY)
        @DefaultValue("")
        String tlsKeyFile,

        @Setting(
                value =
                        "the TLS proxies in front of the service. Only their `X-Forwarded-For`, `-Proto` and `-Prefix` are"
                                + " used; cookies are `Secure`, responses over TLS have HSTS, and login to pages"
                                + " requires TLS",
                allowed = "numeric addresses separated by commas",
                empty = "none",
                agree = Agree.NOBODY)
        @DefaultValue("")
        String tlsProxy,

        @Setting(
                value = "the names and addresses that clients use for the service, as browsers show them, such as"
                        + " `dozo.example.org`, in addition to this machine's own. Any other `Host` gets"
                        + " 421, except for `/actuator/health`",
                allowed = "names and addresses separated by commas, without ports",
                empty = "`DOZO_HTTP_ADDRESS`, loopback, and the address of this machine that a connection came to",
                agree = Agree.NOBODY)
        @DefaultValue("")
        String hosts) {

    private static final Pattern ADDRESS = Pattern.compile("[0-9a-fA-F.:]{2,45}");
    private static final Pattern NAME_OR_ADDRESS = Pattern.compile("[0-9a-zA-Z.:%_-]{1,253}");

    private static final Pattern HOST = Pattern.compile("[0-9a-zA-Z._-]{1,253}|\\[?[0-9a-fA-F:.]*:[0-9a-fA-F:.]*]?");

    public HttpSettings {
        WrongSetting.unless(NAME_OR_ADDRESS.matcher(address).matches(), "address");
        WrongSetting.unless(
                listed(tlsProxy).stream()
                        .allMatch(proxy -> ADDRESS.matcher(proxy).matches()),
                "tlsProxy");
        TlsPair.check(tlsCertificateFile, tlsKeyFile);
        WrongSetting.unless(
                listed(hosts).stream().allMatch(host -> HOST.matcher(host).matches()), "hosts");
    }

    /** Returns whether the service itself offers TLS, and only TLS. */
    public boolean isTls() {
        return !tlsKeyFile.isEmpty();
    }

    public List<String> proxies() {
        return listed(tlsProxy);
    }

    /** Returns the names and addresses under which clients reach the service, as configured. */
    public List<String> hostNames() {
        return listed(hosts);
    }

    private static List<String> listed(String text) {
        return Arrays.stream(text.split(",", -1))
                .map(String::strip)
                .filter(each -> !each.isEmpty())
                .toList();
    }
}
