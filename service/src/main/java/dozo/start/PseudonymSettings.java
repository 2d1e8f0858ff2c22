package dozo.start;

import dozo.setting.Setting;
import dozo.setting.Setting.Secret;
import dozo.source.dicom.PseudonymousCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The key for subjects' codes. */
@ConfigurationProperties("dozo.pseudonym")
public record PseudonymSettings(
        @Setting(
                value = "the key that turns patient IDs into subject codes, at least 24 characters. Keep a copy: a"
                        + " different key changes every subject's code",
                allowed = SecretFile.ALLOWED,
                empty = "generated at the first start, in `pseudonym-key` in `DOZO_WORK`",
                secret = Secret.IN_FILE)
        @DefaultValue("")
        String keyFile) {

    private static final int MADE_KEY_BYTES = 32;

    @Configuration
    static class Made {

        @Bean
        PseudonymousCode pseudonymousCode(Settings settings, PseudonymSettings pseudonym) throws IOException {
            String file = pseudonym.keyFile.isEmpty()
                    ? SecretFile.made(settings.workFolder(), "pseudonym-key", MADE_KEY_BYTES)
                            .toString()
                    : pseudonym.keyFile;
            try {
                return new PseudonymousCode(SecretFile.read(file).getBytes(StandardCharsets.UTF_8));
            } catch (IllegalArgumentException e) {
                throw new StartFailure(
                        StartFailure.CONFIGURATION,
                        "the key of subjects' codes in %s %s".formatted(file, e.getMessage()),
                        e);
            }
        }
    }
}
