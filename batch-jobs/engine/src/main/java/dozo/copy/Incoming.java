package dozo.copy;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/**
 * The folder of files under temporary names until they are verified: {@code .dozo-incoming/<key>} in the folder that is
 * filled.
 */
final class Incoming {

    /** In the destination, here as at a site, so that a rename is enough to give a file its final name. */
    private static final String FOLDER = ".dozo-incoming";

    private static final Pattern NAME = Pattern.compile(Pattern.quote(FOLDER) + "(-[1-9][0-9]*)?");

    private static final String LARGE = "large-";
    private static final int LARGE_NAME_BYTES = 16;

    private final Destination destination;
    private final Path all;
    private final Path folder;
    /** Different in every run, so that a file of one run is never taken for a verified file of another. */
    private final String run = Long.toHexString(ThreadLocalRandom.current().nextLong());

    private final AtomicLong numbers = new AtomicLong();
    private final Set<Path> large = ConcurrentHashMap.newKeySet();

    /** Tells whether something that is copied gets this name in the folder that is filled. */
    interface Taken {
        boolean is(FilePath name) throws IOException, InterruptedException;
    }

    private Incoming(Destination destination, FilePath name) {
        this.destination = destination;
        this.all = destination.path(name.parent());
        this.folder = destination.path(name);
    }

    /**
     * Chooses the folder, below the one that is filled: {@code .dozo-incoming/<key>}. If something that is copied has
     * that name, it is the first free of {@code .dozo-incoming-1}, {@code .dozo-incoming-2} …: the same for the same
     * content, so that a restart finds it again.
     */
    static FilePath name(String key, Taken taken) throws IOException, InterruptedException {
        FilePath name = FilePath.of(FOLDER);
        for (int i = 1; taken.is(name); i++) {
            name = FilePath.of(FOLDER + "-" + i);
        }
        return name.resolve(key);
    }

    /** Returns whether a copy may have chosen this name for its folder. */
    static boolean isName(byte[] name) {
        return NAME.matcher(FilePath.render(name)).matches();
    }

    /** Creates the folder if needed, and removes leftovers of an earlier run that cannot be continued. */
    static Incoming open(Destination destination, FilePath name) throws IOException {
        Incoming incoming = new Incoming(destination, name);
        try {
            LocalTree.makeRealFolder(incoming.all);
            LocalTree.makeRealFolder(incoming.folder);
        } catch (IOException e) {
            throw destination.unwritable(e);
        }
        incoming.sweep(false);
        return incoming;
    }

    /** Returns whether an unfinished copy has left this folder of temporary names. */
    static boolean isIn(Path folder, FilePath name) {
        return Files.isDirectory(name.under(folder), LinkOption.NOFOLLOW_LINKS);
    }

    boolean holds(Path path) {
        return path.startsWith(folder);
    }

    /** Returns the folder of temporary names. */
    Path folder() {
        return folder;
    }

    /** Returns an unused name. */
    Path newName() {
        return folder.resolve(run + "-" + numbers.incrementAndGet());
    }

    /**
     * Creates a temporary file. For a large file that has not changed at the site, the leftover of an earlier run is
     * opened again.
     */
    LocalFile create(Found file) throws IOException {
        try {
            // NB: a site may list a file twice, and two threads must not write to one.
            return Units.isLarge(file.facts().sizeBytes()) && large.add(largeName(file))
                    ? LocalFile.reopen(destination, largeName(file))
                    : LocalFile.create(destination, newName());
        } catch (IOException e) {
            throw destination.unwritable(e);
        }
    }

    /** Discards a temporary file. */
    void discard(Path temporary) throws IOException {
        Files.deleteIfExists(temporary);
        large.remove(temporary);
    }

    /**
     * Removes all temporary files after the last arrival. The empty folder remains and shows that the copy is
     * incomplete.
     */
    void clear() throws IOException {
        sweep(true);
    }

    /** Removes all temporary files and folders after the last arrival. */
    void end() throws IOException {
        clear();
        Files.delete(folder);
        try {
            Files.delete(all);
        } catch (FileSystemException othersAreUnderWay) {
            // Other copies remove theirs.
        }
    }

    private Path largeName(Found file) {
        MessageDigest digest = Digest.algorithm();
        digest.update(file.local().bytes());
        digest.update(ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(file.facts().sizeBytes())
                .putLong(file.facts().modifiedSeconds())
                .flip());
        return folder.resolve(LARGE + HexFormat.of().formatHex(digest.digest(), 0, LARGE_NAME_BYTES));
    }

    private void sweep(boolean everything) throws IOException {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(folder)) {
            for (Path path : left) {
                boolean ours = everything || !String.valueOf(path.getFileName()).startsWith(LARGE);
                if (ours && !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                    Files.delete(path);
                }
            }
        }
    }
}
