package dozo.copy;

import dozo.copy.Destination.Refused;
import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.source.DirectoryTree;
import dozo.source.OpenFolder;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * What a copy makes in the folder that is filled. Nothing it does follows a link below its top, whoever made it: folders are
 * made from the top down and looked at without following, and what is no folder blocks all that would go below it. Files get
 * their names by an atomic rename out of {@link Incoming}.
 *
 * <p>What one name alone is refused for is a {@link Refused}; any other failure is the whole destination's.
 */
final class LocalTree {

    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private final Destination destination;
    private final Incoming incoming;
    private final Map<FilePath, String> blocked = new ConcurrentHashMap<>();

    private LocalTree(Destination destination, Incoming incoming) {
        this.destination = destination;
        this.incoming = incoming;
    }

    /**
     * Makes the folder that is filled, if need be; what is above it has to be there. Itself, unlike anything below it, it may
     * be a link to a folder.
     *
     * @param incoming below it, where files come in: the same for the same command, another for any other
     */
    static LocalTree open(Path folder, FilePath incoming) throws IOException {
        try {
            Files.createDirectory(folder);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder)) {
                throw new NotDirectoryException(folder.toString());
            }
        }
        Destination destination = new Destination(folder.toRealPath());
        return new LocalTree(destination, Incoming.open(destination, incoming));
    }

    /**
     * Makes the folder that is filled, which must be new or empty, or what an earlier call like this began to fill.
     *
     * @throws IOException if it holds something else
     */
    static LocalTree openNew(Path folder, FilePath incoming) throws IOException {
        if (!isNew(folder, incoming)) {
            throw new IOException("%s is not empty: name a folder that is, or that is not there yet".formatted(folder));
        }
        return open(folder, incoming);
    }

    /**
     * A folder that is held open, and that is known to hold nothing else: what its path leads to meanwhile does not matter.
     */
    static LocalTree open(OpenFolder folder, FilePath incoming) throws IOException {
        Destination destination = new Destination(folder.path());
        return new LocalTree(destination, Incoming.open(destination, incoming));
    }

    /** Whether a folder is not there, or empty, or what was begun with this folder of temporary names. */
    static boolean isNew(Path folder, FilePath incoming) throws IOException {
        if (!Files.isDirectory(folder) || Incoming.isIn(folder, incoming)) {
            return true;
        }
        try (DirectoryStream<Path> standing = Files.newDirectoryStream(folder)) {
            return !standing.iterator().hasNext();
        }
    }

    Incoming incoming() {
        return incoming;
    }

    /** Makes a folder. What is there already and is none blocks all below it. */
    void makeFolder(FilePath folder) throws IOException, Refused {
        try {
            checkWay(folder);
            Path path = destination.path(folder);
            destination.with(folder, () -> {
                makeRealFolder(path);
                // An earlier run may have given it its mode already, and that may keep us out.
                if (!Files.isWritable(path) || !Files.isExecutable(path)) {
                    setMode(path, 0700);
                }
            });
        } catch (Refused e) {
            blocked.put(folder, String.valueOf(e.getMessage()));
            throw e;
        }
    }

    /** Makes sure, by looking at each, that a folder and all it lies in are folders here, and none of them a link to one. */
    void checkFolders(FilePath folder) throws Refused {
        for (FilePath above = folder; !above.isRoot(); above = above.parent()) {
            if (!Files.isDirectory(destination.path(above), LinkOption.NOFOLLOW_LINKS)) {
                throw new Refused("%s: cannot be created here: %s is not a folder".formatted(folder, above));
            }
        }
    }

    /** Whether the path of a name is longer here than any can be: then it can never be had. */
    boolean isTooLong(FilePath name) {
        return destination.isTooLong(name);
    }

    /** Makes sure that what this lies in is a folder of ours. */
    void checkWay(FilePath name) throws Refused {
        String why = name.isRoot() ? null : blocked.get(name.parent());
        if (why != null) {
            throw new Refused(why);
        }
        if (incoming.holds(destination.path(name))) {
            throw new Refused(name + ": this is where the copy itself keeps what is not finished");
        }
    }

    /** The digest of a file of this size and time that stands there; empty if there is none. */
    Optional<Digest> standing(Found file) throws IOException {
        Path path = destination.path(file.local());
        try {
            Facts facts = DirectoryTree.facts(path);
            long seconds = Math.floorDiv(facts.modifiedNanos(), TimeUnit.SECONDS.toNanos(1));
            if (facts.kind() != EntryKind.FILE
                    || facts.sizeBytes() != file.facts().sizeBytes()
                    || seconds != file.facts().modifiedSeconds()) {
                return Optional.empty();
            }
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
                MessageDigest digest = Digest.algorithm();
                var _ = LocalFile.digest(channel, digest, 0, facts.sizeBytes());
                return Optional.of(Digest.of(digest.digest()));
            }
        } catch (IOException notReadable) {
            return Optional.empty();
        }
    }

    /** Gives what came in its name, in place of a file or link that has it. */
    void publish(Path temporary, FilePath name) throws IOException, Refused {
        checkWay(name);
        destination.with(name, () -> Files.move(temporary, destination.path(name), StandardCopyOption.ATOMIC_MOVE));
    }

    /** Gives what came in its name, which nothing may have. */
    void publishNew(Path temporary, FilePath name) throws IOException, Refused {
        checkWay(name);
        checkFree(name);
        destination.with(name, () -> {
            // A rename would replace what may have come meanwhile.
            Files.createLink(destination.path(name), temporary);
            Files.delete(temporary);
        });
    }

    /** Makes a link with this text and time, unless it stands there; nothing else may have the name. */
    void newLink(byte[] text, long modifiedNanos, FilePath name) throws IOException, Refused {
        checkWay(name);
        Path path = destination.path(name);
        if (!Files.isSymbolicLink(path) || !isText(path, text)) {
            checkFree(name);
            destination.with(name, () -> SymbolicLinks.make(text, path));
        }
        if (!isText(path, text)) {
            throw new Refused(name + ": the link came out with another text");
        }
        destination.with(name, () -> LocalFile.setTime(path, modifiedNanos));
    }

    /** Makes a file one with another that stands; whether that one does. Nothing else may have the name. */
    boolean newHardLink(FilePath standing, FilePath name) throws IOException, Refused {
        checkWay(name);
        Path first = destination.path(standing);
        Path path = destination.path(name);
        if (!Files.isRegularFile(first, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS) && Files.isSameFile(path, first)) {
            return true;
        }
        checkFree(name);
        destination.with(name, () -> Files.createLink(path, first));
        return true;
    }

    /** Makes sure that nothing has a name. */
    void checkFree(FilePath name) throws Refused {
        if (Files.exists(destination.path(name), LinkOption.NOFOLLOW_LINKS)) {
            throw new Refused(name + ": another file has this name here; nothing is overwritten");
        }
    }

    /** Sees to it that a file that stands has this mode and time. */
    void setFacts(Found file) throws IOException, Refused {
        setMode(file);
        destination.with(file.local(), () -> LocalFile.setTime(destination.path(file.local()), file.modifiedNanos()));
    }

    /** Sees to it that a file that stands has this mode. */
    void setMode(Found file) throws IOException, Refused {
        Path path = destination.path(file.local());
        destination.with(file.local(), () -> {
            if ((DirectoryTree.facts(path).mode() & 0777) != (file.facts().mode() & 0777)) {
                setMode(path, file.facts().mode());
            }
        });
    }

    /** Makes a link with this text, in place of a file or link that has its name, and looks whether it came out so. */
    void link(byte[] text, FilePath name) throws IOException, Refused {
        checkWay(name);
        Path path = destination.path(name);
        if (Files.isSymbolicLink(path) && isText(path, text)) {
            return;
        }
        Path temporary = incoming.newName();
        destination.with(name, () -> SymbolicLinks.make(text, temporary));
        if (!isText(temporary, text)) {
            Files.delete(temporary);
            throw new Refused(name + ": the link came out with another text");
        }
        publish(temporary, name);
    }

    /** Gives a folder its mode and time, and has it, and what names it holds, on the disk. */
    void finishFolder(Found folder) throws IOException, Refused {
        checkWay(folder.local());
        Path path = destination.path(folder.local());
        destination.with(folder.local(), () -> {
            if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                throw new NotDirectoryException(path.toString());
            }
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
                LocalFile.setTime(path, folder.modifiedNanos());
                setMode(path, folder.facts().mode());
                channel.force(true);
            }
        });
    }

    /** Makes a folder, unless there is one; a link to one is none. */
    static void makeRealFolder(Path path) throws IOException {
        try {
            Files.createDirectory(path, OWNER_ONLY);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                throw new NotDirectoryException(path.toString());
            }
        }
    }

    private static void setMode(Path path, int mode) throws IOException {
        Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                .setPermissions(LocalFile.permissions(mode));
    }

    private static boolean isText(Path link, byte[] text) throws IOException {
        return Arrays.equals(FilePath.rawText(Files.readSymbolicLink(link)), text);
    }
}
