package dozo.doctor;

import dozo.db.EmbeddedDatabase;
import dozo.file.Size;
import dozo.start.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** {@code DOZO_WORK}: keys, the administrator's password, the embedded database. */
final class WorkFolderCheck {

    private static final String ABOUT = "work folder";

    private static final long FREE_BYTES_FOR_DATABASE = 5_000_000_000L;

    private static final Set<PosixFilePermission> OF_OTHERS = Set.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE);

    private WorkFolderCheck() {}

    static List<Result> look(Settings settings, Installation installation) throws IOException {
        Path folder = settings.workFolderOrNone();
        if (Files.notExists(folder)) {
            return List.of(Result.ok(ABOUT, "%s does not exist yet; the first start creates it".formatted(folder)));
        }
        List<Result> results = new ArrayList<>();
        String owner = Files.getOwner(folder).getName();
        String user = System.getProperty("user.name");
        if (!owner.equals(user)) {
            results.add(Result.warning(
                    ABOUT,
                    "%s belongs to %s, but this is %s, for whom files, sources and keys may look different"
                            .formatted(folder, owner, user),
                    "Run dozo doctor as the user of the service: sudo -u %s.".formatted(owner)));
        }
        if (Files.getPosixFilePermissions(folder).stream().anyMatch(OF_OTHERS::contains)) {
            results.add(Result.warning(
                    ABOUT, "other users can read or write %s".formatted(folder), "Run chmod 700 on it, as its owner."));
        }
        results.add(space(folder, settings.db().url().isEmpty()));
        return results;
    }

    private static Result space(Path folder, boolean withDatabase) throws IOException {
        try {
            Files.delete(Files.createTempFile(folder, ".doctor", ""));
        } catch (IOException e) {
            return Result.broken(
                    ABOUT,
                    "cannot write in %s: %s".formatted(folder, e.getMessage()),
                    "Give the folder to the user of the service, mount its file system read-write, or free some space.");
        }
        long free = Files.getFileStore(folder).getUsableSpace();
        String message = "%s, %s free".formatted(folder, Size.text(free));
        if (free < EmbeddedDatabase.FREE_BYTES_MIN) {
            return Result.broken(ABOUT, message, "Free some space there, or move the folder and set DOZO_WORK.");
        }
        return withDatabase && free < FREE_BYTES_FOR_DATABASE
                ? Result.warning(
                        ABOUT,
                        message + ", which the embedded database may soon fill",
                        "Free some space there, or set DOZO_DB_URL to a database of your own.")
                : Result.ok(ABOUT, message);
    }
}
