package dozo.restore;

import static java.util.Objects.requireNonNull;

import dozo.copy.Restore;
import dozo.file.FilePath;
import dozo.registry.Refusal;
import dozo.source.OpenFolder;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** The folder that a restore fills, or a drill, whose folder is removed when it has ended. */
public final class TargetFolder {

    private static final Set<PosixFilePermission> OURS = PosixFilePermissions.fromString("rwx------");

    private static final String OWNER = "unix:uid";

    private static final Path OURSELVES = Path.of("/proc/self");

    private TargetFolder() {}

    /** Returns the failure with the folder's name instead of the path by which it is held open. */
    static IOException named(IOException e, OpenFolder folder, Path target) {
        return new IOException(
                String.valueOf(e.getMessage()).replace(folder.path().toString(), shown(target)), e);
    }

    /** Opens the folder, and creates it if it is missing; no link on its path is followed. */
    static OpenFolder opened(Path target, FileAttribute<?>... attributes) throws IOException {
        try (OpenFolder above = OpenFolder.open(requireNonNull(target.getParent()))) {
            Files.createDirectory(above.path().resolve(requireNonNull(target.getFileName())), attributes);
        } catch (FileAlreadyExistsException e) {
            // Its kind and content are checked once it is open.
        }
        return OpenFolder.open(target);
    }

    /**
     * Opens the folder for what is put aside, and creates it, for the service's user only, if it is missing.
     *
     * @throws Refusal if it belongs to another user
     */
    static OpenFolder openedAside(Path aside) throws IOException {
        OpenFolder opened = opened(aside, PosixFilePermissions.asFileAttribute(OURS));
        if (!isOurs(opened.path().resolve("."))) {
            opened.close();
            throw new Refusal("inPlace", "%s does not belong to the service's user", shown(aside));
        }
        return opened;
    }

    /** Removes what a restore in place no longer needs: temporary files, and the folder if nothing was put aside. Returns whether it is gone. */
    static boolean removedAside(Path aside) throws IOException {
        List<Path> inside;
        try (Stream<Path> names = Files.list(aside)) {
            inside = names.toList();
        } catch (NoSuchFileException neverMade) {
            return true;
        }
        boolean empty = true;
        for (Path each : inside) {
            if (String.valueOf(each.getFileName()).startsWith(Restore.PUT_ASIDE)) {
                empty = false;
            } else {
                remove(each);
            }
        }
        return empty && Files.deleteIfExists(aside);
    }

    /**
     * Returns why a folder must not be filled: it has other content, or another user could redirect what is written
     * into it.
     *
     * @param place the target, or the path of its open folder
     * @param begun whether a process that died may have filled it, partly or completely
     */
    static Optional<Refusal> unfit(Restore restore, Path target, Path place, boolean begun) throws IOException {
        boolean held = !place.equals(target);
        if (!held && !Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        if (!held && !Files.isDirectory(place, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.of(new Refusal("folder", "%s is not a folder", shown(target)));
        }
        if (!isOurs(place)) {
            return Optional.of(new Refusal(
                    "folder",
                    "%s does not belong to the service's user: choose a folder that does not exist yet",
                    shown(target)));
        }
        if (!begun && !restore.mayFill(place)) {
            return Optional.of(new Refusal(
                    "folder", "%s is not empty: choose a folder that is empty or does not exist yet", shown(target)));
        }
        return Optional.empty();
    }

    /** Returns whether a file or folder belongs to the service's user. */
    private static boolean isOurs(Path path) throws IOException {
        return Files.getAttribute(path, OWNER).equals(Files.getAttribute(OURSELVES, OWNER));
    }

    static String shown(Path path) {
        return FilePath.render(FilePath.rawText(path));
    }

    /**
     * Creates the folder of a drill, and the one above it if it is missing; both for the service's user only.
     *
     * @return its path without links
     * @throws Refusal if the folder above belongs to another user, who could exchange what is created in it
     */
    public static Path makeScratch(Path folder) throws IOException {
        Path above = requireNonNull(folder.getParent());
        if (!Files.exists(above)) {
            Files.createDirectories(above, PosixFilePermissions.asFileAttribute(OURS));
        }
        Path place = above.toRealPath();
        if (!isOurs(place)) {
            throw new Refusal(
                    "folder",
                    "%s does not belong to the service's user: set DOZO_DRILL_FOLDER to another folder, or change its owner",
                    shown(place));
        }
        return Files.createDirectory(
                place.resolve(requireNonNull(folder.getFileName())), PosixFilePermissions.asFileAttribute(OURS));
    }

    /** Removes the folder with all that is in it, whatever the modes of the restored folders; no link is followed. */
    public static void remove(Path folder) throws IOException {
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
