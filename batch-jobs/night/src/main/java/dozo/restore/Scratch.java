package dozo.restore;

import dozo.registry.Refusal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/** The folder that a drill fills, and that is removed when the drill has ended. */
final class Scratch {

    private static final Set<PosixFilePermission> OURS = PosixFilePermissions.fromString("rwx------");

    private Scratch() {}

    /**
     * Creates the folder, and the one above it if it is missing; both for the service's user only.
     *
     * @return its path without links
     * @throws Refusal if the folder above belongs to another user, who could exchange what is created in it
     */
    static Path make(Path folder) throws IOException {
        Path above = Objects.requireNonNull(folder.getParent());
        if (!Files.exists(above)) {
            Files.createDirectories(above, PosixFilePermissions.asFileAttribute(OURS));
        }
        Path place = above.toRealPath();
        if (!RestoreQueue.isOurs(place)) {
            throw new Refusal(
                    "folder",
                    "%s does not belong to the service's user: set DOZO_DRILL_FOLDER to another folder, or change its owner",
                    RestoreQueue.shown(place));
        }
        return Files.createDirectory(
                place.resolve(Objects.requireNonNull(folder.getFileName())),
                PosixFilePermissions.asFileAttribute(OURS));
    }

    /** Removes the folder with all that is in it, whatever the modes of the restored folders; no link is followed. */
    static void remove(Path folder) throws IOException {
        if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            Files.setPosixFilePermissions(folder, OURS);
            List<Path> inside;
            try (Stream<Path> names = Files.list(folder)) {
                inside = names.toList();
            }
            for (Path each : inside) {
                remove(each);
            }
        }
        Files.deleteIfExists(folder);
    }
}
