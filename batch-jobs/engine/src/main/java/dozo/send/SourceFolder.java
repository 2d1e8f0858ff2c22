package dozo.send;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The folder that files are read from, made for a unit or a copy. Making one asks no file system: where the links on the way to it lead is
 * asked when the first file is opened, by a thread that may hang.
 */
public final class SourceFolder {

    private final Path path;
    private final AtomicInteger slow = new AtomicInteger();
    private volatile @Nullable Path opened;

    private SourceFolder(Path path, @Nullable Path opened) {
        this.path = path;
        this.opened = opened;
    }

    /** A folder that is opened by this path: a link on the way leads nowhere. */
    public static SourceFolder of(Path path) {
        return new SourceFolder(path, path);
    }

    /** A folder that is opened where the links on the way to it lead when its first file is opened. */
    public static SourceFolder behindLinks(Path path) {
        return new SourceFolder(path, null);
    }

    /** The path it is known by. */
    public Path path() {
        return path;
    }

    /** Whether some file of it has been waited for for a while. */
    public boolean isSlow() {
        return slow.get() > 0;
    }

    /** Counts files that are waited for for a while. */
    void slow(int files) {
        slow.addAndGet(files);
    }

    /** The path to open it by, without following a link; the path it is known by where nothing is there. NB: this may hang. */
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
