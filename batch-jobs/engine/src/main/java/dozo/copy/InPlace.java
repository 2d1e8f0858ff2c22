package dozo.copy;

import dozo.file.FilePath;
import dozo.source.DirectoryTree;
import dozo.source.OpenFolder;
import dozo.source.Times;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;

/**
 * Gives what has been verified its name in a folder that people use: the source of an experiment. What stands there under this name is
 * first put aside by a rename, so that it always has one of its two names; nothing is overwritten or removed. Each name is given in its
 * open folder: nobody who may write in the source can redirect that by a link.
 *
 * <p>Thread-safe.
 */
final class InPlace {

    private static final int LOCKS = 64;

    private final Path source;
    private final Path aside;
    private final Object[] locks = new Object[LOCKS];

    /**
     * @param source an open folder
     * @param aside an open folder, which nobody else may enter
     * @throws IOException if files cannot get their names by renames and links between both folders
     */
    InPlace(OpenFolder source, OpenFolder aside) throws IOException {
        this.source = source.path();
        this.aside = aside.path();
        Arrays.setAll(locks, _ -> new Object());
        if (!source.mount().equals(aside.mount())) {
            throw new IOException(
                    "the source and the folder for what is put aside are on different file systems or mounts");
        }
        // Fails before anything is put aside if this file system has no hard links.
        Path probe = this.aside.resolve("probe");
        Path link = this.aside.resolve("probe-link");
        Files.deleteIfExists(link);
        Files.deleteIfExists(probe);
        Files.createLink(link, Files.createFile(probe));
        Files.delete(link);
        Files.delete(probe);
    }

    private interface Deed {
        void in(Path folder) throws IOException;
    }

    /** Changes a folder. It keeps its time, so that the next backup does not take it for changed, if this process may set it. */
    private void change(FilePath folder, Deed deed) throws IOException {
        try (OpenFolder held = OpenFolder.below(source, folder)) {
            synchronized (locks[Math.floorMod(folder.hashCode(), LOCKS)]) {
                Path itself = held.path().resolve(".");
                long modifiedNanos = DirectoryTree.facts(itself).modifiedNanos();
                deed.in(held.path());
                try {
                    Times.setModified(itself, modifiedNanos);
                } catch (IOException ofAnotherUser) {
                    // Then its time says that it was changed, which is true.
                }
            }
        }
    }

    /**
     * Gives a file or link its name, and removes its temporary one.
     *
     * @throws java.nio.file.FileAlreadyExistsException if something got this name in the meantime
     */
    void place(Path temporary, FilePath name) throws IOException {
        change(name.parent(), folder -> {
            Path path = last(name).under(folder);
            putAside(path, name);
            // A rename would replace what has the name by now.
            Files.createLink(path, temporary);
        });
        Files.delete(temporary);
    }

    /** Gives a file a further name, unless the file of that name is the same or has the same bytes. */
    void placeLink(FilePath first, FilePath name, Path temporary) throws IOException {
        try (OpenFolder held = OpenFolder.below(source, first.parent())) {
            Files.createLink(temporary, last(first).under(held.path()));
        }
        boolean equal;
        try (OpenFolder held = OpenFolder.below(source, name.parent())) {
            Path path = last(name).under(held.path());
            equal = Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS) && Files.mismatch(path, temporary) < 0;
        }
        if (equal) {
            Files.delete(temporary);
        } else {
            place(temporary, name);
        }
    }

    /** Gives an empty folder its name, unless a folder has it. */
    void placeFolder(Path temporary, FilePath name) throws IOException {
        change(name.parent(), folder -> {
            Path path = last(name).under(folder);
            if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                Files.delete(temporary);
            } else {
                putAside(path, name);
                Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
            }
        });
    }

    private synchronized void putAside(Path standing, FilePath name) throws IOException {
        if (Files.exists(standing, LinkOption.NOFOLLOW_LINKS)) {
            Files.move(standing, freeAside(name), StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** Returns a free path for what is put aside: the same path as in the source, in the first folder in which it is free. */
    private Path freeAside(FilePath name) throws IOException {
        for (int n = 1; ; n++) {
            Path top = aside.resolve(n == 1 ? Restore.PUT_ASIDE : Restore.PUT_ASIDE + "-" + n);
            try {
                makeFolders(top, name.parent());
            } catch (NotDirectoryException anotherWasPutAside) {
                continue;
            }
            if (!Files.exists(name.under(top), LinkOption.NOFOLLOW_LINKS)) {
                return name.under(top);
            }
        }
    }

    private static void makeFolders(Path top, FilePath folder) throws IOException {
        if (!folder.isRoot()) {
            makeFolders(top, folder.parent());
        }
        LocalTree.makeRealFolder(folder.under(top));
    }

    private static FilePath last(FilePath name) {
        return FilePath.of(name.name());
    }
}
