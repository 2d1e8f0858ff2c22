package dozo.copy;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
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

    /** Returns the entries of such a page; does not look for their copies. */
    default List<Entry> entries(FilePath after, int limit) {
        return page(after, limit).stream().map(Item::entry).toList();
    }

    /** Finds one entry. */
    default Optional<Entry> find(FilePath path) {
        return entries(path.justBefore(), 1).stream()
                .filter(entry -> entry.path().equals(path))
                .findFirst();
    }

    /**
     * Returns the entries with these paths.
     *
     * @param next the next position from which on there may be such an entry: entries between a given position and this
     *     one are not read. Empty: no such entry comes any more
     */
    default Inventory only(Predicate<FilePath> wanted, Function<FilePath, Optional<FilePath>> next) {
        Inventory whole = this;
        return new Inventory() {
            @Override
            public List<Item> page(FilePath after, int limit) {
                return only(after, whole::page, limit, item -> item.entry().path());
            }

            @Override
            public List<Entry> entries(FilePath after, int limit) {
                return only(after, whole::entries, limit, Entry::path);
            }

            private <T> List<T> only(
                    FilePath after,
                    BiFunction<FilePath, Integer, List<T>> pages,
                    int limit,
                    Function<T, FilePath> path) {
                Optional<FilePath> from = next.apply(after);
                while (from.isPresent()) {
                    List<T> page = pages.apply(from.get(), limit);
                    List<T> part = page.stream()
                            .filter(one -> wanted.test(path.apply(one)))
                            .toList();
                    if (page.isEmpty() || !part.isEmpty()) {
                        return part;
                    }
                    from = next.apply(path.apply(page.getLast()));
                }
                return List.of();
            }
        };
    }
}
