package dozo.copy;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What one manifest of an experiment holds, and where at a site each file's copy lies. */
public interface Inventory {

    /**
     * An entry.
     *
     * @param copy where a file's copy lies, below the site's root, with its digest; null for what is no file, and for a file that
     *     was never proven at the site
     */
    record Item(Entry entry, @Nullable StoredCopy copy) {}

    /** A file's copy. */
    record StoredCopy(FilePath place, Digest digest) {}

    /**
     * At most {@code limit} items after a path, in the order of their folders' paths and then of their names, byte by byte.
     *
     * @param after the last one of the page before, {@link FilePath#ROOT} for the first page
     */
    List<Item> page(FilePath after, int limit);
}
