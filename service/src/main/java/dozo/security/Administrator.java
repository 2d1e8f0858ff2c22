package dozo.security;

import dozo.start.SecretFile;
import dozo.start.Settings;
import dozo.start.StartFailure;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Base64;
import org.springframework.stereotype.Component;

/** The user of the first start, and where the password lies. What the file says holds from every start on. */
@Component
public class Administrator {

    private static final int PASSWORD_BYTES = 18;

    private final Path file;

    Administrator(Settings settings, AdministratorSettings administrator) throws IOException {
        String given = administrator.passwordFile();
        file = given.isEmpty() ? made(settings.workFolder()) : Path.of(given).toAbsolutePath();
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
