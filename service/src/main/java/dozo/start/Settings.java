package dozo.start;

import dozo.db.ActiveService;
import dozo.setting.Setting;
import dozo.setting.Setting.Agree;
import dozo.setting.Setting.Secret;
import dozo.setting.WrongSetting;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.function.Supplier;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** The work folder and the database of the service. */
@ConfigurationProperties("dozo")
public record Settings(
        @Setting(
                value =
                        "the folder for the embedded database, the generated password and key. Created if missing, for its owner only; give an"
                                + " existing one mode 0700 yourself",
                allowed = "a folder that the service can create or write to",
                agree = Agree.NOBODY)
        @DefaultValue("dozo-work")
        String work,

        @Setting(
                value =
                        "how long the active service, or a worker, may be without the database before another one takes over. All workers use the value of the active service",
                min = "3s",
                max = "10m",
                agree = Agree.NOBODY)
        @DefaultValue("30s")
        Duration lease,

        @DefaultValue Service service,

        @DefaultValue Db db) {

    public Settings {
        WrongSetting.unless(!work.isBlank() && canBeMade(work), "work");
    }

    private static boolean canBeMade(String folder) {
        try {
            Path there = Path.of(folder).toAbsolutePath().normalize();
            while (Files.notExists(there) && there.getParent() != null) {
                there = there.getParent();
            }
            return Files.isDirectory(there) && Files.isWritable(there);
        } catch (InvalidPathException e) {
            return false;
        }
    }

    /** How people and other services with the same database know this one. */
    public record Service(
            @Setting(
                    value = "the name of this service among those with the same database",
                    allowed = "1 to 100 letters, digits, dots, - and _",
                    empty = "the name of this machine",
                    agree = Agree.NOBODY)
            @DefaultValue("")
            String name,

            @Setting(
                    value =
                            "where people find this service in a browser. Services that stand by show it while this one is active",
                    allowed = "an address such as https://dozo-a.example.org",
                    empty = "only the name is shown",
                    agree = Agree.NOBODY)
            @DefaultValue("")
            String url) {

        public Service {
            WrongSetting.unless(name.isEmpty() || name.matches("[A-Za-z0-9._-]{1,100}"), "name");
            WrongSetting.unless(url.isEmpty() || url.matches("https?://[A-Za-z0-9._-]{1,253}(:[0-9]{1,5})?/?"), "url");
        }

        /** Returns the name of this service, also if none is set. */
        public String nameHere() {
            return name.isEmpty() ? ActiveService.machine() : name;
        }
    }

    public record Db(
            @Setting(
                    value = "the database; without one, neither user nor password may be given",
                    allowed = "jdbc:postgresql://host:port/database",
                    empty = "an embedded PostgreSQL below `DOZO_WORK`",
                    agree = Agree.NOBODY)
            @DefaultValue("")
            String url,

            @Setting(
                    value = "the database's user",
                    allowed = "a name",
                    empty = "not set",
                    agree = Agree.SERVICES_AND_WORKERS)
            @DefaultValue("")
            String user,

            @Setting(
                    value = "the database's password; prefer the file; do not set both",
                    allowed = "a password",
                    empty = "not set",
                    secret = Secret.ITSELF,
                    agree = Agree.NOBODY)
            @DefaultValue("")
            String password,

            @Setting(
                    value = "the database's password",
                    allowed = SecretFile.ALLOWED,
                    empty = "not set",
                    secret = Secret.IN_FILE,
                    agree = Agree.NOBODY)
            @DefaultValue("")
            String passwordFile,

            @Setting(
                    value =
                            "the owner of the tables: the service creates and upgrades them as the owner, and logs in for everything else as the user, who then cannot change the ledger. Workers and commands do not need it",
                    allowed = "a name",
                    empty = "the user owns the tables")
            @DefaultValue("")
            String ownerUser,

            @Setting(
                    value = "the owner's password; prefer the file; do not set both",
                    allowed = "a password",
                    empty = "not set",
                    secret = Secret.ITSELF,
                    agree = Agree.NOBODY)
            @DefaultValue("")
            String ownerPassword,

            @Setting(
                    value = "the owner's password",
                    allowed = SecretFile.ALLOWED,
                    empty = "not set",
                    secret = Secret.IN_FILE,
                    agree = Agree.NOBODY)
            @DefaultValue("")
            String ownerPasswordFile,

            @Setting(
                    value = "how long a start waits for a database that does not answer yet",
                    min = "0s",
                    max = "1h",
                    agree = Agree.NOBODY)
            @DefaultValue("2m")
            Duration startWait,

            @Setting(
                    value =
                            "time limit of one statement of a request; after it the request is answered with 503. Nights have no such limit",
                    min = "1s",
                    max = "1h")
            @DefaultValue("1m")
            Duration requestLimit) {

        public Db {
            WrongSetting.unless(url.isEmpty() || (url.startsWith("jdbc:postgresql:") && isUnderstood(url)), "url");
            String ofOwner = ownerUser + ownerPassword + ownerPasswordFile;
            WrongSetting.unless(
                    !url.isEmpty() || (user + password + passwordFile + ofOwner).isEmpty(),
                    "url",
                    "is missing, but a user or password is set: set all of them, or none to use the embedded database");
            WrongSetting.unless(
                    password.isEmpty() || passwordFile.isEmpty(),
                    "password",
                    "and the password file are both set: set only one");
            WrongSetting.unless(
                    ownerPassword.isEmpty() || ownerPasswordFile.isEmpty(),
                    "ownerPassword",
                    "and the password file are both set: set only one");
            WrongSetting.unless(
                    !ownerUser.isEmpty() || ofOwner.isEmpty(),
                    "ownerUser",
                    "is missing, but its password is set: set both, or none");
            WrongSetting.unless(
                    ownerUser.isEmpty() || !user.isEmpty(),
                    "user",
                    "is missing, but an owner is set: set both, or only the user");
            WrongSetting.unless(
                    ownerUser.isEmpty() || !ownerUser.equals(user),
                    "ownerUser",
                    "is the user as well: expected another role, or no owner if the user owns the tables");
        }

        private static boolean isUnderstood(String url) {
            try {
                new PGSimpleDataSource().setUrl(url);
                return true;
            } catch (IllegalArgumentException e) {
                return false;
            }
        }

        Supplier<String> secret() {
            return passwordFile.isEmpty() ? () -> password : SecretFile.followed(passwordFile);
        }

        Supplier<String> ownerSecret() {
            return ownerPasswordFile.isEmpty() ? () -> ownerPassword : SecretFile.followed(ownerPasswordFile);
        }

        /** Returns the address without anything that may be secret. */
        @Override
        public String toString() {
            return url.isEmpty() ? "the embedded database" : url.replaceFirst("\\?.*", "");
        }
    }

    /**
     * Returns whether a text is an address with a host.
     *
     * @param schemes the schemes that it may have, as a regular expression
     */
    public static boolean isAddress(String text, String schemes) {
        try {
            URI address = URI.create(text);
            return address.getHost() != null
                    && String.valueOf(address.getScheme()).matches(schemes);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Returns the work folder, which may not exist yet. */
    public Path workFolderOrNone() {
        return Path.of(work).toAbsolutePath().normalize();
    }

    /** Returns whether an embedded database has been created. */
    public boolean hasEmbedded() {
        return Files.exists(workFolderOrNone().resolve(DatabaseLogin.EMBEDDED));
    }

    /** Returns the folder of the embedded database, which may not exist yet, in the work folder, which is created. */
    public Path embedded() {
        return workFolder().resolve(DatabaseLogin.EMBEDDED);
    }

    /** Returns the work folder. Creates it, for its owner only, if it is missing. */
    public Path workFolder() {
        try {
            Path folder = workFolderOrNone();
            Files.createDirectories(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            return folder;
        } catch (IOException | InvalidPathException e) {
            throw new StartFailure(
                    StartFailure.CONFIGURATION,
                    "dozo.work (DOZO_WORK) is %s, which is not a folder and cannot be created: expected a folder that the service can write to"
                            .formatted(work),
                    e);
        }
    }
}
