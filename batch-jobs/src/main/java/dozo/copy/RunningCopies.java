package dozo.copy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Keeps this user from running the same copy twice at once on this machine: both would write under the same temporary names,
 * and one could name what the other has just begun. Each copy locks a byte of its own in one file, and the lock ends with the
 * process, however that ends.
 */
final class RunningCopies {

    /** NB: never closed, for closing any channel of a file gives up all locks that the process has in it. */
    private static @Nullable FileChannel channel;

    private RunningCopies() {}

    /**
     * The lock for copies with this number; whoever gets it gives it back.
     *
     * @throws IOException if there is one already
     */
    static synchronized FileLock lock(long number) throws IOException {
        FileChannel locks = channel;
        if (locks == null) {
            locks = open();
            channel = locks;
        }
        FileLock lock = null;
        try {
            lock = locks.tryLock(number >>> 2, 1, false);
        } catch (OverlappingFileLockException e) {
            // Held by this very process: the same answer.
        }
        if (lock == null) {
            throw new IOException("this very copy is running already: wait until it has ended, or end it");
        }
        return lock;
    }

    private static FileChannel open() throws IOException {
        String caches = System.getenv("XDG_CACHE_HOME");
        Path folder = (caches == null || caches.isEmpty()
                        ? Path.of(System.getProperty("user.home"), ".cache")
                        : Path.of(caches))
                .resolve("dozo");
        try {
            Files.createDirectories(folder);
            return FileChannel.open(
                    folder.resolve("running-copies"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new IOException(
                    "cannot note in %s which copies are running: let us write there, or set XDG_CACHE_HOME"
                            .formatted(folder),
                    e);
        }
    }
}
