package dozo.copy;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.source.DirectoryTree;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The folder of this machine that is filled. Nothing it does follows a link below its top, whoever made it: folders are
 * made from the top down and looked at without following, and what is no folder blocks all that would go below it. Files get
 * their names by an atomic rename out of a folder of its own, {@code .dozo-incoming/<key>}.
 *
 * <p>What one name alone is refused for is a {@link Refused}; any other failure is the whole destination's.
 */
final class LocalTree implements AutoCloseable {

    /** Where files come in; also where a copy to a site has them arrive. */
    static final String INCOMING = ".dozo-incoming";

    private static final String LOCK = "lock";
    private static final String LARGE = "large-";
    private static final int LARGE_NAME_BYTES = 16;
    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private final Path top;
    private final Path incoming;
    private final Path allIncoming;
    private final FileChannel lock;
    private final AtomicLong numbers = new AtomicLong();
    private final Set<Path> large = ConcurrentHashMap.newKeySet();
    private final Map<FilePath, String> blocked = new ConcurrentHashMap<>();

    /** One name that cannot be had here. */
    static final class Refused extends Exception {

        private static final long serialVersionUID = 1L;

        Refused(String message) {
            super(message);
        }
    }

    private interface Deed {
        void run() throws IOException;
    }

    private LocalTree(Path top, String key, FileChannel lock) {
        this.top = top;
        this.allIncoming = top.resolve(INCOMING);
        this.incoming = allIncoming.resolve(key);
        this.lock = lock;
    }

