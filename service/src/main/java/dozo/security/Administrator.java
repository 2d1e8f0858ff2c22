package dozo.security;

import dozo.people.Users;
import dozo.start.SecretFile;
import dozo.start.Settings;
import dozo.start.StartFailure;
import java.io.IOException;
import java.nio.file.Path;
import org.springframework.stereotype.Component;

/** The user of the first start and the file with the password. Every start sets the password from this file. */
@Component
public class Administrator {

    private static final int PASSWORD_BYTES = 18;

    private final Path file;

    Administrator(Settings settings, AdministratorSettings administrator) throws IOException {
        String given = administrator.passwordFile();
        file = given.isEmpty()
                ? SecretFile.made(settings.workFolder(), "admin-password", PASSWORD_BYTES)
                : Path.of(given).toAbsolutePath();
    }

    public String name() {
        return Users.ADMINISTRATOR;
    }

    public Path passwordFile() {
        return file;
    }

    String password() {
        try {
            return SecretFile.read(file.toString());
        } catch (IllegalArgumentException e) {
            throw new StartFailure(
                    StartFailure.CONFIGURATION, "the password of %s %s".formatted(name(), e.getMessage()), e);
        }
    }
}
