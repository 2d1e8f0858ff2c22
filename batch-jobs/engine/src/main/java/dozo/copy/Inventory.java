package dozo.copy;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The entries of one manifest of an experiment, and the places of their copies at a site. */
public interface Inventory {

    /**
     * An entry.
     *
     * @param copy the place of a file's copy, below the site's root, with its digest; null for anything but a file, and
     *     for a file that was never verified at the site
     */
    record Item(Entry entry, @Nullable StoredCopy copy) {}

    /** A file's copy. */
    record StoredCopy(FilePath place, Digest digest) {}

    /**
     * Returns at most {@code limit} items after a path, sorted by their folders' paths and then by name, byte by byte.
     *
     * @param after the last one of the previous page, {@link FilePath#ROOT} for the first page
     */
    List<Item> page(FilePath after, int limit);
}
