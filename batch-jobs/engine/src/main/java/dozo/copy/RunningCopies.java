package dozo.copy;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * Prevents this user from running the same copy twice at once on this machine: both would use the same temporary names,
 * and one could rename a file that the other has just begun. Also prevents two restores into one folder, whose content
 * would be mixed. Each copy locks a byte of its own in one file; the lock ends with the process, however that ends.
 */
final class RunningCopies {

    /** NB: never closed, because closing any channel of a file releases all locks that the process holds on it. */
    private static @Nullable FileChannel channel;

    private RunningCopies() {}

    /**
     * Returns the lock of this copy, held until it is closed.
     *
     * @param copy identifies it among all copies of this user
     * @throws IOException if the lock is held already, or the lock file cannot be written
     */
    static FileLock lock(String copy) throws IOException {
        return lock(copy, "the same copy is already running; wait for it or stop it");
    }

    /**
     * Returns the lock of a folder that a restore fills, held until it is closed: no other restore, also of something
     * else, may write to it meanwhile.
     *
     * @throws IOException if another restore holds it, or the lock file cannot be written
     */
    static FileLock lockFolder(Path folder) throws IOException {
        return lock(
                "restore into " + new String(FilePath.rawBytes(folder), StandardCharsets.ISO_8859_1),
                "another restore writes to %s; wait until it has ended, or stop it".formatted(folder));
    }

    private static synchronized FileLock lock(String copy, String held) throws IOException {
        MessageDigest digest = Digest.algorithm();
        digest.update(copy.getBytes(StandardCharsets.UTF_8));
        long number = ByteBuffer.wrap(digest.digest()).getLong() >>> 2;
        Path folder = UserCache.folder();
        FileLock lock;
        try {
            lock = open(folder).tryLock(number, 1, false);
        } catch (OverlappingFileLockException heldByThisProcess) {
            lock = null;
        } catch (IOException e) {
            throw new IOException(
                    "cannot write the lock file in %s; allow writing there, or set XDG_CACHE_HOME".formatted(folder),
                    e);
        }
        if (lock == null) {
            throw new IOException(held);
        }
        return lock;
    }

    private static FileChannel open(Path folder) throws IOException {
        FileChannel locks = channel;
        if (locks == null) {
            Files.createDirectories(folder);
            locks = FileChannel.open(
                    folder.resolve("running-copies"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            channel = locks;
        }
        return locks;
    }
}
