package dozo.source;

import static java.util.Objects.requireNonNull;

import dozo.file.Attributes;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Owner;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Reads facts of single paths of this machine. For a whole tree use {@link Crawl}. */
public final class DirectoryTree {

    private static final String ATTRIBUTES = "unix:mode,ino,nlink,uid,gid,size,lastModifiedTime,ctime";
    private static final int TYPE_MASK = 0170000;
    private static final int REGULAR = 0100000;
    private static final int DIRECTORY = 0040000;
    private static final int LINK = 0120000;
    private static final int MODE_MASK = 07777;

    private DirectoryTree() {}

    /** Returns the current facts of one path, without following a link. */
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
                kind == EntryKind.LINK ? linkTarget(path) : null,
                Owner.of((Integer) requireNonNull(attributes.get("uid")), (Integer)
                        requireNonNull(attributes.get("gid"))),
                Attributes.NONE);
    }

    /** A socket, device or fifo. */
    public static final class SpecialFileException extends FileSystemException {

        private static final long serialVersionUID = 1L;

        SpecialFileException(Path path) {
            super(path.toString());
        }
    }

    private static long nanos(Object time) {
        return ((FileTime) time).to(TimeUnit.NANOSECONDS);
    }

    private static byte[] linkTarget(Path link) throws IOException {
        return FilePath.rawText(Files.readSymbolicLink(link));
    }
}
