package dozo.source;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A list of a source's content that another program made, instead of a {@link Crawl}: GNU find, or the inode scan of a
 * file system. The forms are described in docs/reference/file-lists.md.
 *
 * <p>A line that cannot be parsed, or names something outside the source, is a problem, and reading continues. Nothing
 * of the source is opened, whatever a list contains. Memory does not grow with the list.
 */
public final class FileList {

    private final Path root;
    private final ListForm form;
    private final List<byte[]> absoluteRoots = new ArrayList<>();

    private FileList(Path root, ListForm form) {
        this.root = root;
        this.form = form;
        absoluteRoots.add(FilePath.rawBytes(root));
        try {
            absoluteRoots.add(FilePath.rawBytes(root.toRealPath()));
        } catch (IOException notHere) {
            // A list can be read without its source being mounted.
        }
    }

    /** Returns a reader for lists by {@code find}, with times, modes, hard links and link texts. */
    public static FileList byFind(Path root) {
        return new FileList(root, new FindForm());
    }

    /**
     * Returns a reader for lists by a policy of IBM Storage Scale. They have no link texts: each link is read at the
     * source.
     */
    public static FileList byPolicy(Path root) {
        return new FileList(root, new PolicyForm());
    }

    /** One parsed line. Special files have no kind; entries that must be looked up have no facts. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Line(
            byte[] path, @Nullable EntryKind kind, @Nullable Facts facts) {}

    /** The format of a list's lines. */
    interface ListForm {

        /** Returns the byte that ends each line. */
        byte lineEnd();

        /** Returns whether a complete list ends with an end mark. */
        boolean hasEndMark();

        boolean isEndMark(byte[] line);

        Line parse(byte[] line) throws NotUnderstood;
    }

    /** Why a line does not have its form. */
    static final class NotUnderstood extends Exception {

        private static final long serialVersionUID = 1L;

        NotUnderstood(String message) {
            super(message);
        }
    }

    /**
     * Reads a list to its end.
     *
     * @throws IOException what {@code listed} throws, or if the list cannot be read
     */
    public void into(Listed listed, InputStream list) throws IOException, InterruptedException {
        Lines lines = new Lines(list, form.lineEnd());
        boolean ended = false;
        for (Lines.State state = lines.next(); state != Lines.State.END; state = lines.next()) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (ended) {
                problem(listed, lines, null, Problem.UNPARSED, "it follows the list's end mark");
            } else if (state == Lines.State.WHOLE && form.isEndMark(lines.bytes())) {
                ended = true;
            } else {
                tell(lines, state, listed);
            }
        }
        if (form.hasEndMark() && !ended) {
            listed.problem(
                    lines.number() + 1,
                    null,
                    Problem.UNPARSED,
                    "the list has no end mark: it is truncated, or the program that wrote it failed");
        }
    }

    private void tell(Lines lines, Lines.State state, Listed listed) throws IOException, InterruptedException {
        switch (state) {
            case TOO_LONG ->
                problem(listed, lines, null, Problem.UNPARSED, "is longer than " + Lines.BYTES_MAX + " bytes");
            case CUT_OFF -> problem(listed, lines, null, Problem.UNPARSED, "is truncated");
            case WHOLE, END -> tell(lines, listed);
        }
    }

    private void tell(Lines lines, Listed listed) throws IOException, InterruptedException {
        Line line;
        Optional<FilePath> below;
        try {
            line = form.parse(lines.bytes());
            below = below(line.path());
        } catch (NotUnderstood e) {
            problem(listed, lines, null, Problem.UNPARSED, String.valueOf(e.getMessage()));
            return;
        }
        if (below.isEmpty()) {
            String outside = FilePath.render(line.path()) + " is not below the source folder";
            problem(listed, lines, null, Problem.OUTSIDE, outside);
        } else if (!below.get().isRoot()) {
            tell(lines, below.get(), line, listed);
        }
    }

    private void tell(Lines lines, FilePath path, Line line, Listed listed) throws IOException, InterruptedException {
        if (line.kind() == null) {
            problem(listed, lines, path, Problem.SPECIAL, "socket, device or fifo; not copied");
        } else if (line.facts() != null) {
            listed.entry(path, line.facts());
        } else {
            lookAt(lines, path, listed);
        }
    }

    private void lookAt(Lines lines, FilePath path, Listed listed) throws IOException, InterruptedException {
        Facts facts;
        try {
            facts = DirectoryTree.facts(path.under(root));
        } catch (NoSuchFileException goneSinceTheList) {
            return;
        } catch (IOException e) {
            problem(listed, lines, path, Problem.UNREADABLE, "cannot be read: " + e.getMessage());
            return;
        }
        listed.entry(path, facts);
    }

    /** Returns the path below the source; empty if it leads outside. */
    private Optional<FilePath> below(byte[] path) throws NotUnderstood {
        byte[] relative = path;
        if (path.length > 0 && path[0] == '/') {
            Optional<byte[]> cut = absoluteRoots.stream()
                    .filter(above -> isBelow(path, above))
                    .map(above -> Arrays.copyOfRange(path, Math.min(path.length, lengthWithSlash(above)), path.length))
                    .findFirst();
            if (cut.isEmpty()) {
                return Optional.empty();
            }
            relative = cut.get();
        }
        if (leadsUp(relative)) {
            return Optional.empty();
        }
        try {
            return Optional.of(FilePath.of(relative));
        } catch (IllegalArgumentException e) {
            throw new NotUnderstood(String.valueOf(e.getMessage()));
        }
    }

    private static boolean isBelow(byte[] path, byte[] above) {
        int n = lengthWithSlash(above) - 1;
        return path.length >= n && Arrays.equals(path, 0, n, above, 0, n) && (path.length == n || path[n] == '/');
    }

    private static int lengthWithSlash(byte[] root) {
        return root.length == 1 ? 1 : root.length + 1;
    }

    private static boolean leadsUp(byte[] path) {
        int start = 0;
        for (int at = 0; at <= path.length; at++) {
            if (at == path.length || path[at] == '/') {
                if (at - start == 2 && path[start] == '.' && path[start + 1] == '.') {
                    return true;
                }
                start = at + 1;
            }
        }
        return false;
    }

    /** Reports a problem of the last line. */
    private static void problem(Listed listed, Lines lines, @Nullable FilePath path, Problem problem, String reason)
            throws IOException, InterruptedException {
        listed.problem(lines.number(), path, problem, "line %d of the list: %s".formatted(lines.number(), reason));
    }
}
