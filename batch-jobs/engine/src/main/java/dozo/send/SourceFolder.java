package dozo.send;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The folder that files are read from, created for a unit or a copy. Creating one does not access the file system:
 * links on the way to it are resolved when the first file is opened, by a thread that may hang.
 */
public final class SourceFolder {

    private final Path path;
    private final AtomicInteger slow = new AtomicInteger();
    private volatile @Nullable Path opened;

    private SourceFolder(Path path, @Nullable Path opened) {
        this.path = path;
        this.opened = opened;
    }

    /** Returns a folder that is opened by this path; links on the way are not followed. */
    public static SourceFolder of(Path path) {
        return new SourceFolder(path, path);
    }

    /** Returns a folder whose path is resolved, links included, when its first file is opened. */
    public static SourceFolder behindLinks(Path path) {
        return new SourceFolder(path, null);
    }

    /** Returns the path that identifies it. */
    public Path path() {
        return path;
    }

    /** Returns whether a reader has been waiting for one of its files for some time. */
    public boolean isSlow() {
        return slow.get() > 0;
    }

    /** Counts files with readers that have been waiting for some time. */
    void slow(int files) {
        slow.addAndGet(files);
    }

    /** Returns the path to open it by, without links; the original path if it does not exist. NB: this may hang. */
    Path opened() {
        Path known = opened;
        if (known != null) {
            return known;
        }
        try {
            Path real = path.toRealPath();
            opened = real;
            return real;
        } catch (IOException notThere) {
            return path;
        }
    }
}
