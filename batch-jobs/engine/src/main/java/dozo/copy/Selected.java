package dozo.copy;

import dozo.copy.Inventory.Item;
import dozo.file.FilePath;
import dozo.file.PathPattern;
import dozo.file.Selection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What a selection matches in one inventory, and the folders above it; found by reading the inventory once. */
final class Selected {

    private static final int PAGE = 500;

    private final Set<FilePath> paths;
    private final List<PathPattern> patterns;
    private final Set<FilePath> above = new HashSet<>();
    private final Set<FilePath> unmatchedPaths;
    private final Set<PathPattern> unmatchedPatterns;

    /** The folder asked about last, and whether it is chosen: the entries of a folder come together. */
    private FilePath folder = FilePath.ROOT;

    private boolean folderIsChosen;

    /** @param selection not of everything */
    Selected(Selection selection, Inventory whole) {
        paths = new HashSet<>(selection.paths());
        patterns = selection.patterns();
        unmatchedPaths = new TreeSet<>(paths);
        unmatchedPatterns = new HashSet<>(patterns);
        List<Item> page = whole.page(FilePath.ROOT, PAGE);
        while (!page.isEmpty()) {
            page.forEach(item -> look(item.entry().path()));
            page = whole.page(page.getLast().entry().path(), PAGE);
        }
    }

    /** Returns whether an entry belongs to what is chosen: it matches, is in a chosen folder, or is a folder above. */
    boolean contains(FilePath path) {
        return above.contains(path) || isChosen(path);
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

    private void look(FilePath path) {
        unmatchedPaths.remove(path);
        unmatchedPatterns.removeIf(pattern -> pattern.matches(path));
        if (isChosen(path) && !folderIsChosen) {
            FilePath folder = path.parent();
            while (!folder.isRoot() && above.add(folder)) {
                folder = folder.parent();
            }
        }
    }

    private boolean isChosen(FilePath path) {
        FilePath parent = path.parent();
        if (!parent.equals(folder)) {
            folder = parent;
            folderIsChosen = false;
            for (FilePath each = parent; !each.isRoot() && !folderIsChosen; each = each.parent()) {
                folderIsChosen = matches(each);
            }
        }
        return folderIsChosen || matches(path);
    }

    private boolean matches(FilePath path) {
        return paths.contains(path) || patterns.stream().anyMatch(pattern -> pattern.matches(path));
    }
}
