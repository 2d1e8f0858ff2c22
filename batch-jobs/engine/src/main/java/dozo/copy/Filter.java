package dozo.copy;

import dozo.file.FilePath;
import dozo.file.PathPattern;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a copy takes of its sources. Of the rules, the first one that matches decides, as with rsync; what none matches is taken.
 * What is in a folder that is not taken is not looked at. With a list, only what it names is taken: a folder with all
 * that is in it. Threads may share a filter.
 */
public final class Filter {

    /** Takes everything. */
    public static final Filter ALL = new Filter(List.of(), Set.of());

    private final List<Rule> rules;
    private final Set<FilePath> listed;
    private final Set<FilePath> above;
    private final Set<FilePath> found = ConcurrentHashMap.newKeySet();

    /**
     * Takes or leaves what matches.
     *
     * @param pattern of paths below a source; with a slash at its end, of folders only
     */
    public record Rule(boolean takes, PathPattern pattern) {

        boolean matches(FilePath path, boolean isFolder) {
            byte[] text = pattern.bytes();
            return (isFolder || text[text.length - 1] != '/') && pattern.matches(path);
        }
    }

    /**
     * Creates a filter.
     *
     * @param listed paths below the source; none: all
     */
    public Filter(List<Rule> rules, Set<FilePath> listed) {
        this.rules = List.copyOf(rules);
        this.listed = Set.copyOf(listed);
        above = listed.stream()
                .flatMap(path -> Stream.iterate(path.parent(), up -> !up.isRoot(), FilePath::parent))
                .collect(Collectors.toSet());
    }

    /** Returns whether a copy takes this path below a source. The source itself is always taken. */
    boolean takes(FilePath path, boolean isFolder) {
        return path.isRoot()
                || (isListed(path, isFolder)
                        && rules.stream()
                                .filter(rule -> rule.matches(path, isFolder))
                                .findFirst()
                                .map(Rule::takes)
                                .orElse(true));
    }

    private boolean isListed(FilePath path, boolean isFolder) {
        if (listed.contains(path)) {
            found.add(path);
            return true;
        }
        return listed.isEmpty()
                || listed.contains(FilePath.ROOT)
                || (isFolder && above.contains(path))
                || Stream.iterate(path.parent(), up -> !up.isRoot(), FilePath::parent)
                        .anyMatch(listed::contains);
    }

    /** Returns the listed paths that {@link #takes} was not asked about. */
    Set<FilePath> missing() {
        Set<FilePath> missing = new TreeSet<>(listed);
        missing.removeAll(found);
        missing.remove(FilePath.ROOT);
        return missing;
    }
}
