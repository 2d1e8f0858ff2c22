package dozo.security;

import dozo.people.Users;
import dozo.start.SecretFile;
import dozo.start.Settings;
import dozo.start.StartFailure;
import java.io.IOException;
import java.nio.file.Path;
import org.springframework.stereotype.Component;

/** The user of the first start, and where the password lies. What the file says holds from every start on. */
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

    /** Under which name to log in. */
    public String name() {
        return Users.ADMINISTRATOR;
    }

    /** Where the password lies. */
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
