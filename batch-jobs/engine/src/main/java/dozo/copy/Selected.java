package dozo.copy;

import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.PathPattern;
import dozo.file.Selection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a selection matches in one inventory, and the folders above it. Selected paths are looked up; only patterns need all of the
 * inventory.
 */
public final class Selected {

    private static final int PAGE = 5_000;

    /** The order of an inventory. */
    private static final Comparator<FilePath> ORDER =
            Comparator.comparing(FilePath::parent).thenComparing(path -> path);

    /** No name in a folder comes before it. */
    private static final byte[] LOWEST_NAME = {1};

    private final Inventory whole;
    private final Set<FilePath> paths;
    private final List<PathPattern> patterns;
    private final Set<FilePath> above = new HashSet<>();
    private final Set<FilePath> unmatchedPaths;
    private final Set<PathPattern> unmatchedPatterns;

    /** Where reading begins again after something that is not selected. */
    private final NavigableSet<FilePath> starts = new TreeSet<>(ORDER);

    /** The folder asked about last, and whether it is chosen: the entries of a folder come together. */
    private FilePath folder = FilePath.ROOT;

    private boolean folderIsChosen;

    /**
     * Looks up what is selected.
     *
     * @param selection not of everything
     */
    public Selected(Selection selection, Inventory whole) {
        this.whole = whole;
        paths = new HashSet<>(selection.paths());
        patterns = selection.patterns();
        unmatchedPaths = new TreeSet<>(paths);
        unmatchedPatterns = new HashSet<>(patterns);
        if (patterns.isEmpty()) {
            paths.forEach(path -> whole.find(path).ifPresent(this::add));
        } else {
            readAll();
        }
    }

    /** Returns what is selected: it matches, is in a chosen folder, or is a folder above. */
    public Inventory inventory() {
        return whole.only(this::contains, this::next);
    }

    /** Returns the paths that are not in the inventory. */
    Set<FilePath> unmatchedPaths() {
        return unmatchedPaths;
    }

    /** Returns the patterns that match nothing, in their order. */
    List<PathPattern> unmatchedPatterns() {
        return patterns.stream().filter(unmatchedPatterns::contains).distinct().toList();
    }

    /** Returns whether nothing at all was matched. */
    boolean isEmpty() {
        return unmatchedPaths.size() == paths.size()
                && unmatchedPatterns.size() == Set.copyOf(patterns).size();
    }

    private void add(Entry chosen) {
        FilePath path = chosen.path();
        unmatchedPaths.remove(path);
        starts.add(path.justBefore());
        addAbove(path);
        if (chosen.facts().kind() == EntryKind.DIRECTORY) {
            FilePath content = path.resolve(LOWEST_NAME).justBefore();
            starts.add(content);
            // Other folders, such as a-b, come between a folder's own entries, of a, and those of the folders in it, of
            // a/b.
            starts.add(content.resolve(LOWEST_NAME).justBefore());
        }
    }

    private void addAbove(FilePath path) {
        for (FilePath up = path.parent(); !up.isRoot() && above.add(up); up = up.parent()) {
            starts.add(up.justBefore());
        }
    }

    private void readAll() {
        List<Entry> page = whole.entries(FilePath.ROOT, PAGE);
        while (!page.isEmpty()) {
            page.forEach(entry -> look(entry.path()));
            page = whole.entries(page.getLast().path(), PAGE);
        }
    }

    private void look(FilePath path) {
        unmatchedPaths.remove(path);
        unmatchedPatterns.removeIf(pattern -> pattern.matches(path));
        if (isChosen(path) && !folderIsChosen) {
            addAbove(path);
        }
    }

    private Optional<FilePath> next(FilePath position) {
        return !patterns.isEmpty() || isFolderChosen(position.parent())
                ? Optional.of(position)
                : Optional.ofNullable(starts.ceiling(position));
    }

    private boolean contains(FilePath path) {
        return above.contains(path) || isChosen(path);
    }

    private boolean isChosen(FilePath path) {
        return isFolderChosen(path.parent()) || matches(path);
    }

    private boolean isFolderChosen(FilePath parent) {
        if (!parent.equals(folder)) {
            folder = parent;
            folderIsChosen = false;
            for (FilePath each = parent; !each.isRoot() && !folderIsChosen; each = each.parent()) {
                folderIsChosen = matches(each);
            }
        }
        return folderIsChosen;
    }

    private boolean matches(FilePath path) {
        return paths.contains(path) || patterns.stream().anyMatch(pattern -> pattern.matches(path));
    }
}
