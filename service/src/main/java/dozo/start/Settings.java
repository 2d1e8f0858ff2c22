package dozo.start;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.env.Environment;

/**
 * Where the service keeps its state.
 *
 * @param work a folder of its own
 * @param db the database
 */
@ConfigurationProperties("dozo")
public record Settings(
        @DefaultValue("dozo-work") String work,
        @DefaultValue Db db) {

    /**
     * The database.
     *
     * @param url empty: an embedded PostgreSQL below the work folder
     * @param passwordFile a file with the password, instead of the password
     */
    public record Db(
            @DefaultValue("") String url,
            @DefaultValue("") String user,
            @DefaultValue("") String password,
            @DefaultValue("") String passwordFile) {

        public Db {
            if (!url.isEmpty() && !url.startsWith("jdbc:postgresql:")) {
                throw new StartFailure(
                        StartFailure.CONFIGURATION,
                        "dozo.db.url (DOZO_DB_URL) is no address of a PostgreSQL: jdbc:postgresql://host:port/database"
                                + " is allowed, or nothing for the embedded one");
            }
            if (url.isEmpty() && !(user + password + passwordFile).isEmpty()) {
                throw new StartFailure(
                        StartFailure.CONFIGURATION,
                        "dozo.db.url (DOZO_DB_URL) is missing, though a user or a password is given:"
                                + " give all of them, or none for the embedded database");
            }
            if (!password.isEmpty() && !passwordFile.isEmpty()) {
                throw new StartFailure(
                        StartFailure.CONFIGURATION,
                        "dozo.db.password (DOZO_DB_PASSWORD) and dozo.db.password-file (DOZO_DB_PASSWORD_FILE)"
                                + " are both given: one of them is allowed");
            }
        }

        String secret() {
            return passwordFile.isEmpty() ? password : secretIn("dozo.db.password-file", passwordFile);
        }

        /** Without what could be secret. */
        @Override
        public String toString() {
            return url.isEmpty() ? "the embedded database" : url.replaceFirst("\\?.*", "");
        }
    }

    /** The work folder; made if it is missing, for us alone. */
    public Path workFolder() {
        try {
            Path folder = Path.of(work).toAbsolutePath().normalize();
            Files.createDirectories(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            return folder;
        } catch (IOException | InvalidPathException e) {
            throw new StartFailure(
                    StartFailure.CONFIGURATION,
                    "dozo.work (DOZO_WORK) is %s, which is no folder and cannot be made: one that we can write to is allowed"
                            .formatted(work),
                    e);
        }
    }

    /** The one line in a file that holds a secret, whose name the setting {@code key} gives. */
    public static String secretIn(String key, String file) {
        try {
            String secret = Files.readString(Path.of(file)).strip();
            if (secret.isEmpty() || secret.lines().count() != 1) {
                throw new StartFailure(
                        StartFailure.CONFIGURATION,
                        "%s names %s, which must hold one line, the password".formatted(key, file));
            }
            return secret;
        } catch (IOException | IllegalArgumentException e) {
            throw new StartFailure(
                    StartFailure.CONFIGURATION,
                    "%s names %s, which cannot be read: a file with the password is allowed".formatted(key, file),
                    e);
        }
    }

    /** Refuses a wrong port, which others ask for before our settings are read. */
    public static void checkPort(Environment environment) {
        String port = environment.getProperty("server.port", "");
        if (!port.matches("\\d{1,5}") || Integer.parseInt(port) > 65_535) {
            throw new StartFailure(
                    StartFailure.CONFIGURATION,
                    "server.port (DOZO_HTTP_PORT) is \"%s\": a whole number from 0 to 65535 is allowed"
                            .formatted(port));
        }
    }
}
