package dozo.security;

import dozo.start.EarlySetting;
import dozo.start.Settings;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Base64;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** The user of the first start, and where the password lies. What the file says holds from every start on. */
@Component
class Administrator implements EarlySetting {

    private static final Logger LOG = LoggerFactory.getLogger(Administrator.class);
    private static final int PASSWORD_BYTES = 18;

    private final String password;

    Administrator(Settings settings, @Value("${dozo.admin.password-file}") String passwordFile) throws IOException {
        if (passwordFile.isEmpty()) {
            Path file = made(settings.workFolder());
            LOG.info("log in as {} with the password in {}", Users.ADMINISTRATOR, file);
            password = Settings.secretIn("dozo.admin.password-file", file.toString());
        } else {
            password = Settings.secretIn("dozo.admin.password-file (DOZO_ADMIN_PASSWORD_FILE)", passwordFile);
        }
    }

    String password() {
        return password;
    }

    /** A password file that only we can read, written at the first start. */
    private static Path made(Path work) throws IOException {
        FileAttribute<?> fileIsOurs =
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        Path file = work.resolve("admin-password");
        if (Files.exists(file)) {
            return file;
        }
        byte[] secret = new byte[PASSWORD_BYTES];
        new SecureRandom().nextBytes(secret);
        // Under its name only when it is whole: a start that is killed here leaves no empty password.
        Path fresh = Files.createTempFile(work, ".admin-password", "", fileIsOurs);
        Files.writeString(fresh, Base64.getUrlEncoder().encodeToString(secret) + "\n");
        try {
            Files.move(fresh, file);
        } catch (FileAlreadyExistsException other) {
            Files.delete(fresh);
        }
        return file;
    }
}
