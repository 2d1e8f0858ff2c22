package dozo.security;

import dozo.db.ActiveService;
import dozo.people.Users;
import dozo.start.SecretFile;
import dozo.start.Settings;
import dozo.start.StartFailure;
import java.io.IOException;
import java.nio.file.Path;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.stereotype.Component;

/**
 * The user of the first start and the file with the password. Every start of an active service sets the password from
 * this file, before the first request.
 */
@Component
public class Administrator implements SmartInitializingSingleton {

    private static final int PASSWORD_BYTES = 18;

    private final Path file;
    private final Users users;
    private final ActiveService active;

    Administrator(Settings settings, AdministratorSettings administrator, Users users, ActiveService active)
            throws IOException {
        String given = administrator.passwordFile();
        this.file = given.isEmpty()
                ? settings.workFolder().resolve("admin-password")
                : Path.of(given).toAbsolutePath();
        if (given.isEmpty() && active.isHere()) {
            SecretFile.made(settings.workFolder(), "admin-password", PASSWORD_BYTES);
        }
        this.users = users;
        this.active = active;
    }

    public String name() {
        return Users.ADMINISTRATOR;
    }

    public Path passwordFile() {
        return file;
    }

    /** NB: a service that stands by may have another file, and must not change the password. */
    @Override
    public void afterSingletonsInstantiated() {
        if (active.isHere()) {
            users.keepAdministrator(password());
        }
    }

    private String password() {
        try {
            return SecretFile.read(file.toString());
        } catch (IllegalArgumentException e) {
            throw new StartFailure(
                    StartFailure.CONFIGURATION, "the password of %s %s".formatted(name(), e.getMessage()), e);
        }
    }
}
