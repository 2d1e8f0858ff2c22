package dozo.source;

import static java.util.Objects.requireNonNull;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A folder of this machine as a source. It is only ever read. Links are reported, never followed; names are raw bytes.
 */
public final class DirectoryTree {

    private static final String ATTRIBUTES = "unix:mode,ino,nlink,size,lastModifiedTime,ctime";
    private static final int TYPE_MASK = 0170000;
    private static final int REGULAR = 0100000;
    private static final int DIRECTORY = 0040000;
    private static final int LINK = 0120000;
    private static final int MODE_MASK = 07777;

    private final Path root;

    /** Is told what is there, a folder before what is in it. */
    public interface Visitor {

        void entry(FilePath path, Facts facts) throws IOException;

        /** Something that is there and cannot be an entry; below an unreadable folder nothing more is reported. */
        void problem(FilePath path, Problem problem, String message) throws IOException;
    }

    public DirectoryTree(Path root) {
        this.root = root;
    }

    /**
     * Walks the whole tree. Memory grows with the number of folders waiting to be read, not with that of files.
     *
     * @throws IOException what the visitor throws, or when the root itself cannot be read
     */
    public void walk(Visitor visitor) throws IOException {
        Deque<Path> waiting = new ArrayDeque<>();
        waiting.push(root);
        while (!waiting.isEmpty()) {
            Path folder = waiting.pop();
            try (DirectoryStream<Path> children = Files.newDirectoryStream(folder)) {
                for (Path child : children) {
                    visit(child, visitor, waiting);
                }
            } catch (NoSuchFileException e) {
                // A folder that went away while we walked is not part of the source any more.
                if (folder.equals(root)) {
                    throw e;
                }
            } catch (DirectoryIteratorException e) {
                unreadable(folder, requireNonNull(e.getCause()), visitor);
            } catch (FileSystemException e) {
                unreadable(folder, e, visitor);
            }
        }
    }

    /** What the file system says of one path now, without following a link. */
    public static Facts facts(Path path) throws IOException {
        Map<String, Object> attributes = Files.readAttributes(path, ATTRIBUTES, LinkOption.NOFOLLOW_LINKS);
        int mode = (Integer) requireNonNull(attributes.get("mode"));
        EntryKind kind = switch (mode & TYPE_MASK) {
            case REGULAR -> EntryKind.FILE;
            case DIRECTORY -> EntryKind.DIRECTORY;
            case LINK -> EntryKind.LINK;
            default -> throw new SpecialFileException(path);
        };
        boolean shared = kind == EntryKind.FILE && (Integer) requireNonNull(attributes.get("nlink")) > 1;
        return new Facts(
                kind,
                kind == EntryKind.FILE ? (Long) requireNonNull(attributes.get("size")) : 0,
                nanos(requireNonNull(attributes.get("lastModifiedTime"))),
                nanos(requireNonNull(attributes.get("ctime"))),
                mode & MODE_MASK,
                shared ? (Long) attributes.get("ino") : null,
                kind == EntryKind.LINK ? linkTarget(path) : null);
    }

    /** A socket, device or fifo. */
    public static final class SpecialFileException extends FileSystemException {

        private static final long serialVersionUID = 1L;

        SpecialFileException(Path path) {
            super(path.toString());
        }
    }

    private void visit(Path child, Visitor visitor, Deque<Path> waiting) throws IOException {
        FilePath path = FilePath.between(root, child);
        Facts facts;
        try {
            facts = facts(child);
        } catch (NoSuchFileException goneMeanwhile) {
            return;
        } catch (SpecialFileException e) {
            visitor.problem(path, Problem.SPECIAL, "a socket, device or fifo; nothing of it is copied");
            return;
        } catch (FileSystemException e) {
            visitor.problem(path, Problem.UNREADABLE, "cannot be read: " + reason(e));
            return;
        }
        visitor.entry(path, facts);
        if (facts.kind() == EntryKind.DIRECTORY) {
            waiting.push(child);
        }
    }

    private void unreadable(Path folder, IOException cause, Visitor visitor) throws IOException {
        if (folder.equals(root)) {
            throw cause;
        }
        visitor.problem(
                FilePath.between(root, folder),
                Problem.UNREADABLE,
                "folder cannot be read: %s; let the service's user read it".formatted(reason(cause)));
    }

    private static String reason(IOException e) {
        if (e instanceof AccessDeniedException) {
            return "permission denied";
        }
        return e instanceof FileSystemException system && system.getReason() != null
                ? system.getReason()
                : e.getClass().getSimpleName();
    }

    private static long nanos(Object time) {
        return ((FileTime) time).to(TimeUnit.NANOSECONDS);
    }

    private static byte[] linkTarget(Path link) throws IOException {
        return FilePath.rawText(Files.readSymbolicLink(link));
    }
}
