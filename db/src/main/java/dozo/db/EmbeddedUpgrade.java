package dozo.db;

import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/**
 * The way of an embedded database to this program's major version of PostgreSQL, and back. No service can use the folder meanwhile. The
 * data in use is not changed: data for the later version is made beside it, and takes its place when it is complete (ADR 0103).
 */
public final class EmbeddedUpgrade implements AutoCloseable {

    private final DataFolders folders;
    private final Path next;
    private final FileChannel lock;

    private EmbeddedUpgrade(DataFolders folders, FileChannel lock) {
        this.folders = folders;
        this.next = folders.upgrade().resolve("data");
        this.lock = lock;
    }

    /**
     * Takes the folder of an embedded database.
     *
     * @throws IOException if a service uses it, for example
     */
    public static EmbeddedUpgrade of(Path folder) throws IOException {
        DataFolders folders = new DataFolders(folder.toAbsolutePath());
        FileChannel lock = EmbeddedDatabase.lock(folders);
        try {
            folders.settle();
            return new EmbeddedUpgrade(folders, lock);
        } catch (IOException | RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    /** Returns the major version of PostgreSQL of the data in use. */
    public int major() throws IOException {
        return DataFolders.major(folders.current());
    }

    /** Returns the major version of {@link #next()}. */
    public int nextMajor() throws IOException {
        return DataFolders.major(next);
    }

    /** Starts a server of this program's version with new data, after what an interrupted upgrade has left is removed. */
    public EmbeddedDatabase next() throws IOException {
        discard();
        Files.createDirectories(rows());
        return EmbeddedDatabase.on(folders, next, true, DefaultPostgresBinaryResolver.INSTANCE, () -> {});
    }

    /** Returns a folder for the rows on their way; {@link #discard()} removes it. */
    public Path rows() {
        return folders.upgrade().resolve("rows");
    }

    /** Starts the server of the data in use. */
    public KeptServer inUse() throws IOException {
        return KeptServer.start(folders, folders.current());
    }

    /** Puts the new data in use. Call {@link #discard()} afterwards. Returns where the data is now that was in use before. */
    public Path complete(Instant now) throws IOException {
        return exchanged(next, now);
    }

    /** Returns the data that was in use before the last upgrade, if it was not deleted. */
    public Optional<Path> earlier() throws IOException {
        return folders.earlier();
    }

    /** Returns the major version of such data. */
    public int majorOf(Path earlier) throws IOException {
        return DataFolders.major(earlier);
    }

    /** Starts the server of data that was in use before. */
    public KeptServer server(Path earlier) throws IOException {
        return KeptServer.start(folders, earlier);
    }

    /** Puts data in use that was in use before. Returns where the data is now that was in use until now. */
    public Path back(Path earlier, Instant now) throws IOException {
        return exchanged(earlier, now);
    }

    private Path exchanged(Path in, Instant now) throws IOException {
        // NB: the library does not say if a server did not stop.
        stop(in);
        stop(folders.current());
        return folders.exchange(in, now);
    }

    private static void stop(Path data) throws IOException {
        try {
            ServerProcesses.stopLeftBehind(data);
        } catch (InterruptedException e) {
            throw ServerProcesses.interrupted(e);
        }
    }

    /** Removes what an upgrade has made besides the data in use; not what an exchange that failed halfway needs. */
    public void discard() throws IOException {
        if (folders.exchanging()) {
            return;
        }
        if (Files.exists(next)) {
            stop(next);
        }
        DataFolders.remove(folders.upgrade());
    }

    /** Lets others use the folder. */
    @Override
    public void close() throws IOException {
        lock.close();
    }
}
