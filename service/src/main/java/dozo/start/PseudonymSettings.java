package dozo.start;

import dozo.db.ActiveService;
import dozo.setting.Setting;
import dozo.setting.Setting.Agree;
import dozo.setting.Setting.Secret;
import dozo.source.dicom.PseudonymousCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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
                secret = Secret.IN_FILE,
                agree = Agree.NOBODY)
        @DefaultValue("")
        String keyFile) {

    static final String KEY = "pseudonym-key";

    private static final int MADE_KEY_BYTES = 32;

    /** Returns the file with the key, which may not exist yet. */
    Path file(Settings settings) {
        return keyFile.isEmpty() ? settings.workFolderOrNone().resolve(KEY) : Path.of(keyFile);
    }

    @Configuration
    static class Made {

        @Bean
        PseudonymousCode pseudonymousCode(Settings settings, PseudonymSettings pseudonym, ActiveService active)
                throws IOException {
            // A service that stands by has compared its key with that of the active one.
            if (pseudonym.keyFile.isEmpty() && active.isHere()) {
                SecretFile.made(settings.workFolder(), KEY, MADE_KEY_BYTES);
            }
            String file = pseudonym.file(settings).toString();
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
