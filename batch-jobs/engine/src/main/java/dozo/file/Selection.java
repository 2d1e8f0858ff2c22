package dozo.file;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * What is chosen of a tree: folders and files by path, and whatever matches a pattern; a folder always with everything
 * in it. Without paths and patterns, everything.
 */
public record Selection(List<FilePath> paths, List<PathPattern> patterns) {

    /** Everything. */
    public static final Selection ALL = new Selection(List.of(), List.of());

    /** The most paths. */
    public static final int PATHS_MAX = 10_000;

    /** The most patterns. */
    public static final int PATTERNS_MAX = 100;

    /** The most bytes of all paths and patterns. */
    public static final int BYTES_MAX = 1 << 20;

    /** How many are listed for people. */
    private static final int SHOWN = 3;

    /** The longest list of paths, with its {@code ./} and ends of lines. */
    public static final int LIST_BYTES_MAX = 2 * BYTES_MAX;

    /** @throws Malformed if there are too many */
    public Selection {
        if (paths.size() > PATHS_MAX || patterns.size() > PATTERNS_MAX) {
            throw new Malformed(
                    "expected at most %d paths and %d patterns; choose a folder above them, or use a pattern",
                    PATHS_MAX, PATTERNS_MAX);
        }
        long bytes = paths.stream().mapToLong(path -> path.bytes().length).sum()
                + patterns.stream().mapToLong(pattern -> pattern.bytes().length).sum();
        if (bytes > BYTES_MAX) {
            throw new Malformed("expected at most %d bytes of paths and patterns", BYTES_MAX);
        }
        paths = List.copyOf(paths);
        patterns = List.copyOf(patterns);
    }

    /** Returns a selection of one folder or file; {@link FilePath#ROOT} is everything. */
    public static Selection of(FilePath path) {
        return path.isRoot() ? ALL : new Selection(List.of(path), List.of());
    }

    /**
     * Parses a path as people write it: {@code ./} before it and a slash after it are allowed.
     *
     * @throws Malformed if it is not a path below a root
     */
    public static FilePath path(byte[] typed) {
        int start = 0;
        while (typed.length >= start + 2 && typed[start] == '.' && typed[start + 1] == '/') {
            start += 2;
        }
        int end = typed.length > start && typed[typed.length - 1] == '/' ? typed.length - 1 : typed.length;
        byte[] path = Arrays.copyOfRange(typed, start, end);
        try {
            return path.length == 1 && path[0] == '.' ? FilePath.ROOT : FilePath.of(path);
        } catch (IllegalArgumentException e) {
            throw new Malformed(
                    "\"%s\": expected a path below the folder, such as anat/T1w.nii", FilePath.render(typed));
        }
    }

    /**
     * Parses a list of paths, such as find's. If it contains a NUL, each path ends with one; otherwise each line is a
     * path. Empty lines are skipped.
     *
     * @throws Malformed if it contains no path, or something else
     */
    public static List<FilePath> list(byte[] list) {
        byte end = '\n';
        for (byte b : list) {
            end = b == 0 ? 0 : end;
        }
        List<FilePath> paths = new ArrayList<>();
        int start = 0;
        for (int at = 0; at <= list.length; at++) {
            if (at == list.length || list[at] == end) {
                if (at > start) {
                    paths.add(path(Arrays.copyOfRange(list, start, at)));
                }
                start = at + 1;
            }
        }
        if (paths.isEmpty()) {
            throw new Malformed("the list contains no path");
        }
        return paths;
    }

    /**
     * Returns bytes that are the same for the same paths and patterns in the same order, and different for any others;
     * those of one path are its own, of everything none.
     */
    public byte[] bytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        // No path and no pattern contains a NUL, and no pattern is empty.
        for (FilePath path : paths) {
            bytes.writeBytes(bytes.size() > 0 ? new byte[1] : new byte[0]);
            bytes.writeBytes(path.bytes());
        }
        for (PathPattern pattern : patterns) {
            bytes.writeBytes(new byte[2]);
            bytes.writeBytes(pattern.bytes());
        }
        return bytes.toByteArray();
    }

    /** Returns a short description for people; empty for everything. */
    @Override
    public String toString() {
        List<String> all = Stream.concat(paths.stream(), patterns.stream())
                .limit(SHOWN + 1)
                .map(Object::toString)
                .toList();
        return isAll()
                ? ""
                : all.size() <= SHOWN
                        ? String.join(", ", all)
                        : "%s … (%d paths, %d patterns)".formatted(all.getFirst(), paths.size(), patterns.size());
    }

    /** Returns whether everything is chosen. */
    public boolean isAll() {
        return paths.contains(FilePath.ROOT) || (paths.isEmpty() && patterns.isEmpty());
    }
}
