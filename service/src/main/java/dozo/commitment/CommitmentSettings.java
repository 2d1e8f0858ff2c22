package dozo.commitment;

import dozo.setting.Setting;
import dozo.setting.WrongSetting;
import dozo.start.TlsPair;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** Who may ask by DICOM Storage Commitment which images are safe, and where. */
@ConfigurationProperties("dozo.commitment")
public record CommitmentSettings(
        @Setting(
                value = "the port on which the service answers DICOM Storage Commitment; 0: it does not",
                min = "0",
                max = "65535")
        @DefaultValue("0")
        int port,

        @Setting(
                value = "the address on which it answers; 0.0.0.0: all",
                allowed = "an address or name of this machine",
                agree = Setting.Agree.NOBODY)
        @DefaultValue("127.0.0.1")
        String address,

        @Setting(
                value = "the service's application entity title",
                allowed = "1 to 16 visible ASCII characters without comma, equals sign and backslash")
        @DefaultValue("DOZO")
        String aeTitle,

        @Setting(
                value = "the scanners and gateways that may ask, and where they expect reports",
                allowed = "TITLE=host:port, separated by commas",
                empty = "none")
        @DefaultValue("")
        String callers,

        @Setting(
                value =
                        "how long a report waits for images that are not safe yet. It should cover a night and the time until it",
                min = "0s",
                max = "14d")
        @DefaultValue("36h")
        Duration patience,

        @Setting(
                value =
                        "the certificate for TLS on the port, and after it those of its issuers. New files are used by new connections",
                allowed = "a file with valid certificates in PEM format, the service's own first",
                empty = "without TLS",
                agree = Setting.Agree.NOBODY)
        @DefaultValue("")
        String tlsCertificateFile,

        @Setting(
                value = "the private key of the certificate",
                allowed = "a file with its private key in PEM format, unencrypted, writable only by its owner",
                empty = "required with `DOZO_COMMITMENT_TLS_CERTIFICATE_FILE`",
                agree = Setting.Agree.NOBODY)
        @DefaultValue("")
        String tlsKeyFile,

        @Setting(
                value =
                        "the certificates of the callers, or of their issuers. Others are refused, and reports are sent over TLS, too",
                allowed = "a file with certificates in PEM format; requires `DOZO_COMMITMENT_TLS_CERTIFICATE_FILE`",
                empty = "callers need no certificate, and reports are sent without TLS",
                agree = Setting.Agree.NOBODY)
        @DefaultValue("")
        String tlsTrustFile) {

    public CommitmentSettings {
        WrongSetting.unless(address.matches("[0-9a-zA-Z.:%_-]{1,253}"), "address");
        WrongSetting.unless(aeTitle.matches(Caller.TITLE), "aeTitle");
        WrongSetting.unless(areCallers(callers), "callers");
        TlsPair.check(tlsCertificateFile, tlsKeyFile);
        if (!tlsTrustFile.isEmpty()) {
            TlsPair.trusted(tlsTrustFile, "tlsTrustFile");
            if (tlsKeyFile.isEmpty()) {
                throw new WrongSetting("tlsTrustFile", "is set, but the certificate's file is not");
            }
        }
    }

    /** Returns whether the port needs TLS. */
    boolean isTls() {
        return !tlsKeyFile.isEmpty();
    }

    /** Returns whether both sides need a certificate. */
    boolean isMutual() {
        return !tlsTrustFile.isEmpty();
    }

    private static boolean areCallers(String text) {
        try {
            parsed(text);
            return true;
        } catch (IllegalArgumentException | IllegalStateException e) {
            return false;
        }
    }

    private static Map<String, Caller> parsed(String text) {
        return Arrays.stream(text.split(",", -1))
                .map(String::strip)
                .filter(each -> !each.isEmpty())
                .map(Caller::parse)
                .collect(Collectors.toMap(Caller::title, each -> each));
    }

    /** Returns the callers by their titles. */
    Map<String, Caller> known() {
        return parsed(callers);
    }
}
