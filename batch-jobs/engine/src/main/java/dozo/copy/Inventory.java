package dozo.copy;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import java.util.List;
import java.util.Optional;
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

    /** Finds one item. */
    default Optional<Item> find(FilePath path) {
        return page(path.justBefore(), 1).stream()
                .filter(item -> item.entry().path().equals(path))
                .findFirst();
    }

    /**
     * Returns a folder with everything in it, or a file, and the folders above it.
     *
     * @param top {@link FilePath#ROOT} for everything
     */
    default Inventory part(FilePath top) {
        if (top.isRoot()) {
            return this;
        }
        return (after, limit) -> {
            List<Item> page = page(after, limit);
            List<Item> part = inPart(page, top);
            while (part.isEmpty() && !page.isEmpty()) {
                page = page(page.getLast().entry().path(), limit);
                part = inPart(page, top);
            }
            return part;
        };
    }

    private static List<Item> inPart(List<Item> items, FilePath top) {
        return items.stream()
                .filter(item -> item.entry().path().startsWith(top)
                        || top.startsWith(item.entry().path()))
                .toList();
    }
}
