package dozo.remote;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;

/** Files that can be listed, but not read; for root, to whom nothing is closed, as on a failing disk. */
public final class Unreadable {

    private Unreadable() {}

    /** Makes a file unreadable until it is closed. */
    public static AutoCloseable make(Path file) throws Exception {
        Set<PosixFilePermission> before = Files.getPosixFilePermissions(file);
        Files.setPosixFilePermissions(file, Set.of());
        if (!Files.isReadable(file)) {
            return () -> Files.setPosixFilePermissions(file, before);
        }
        Files.setPosixFilePermissions(file, before);
        // The memory of a process cannot be read at 0: an I/O error.
        Tmpfs.mount("--bind", "/proc/%d/mem".formatted(ProcessHandle.current().pid()), file.toString());
        return () -> Tmpfs.unmount(file);
    }
}
