package dozo.source;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Writes a file system to its disk, many files with one call ({@code syncfs}): a sync for each of a thousand small files takes longer
 * than the files. Open it before anything is written: it reports the failed writes since then, also those of others.
 */
public final class FileSystemSync implements AutoCloseable {

    private static final int MAJOR = 5;

    /** Linux 5.8 is the first version whose {@code syncfs} reports failed writes (syncfs(2)). */
    private static final int MINOR = 8;

    private final int opened;

    /** A thread that may block: a call from a virtual thread would keep all others waiting. */
    private final ExecutorService thread = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("sync").factory());

    /** A sync that has not begun: it serves all who wait for it. */
    private @Nullable Future<?> next;

    private FileSystemSync(int opened) {
        this.opened = opened;
    }

    /**
     * Opens the file system of a folder. Empty: this system has no such call that reports failed writes; each file must be synced by
     * itself.
     */
    public static Optional<FileSystemSync> open(Path folder) throws IOException {
        if (!Kernel.isHere() || !reportsFailures(System.getProperty("os.version", ""))) {
            return Optional.empty();
        }
        byte[] absolute = FilePath.rawBytes(folder.toAbsolutePath());
        return Optional.of(new FileSystemSync(OpenFile.call(
                kernel -> OpenFile.checked(kernel.openToSync(absolute), FilePath.between(OpenFile.TOP, folder)))));
    }

    static boolean reportsFailures(String version) {
        String[] parts = version.split("[^0-9]", 3);
        try {
            int major = Integer.parseInt(parts[0]);
            return major > MAJOR || (major == MAJOR && Integer.parseInt(parts[1]) >= MINOR);
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            return false;
        }
    }

    /** Returns when everything written so far is on the disk. */
    public void sync() throws IOException, InterruptedException {
        try {
            next().get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failed) {
                throw new IOException(String.valueOf(failed.getMessage()), failed);
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    private synchronized Future<?> next() {
        Future<?> waiting = next;
        if (waiting == null) {
            waiting = thread.submit(this::syncNow);
            next = waiting;
        }
        return waiting;
    }

    private Void syncNow() throws IOException {
        synchronized (this) {
            next = null;
        }
        OpenFile.call(kernel -> Errno.checked(kernel.syncFileSystem(opened), FilePath.ROOT));
        return null;
    }

    @Override
    public void close() {
        // Waits for a sync in progress: its descriptor must not be closed, and reused, meanwhile.
        thread.close();
        OpenFile.close(opened);
    }
}
