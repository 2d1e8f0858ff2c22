package dozo.copy;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
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

    /** Returns the entries with these paths. */
    default Inventory only(Predicate<FilePath> wanted) {
        return (after, limit) -> {
            List<Item> page = page(after, limit);
            List<Item> part = only(page, wanted);
            while (part.isEmpty() && !page.isEmpty()) {
                page = page(page.getLast().entry().path(), limit);
                part = only(page, wanted);
            }
            return part;
        };
    }

    private static List<Item> only(List<Item> items, Predicate<FilePath> wanted) {
        return items.stream().filter(item -> wanted.test(item.entry().path())).toList();
    }
}
