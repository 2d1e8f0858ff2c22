package dozo.manifest;

import java.util.List;

/**
 * How a source differs from the current manifest of its experiment, by names, kinds, sizes and times.
 *
 * @param problem why the source could not be compared; empty: it was
 * @param missing entries of the manifest that were not found, or could not be read
 * @param changed entries of another kind or size, and links with another text
 * @param times files of the same size with another time
 * @param rounded those of {@code times} whose time differs by less than 2 seconds: many storages round times
 * @param added entries that the manifest does not have
 * @param facts files of which only rights, owner or hard links differ: they are backed up again
 * @param first the first names that are missing or differ, at most {@value #NAMES_MAX}
 */
public record Comparison(
        String problem,
        long missing,
        long changed,
        long times,
        long rounded,
        long added,
        long facts,
        List<String> first) {

    static final int NAMES_MAX = 10;

    public static final Comparison EQUAL = new Comparison("", 0, 0, 0, 0, 0, 0, List.of());

    /** Creates one of a source that could not be compared. */
    public static Comparison failed(String problem) {
        return new Comparison(problem, 0, 0, 0, 0, 0, 0, List.of());
    }

    /** Returns whether everything in the manifest is there, with the same kind, size and time. */
    public boolean same() {
        return problem.isEmpty() && missing == 0 && changed == 0 && times == 0;
    }
}