    /**
     * Makes the folder that is filled, if need be; what is above it has to be there. Itself, unlike anything below it, it may
     * be a link to a folder.
     *
     * @param key the same for the same command, another for any other; where the file system knows locks, the same two
     *     at once are refused
     */
    static LocalTree open(Path folder, String key) throws IOException {
        try {
            Files.createDirectory(folder);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder)) {
                throw new NotDirectoryException(folder.toString());
            }
        }
        Path top = folder.toRealPath();
        makeRealFolder(top.resolve(INCOMING));
        Path incoming = top.resolve(INCOMING).resolve(key);
        makeRealFolder(incoming);
        FileChannel lock = FileChannel.open(
                incoming.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        try {
            lock(lock, top);
            LocalTree tree = new LocalTree(top, key, lock);
            tree.sweep(false);
            return tree;
        } catch (IOException e) {
            lock.close();
            throw e;
        }
    }

    private static void lock(FileChannel channel, Path top) throws IOException {
        Optional<FileLock> lock;
        try {
            lock = Optional.ofNullable(channel.tryLock());
        } catch (OverlappingFileLockException inThisProcess) {
            lock = Optional.empty();
        } catch (IOException unknownThere) {
            // Some network file systems know no locks. They only keep a person from a mistake.
            return;
        }
        if (lock.isEmpty()) {
            throw new IOException("the same copy into " + top + " is under way already");
        }
    }

    /** Makes a folder. What is there already and is none blocks all below it. */
    void makeFolder(FilePath folder) throws IOException, Refused {
        try {
            checkWay(folder);
            Path path = path(folder);
            deed(folder, () -> {
                makeRealFolder(path);
                // An earlier run may have given it its mode already, and that may keep us out.
                if (!Files.isWritable(path) || !Files.isExecutable(path)) {
                    Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                            .setPermissions(PosixFilePermissions.fromString("rwx------"));
                }
            });
        } catch (Refused e) {
            blocked.put(folder, String.valueOf(e.getMessage()));
            throw e;
        }
    }

    /** Makes sure that what this lies in is a folder of ours. */
    void checkWay(FilePath name) throws Refused {
        String why = name.isRoot() ? null : blocked.get(name.parent());
        if (why != null) {
            throw new Refused(why);
        }
        if (path(name).startsWith(incoming)) {
            throw new Refused(name + ": this is where the copy itself keeps what is not finished");
        }
    }

    /** The digest of a file of this size and time that stands there; empty if there is none. */
    Optional<Digest> standing(Found file) throws IOException {
        Path path = path(file.local());
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
                LocalFile.digest(channel, digest, 0, facts.sizeBytes());
                return Optional.of(Digest.of(digest.digest()));
            }
        } catch (IOException notReadable) {
            return Optional.empty();
        }
    }

    /** A file that is to come in. */
    LocalFile create() throws IOException {
        return whole(() -> LocalFile.create(incoming.resolve(String.valueOf(numbers.incrementAndGet()))));
    }

    /** The same for a large one: what an earlier run left of it, as it is at the site now, is taken up again. */
    LocalFile createLarge(Found file) throws IOException {
        MessageDigest digest = Digest.algorithm();
        digest.update(file.local().bytes());
        digest.update(ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(file.facts().sizeBytes())
                .putLong(file.facts().modifiedSeconds())
                .flip());
        Path path = incoming.resolve(LARGE + HexFormat.of().formatHex(digest.digest(), 0, LARGE_NAME_BYTES));
        // NB: a site may name a file twice, and two must not write to one.
        return large.add(path) ? whole(() -> LocalFile.reopen(path)) : create();
    }

    /** Gives up what came in. */
    void discard(Path temporary) throws IOException {
        Files.deleteIfExists(temporary);
        large.remove(temporary);
    }

    /** Gives what came in its name, in place of a file or link that has it. */
    void publish(Path temporary, FilePath name) throws IOException, Refused {
        checkWay(name);
        deed(name, () -> Files.move(temporary, path(name), StandardCopyOption.ATOMIC_MOVE));
    }

    /** Sees to it that a file that stands has this mode. */
    void setMode(Found file) throws IOException, Refused {
        Path path = path(file.local());
        deed(file.local(), () -> {
            if ((DirectoryTree.facts(path).mode() & 0777) != (file.facts().mode() & 0777)) {
                Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                        .setPermissions(LocalFile.permissions(file.facts().mode()));
            }
        });
    }

    /** Makes a link with this text, in place of a file or link that has its name, and looks whether it came out so. */
    void link(byte[] text, FilePath name) throws IOException, Refused {
        checkWay(name);
        Path path = path(name);
        if (Files.isSymbolicLink(path) && isText(path, text)) {
            return;
        }
        Path temporary = incoming.resolve(String.valueOf(numbers.incrementAndGet()));
        deed(name, () -> SymbolicLinks.make(text, temporary));
        if (!isText(temporary, text)) {
            Files.delete(temporary);
            throw new Refused(name + ": the link came out with another text");
        }
        publish(temporary, name);
    }

    /** Gives a folder its mode and time, and has it, and what names it holds, on the disk. */
    void finishFolder(Found folder) throws IOException, Refused {
        checkWay(folder.local());
        Path path = path(folder.local());
        deed(folder.local(), () -> {
            if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                throw new NotDirectoryException(path.toString());
            }
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
                LocalFile.setTime(path, folder.facts());
                Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                        .setPermissions(LocalFile.permissions(folder.facts().mode()));
                channel.force(true);
            }
        });
    }

    /** Removes all temporary names, when nothing is coming in any more. */
    void end() throws IOException {
        sweep(true);
        Files.delete(incoming.resolve(LOCK));
        Files.delete(incoming);
        try {
            Files.delete(allIncoming);
        } catch (FileSystemException othersAreUnderWay) {
            // Theirs to remove.
        }
    }

    @Override
    public void close() {
        try {
            lock.close();
        } catch (IOException e) {
            // Nothing was written to it.
        }
    }

    /** The failure of the destination as a whole. */
    IOException unwritable(IOException e) {
        return new IOException("cannot write in %s: %s".formatted(top, reason(e)), e);
    }

    private interface Opening {
        LocalFile open() throws IOException;
    }

    private LocalFile whole(Opening opening) throws IOException {
        try {
            return opening.open();
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    private void deed(FilePath name, Deed deed) throws IOException, Refused {
        try {
            deed.run();
        } catch (FileSystemException e) {
            if (isFull(e)) {
                throw unwritable(e);
            }
            throw new Refused("%s: cannot be made here: %s".formatted(name, reason(e)));
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    private static boolean isFull(FileSystemException e) {
        String reason = String.valueOf(e.getReason());
        return reason.startsWith("No space left") || reason.startsWith("Disk quota") || reason.startsWith("Read-only");
    }

    private static String reason(IOException e) {
        return switch (e) {
            case AccessDeniedException _ -> "permission denied";
            case AtomicMoveNotSupportedException _ -> "another file system is mounted there";
            case FileAlreadyExistsException _, NotDirectoryException _ -> "something that is no folder has the name";
            case NoSuchFileException _ -> "the folder it goes into is gone";
            case FileSystemException system when system.getReason() != null -> system.getReason();
            default -> String.valueOf(e.getMessage());
        };
    }

    private Path path(FilePath name) {
        return name.under(top);
    }

    private static void makeRealFolder(Path path) throws IOException {
        try {
            Files.createDirectory(path, OWNER_ONLY);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                throw new NotDirectoryException(path.toString());
            }
        }
    }

    private static boolean isText(Path link, byte[] text) throws IOException {
        return Arrays.equals(FilePath.rawText(Files.readSymbolicLink(link)), text);
    }

    /** Removes what earlier runs left; at the beginning not what can be taken up again. */
    private void sweep(boolean all) throws IOException {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(incoming)) {
            for (Path path : left) {
                String name = String.valueOf(path.getFileName());
                boolean ours = !name.equals(LOCK) && (all || !name.startsWith(LARGE));
                if (ours && !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                    Files.delete(path);
                }
            }
        }
    }
}
