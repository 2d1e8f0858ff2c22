package dozo.copy;

import dozo.copy.Destination.Refused;
import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.source.DirectoryTree;
import dozo.source.FileSystemSync;
import dozo.source.OpenFolder;
import dozo.source.Times;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What a copy creates in the folder that is filled. It never follows a link below its top, whoever created it: folders
 * are created from the top down and checked without following links, and anything but a folder blocks everything below
 * its name. Files get their names by an atomic rename out of {@link Incoming}.
 *
 * <p>A failure of one name is a {@link Refused}; any other failure is one of the whole destination.
 */
final class LocalTree implements AutoCloseable {

    private static final long ROOT = 0;

    private static final int PERMISSIONS = 0777;

    private static final int OWNERS_PERMISSIONS = 0700;

    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private final Destination destination;
    private final Incoming incoming;
    private final FoldedNames folded;
    private final Rights rights;

    /** The number of the user who restores. */
    private final long user;

    /** Empty: each file is synced by itself. */
    private final Optional<FileSystemSync> sync;

    private final Map<FilePath, String> blocked = new ConcurrentHashMap<>();

    /** Gives names in a folder that people use; null: in one that only this copy fills. */
    private final @Nullable InPlace inPlace;

    private LocalTree(Destination destination, Incoming incoming, Rights rights, @Nullable InPlace inPlace)
            throws IOException {
        this.destination = destination;
        this.incoming = incoming;
        this.inPlace = inPlace;
        this.folded = new FoldedNames(destination.top());
        this.rights = rights;
        this.user = Rights.user(incoming.folder());
        if (rights.withOwners()) {
            if (inPlace == null) {
                checkOwner();
            }
            rights.dropInherited(incoming.folder());
        }
        this.sync = FileSystemSync.open(destination.top());
    }

    /** Checks that nobody else could redirect what root gives away. */
    private void checkOwner() throws IOException {
        if (user == ROOT && Rights.user(destination.top().resolve(".")) != ROOT) {
            throw new IOException(
                    "%s belongs to another user, who could redirect what root writes: choose a new folder, or restore without owners"
                            .formatted(destination.top()));
        }
    }

    /**
     * Creates the folder that is filled, if needed; its parent must exist. It may be a link to a folder, unlike
     * anything below it.
     *
     * @param incoming the folder of temporary names below it: the same for the same command, different for any other
     */
    static LocalTree open(Path folder, FilePath incoming) throws IOException {
        return open(folder, incoming, new Rights(false));
    }

    static LocalTree open(Path folder, FilePath incoming, Rights rights) throws IOException {
        try {
            Files.createDirectory(folder);
        } catch (IOException e) {
            if (!Files.isDirectory(folder)) {
                throw new IOException(
                        "cannot create folder %s: %s".formatted(folder.toAbsolutePath(), Destination.reason(e)), e);
            }
        }
        return of(new Destination(folder.toRealPath()), incoming, rights);
    }

    /**
     * Opens a folder that is held open, and is known to contain nothing else; it does not matter where its path leads
     * meanwhile.
     */
    static LocalTree open(OpenFolder folder, FilePath incoming, Rights rights) throws IOException {
        return of(new Destination(folder.path()), incoming, rights);
    }

    private static LocalTree of(Destination destination, FilePath incoming, Rights rights) throws IOException {
        return new LocalTree(destination, Incoming.open(destination, incoming), rights, null);
    }

    /**
     * Opens a folder that is held open and that people use.
     *
     * @param aside an open folder, which nobody else may enter, for what is put aside and for temporary names
     */
    static LocalTree openInPlace(OpenFolder folder, OpenFolder aside, FilePath incoming, Rights rights)
            throws IOException {
        InPlace inPlace = new InPlace(folder, aside);
        return new LocalTree(
                new Destination(folder.path()),
                Incoming.open(new Destination(aside.path()), incoming),
                rights,
                inPlace);
    }

    /** Returns whether a folder does not exist, is empty, or contains this folder of temporary names. */
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

    /** Creates a folder. If something else has its name, everything below it is blocked. */
    void makeFolder(FilePath folder) throws IOException, Refused {
        try {
            checkWay(folder);
            if (inPlace != null) {
                destination.with(folder, () -> placeFolder(inPlace, folder));
                return;
            }
            Path path = destination.path(folder);
            destination.with(folder, () -> {
                makeRealFolder(path);
                if (rights.withOwners()) {
                    rights.takeBack(path, user);
                }
                // An earlier run may have set its mode already, which may deny us access.
                if (!Files.isWritable(path) || !Files.isExecutable(path)) {
                    LocalFile.setMode(path, OWNERS_PERMISSIONS);
                }
            });
        } catch (Refused e) {
            blocked.put(folder, String.valueOf(e.getMessage()));
            throw e;
        }
    }

    /** Creates a folder, unless it stands there; until it is finished, it is only ours. */
    private void placeFolder(InPlace place, FilePath folder) throws IOException {
        if (!Files.isDirectory(destination.path(folder), LinkOption.NOFOLLOW_LINKS)) {
            Path temporary = incoming.newName();
            makeRealFolder(temporary);
            rights.dropInherited(temporary);
            place.placeFolder(temporary, folder);
        }
    }

    /** Checks that a folder and all its parents are folders here, and none of them is a link. */
    void checkFolders(FilePath folder) throws Refused {
        for (FilePath above = folder; !above.isRoot(); above = above.parent()) {
            if (!Files.isDirectory(destination.path(above), LinkOption.NOFOLLOW_LINKS)) {
                throw new Refused("%s: cannot be created here: %s is not a folder".formatted(folder, above));
            }
        }
    }

    /** Returns whether the path of a name is too long for this machine; it can then never be created. */
    boolean isTooLong(FilePath name) {
        return destination.isTooLong(name);
    }

    /**
     * Checks that the parent folder could be created, that the name is not in the folder of temporary names, and that this disk does
     * not take it for another one that exists.
     */
    void checkWay(FilePath name) throws IOException, Refused {
        String why = name.isRoot() ? null : blocked.get(name.parent());
        if (why != null) {
            throw new Refused(why);
        }
        if (incoming.holds(destination.path(name))) {
            throw new Refused(name + ": this name is reserved for temporary files of this copy");
        }
        Optional<FilePath> other = destination.of(name, () -> folded.other(name));
        if (other.isPresent()) {
            throw new Refused(
                    "%s: this disk does not distinguish it from %s, which exists here; give one of them another name"
                            .formatted(name, other.get()));
        }
    }

    /** Returns the digest of the existing file with this size and time; empty if there is none. */
    Optional<Digest> standing(Found file) throws IOException {
        Path path = destination.path(file.local());
        try {
            Facts facts = DirectoryTree.facts(path);
            if (facts.kind() != EntryKind.FILE
                    || facts.sizeBytes() != file.facts().sizeBytes()
                    || Retrieval.seconds(facts.modifiedNanos()) != file.facts().modifiedSeconds()) {
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

    /** Opens a file to read it; null: no file has this name, or it cannot be read. */
    @Nullable
    FileChannel openFile(FilePath name) {
        try {
            return isFile(name)
                    ? FileChannel.open(destination.path(name), StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)
                    : null;
        } catch (IOException notReadable) {
            return null;
        }
    }

    /** Finishes an arrived file. It may get its final name after the next {@link #sync}. */
    void finish(LocalFile arrived, Found file) throws IOException {
        arrived.finish(file);
        if (sync.isEmpty()) {
            arrived.force(true);
        }
    }

    /** Returns when all finished files are on the disk. */
    void sync() throws IOException, InterruptedException {
        if (sync.isPresent()) {
            try {
                sync.get().sync();
            } catch (IOException e) {
                throw destination.unwritable(e);
            }
        }
    }

    /** Returns when the names that were given are on the disk. Folders that are finished are synced then. */
    void syncNames() throws IOException, InterruptedException {
        if (inPlace != null) {
            sync();
        }
    }

    @Override
    public void close() {
        sync.ifPresent(FileSystemSync::close);
    }

    /** Renames an arrived file to its final name, replacing a file or link. */
    void publish(Path temporary, FilePath name) throws IOException, Refused {
        synchronized (folded.lock(name)) {
            checkWay(name);
            destination.with(name, () -> Files.move(temporary, destination.path(name), StandardCopyOption.ATOMIC_MOVE));
        }
    }

    /** Gives an arrived file its final name, which must be free. */
    void publishNew(Path temporary, FilePath name) throws IOException, Refused {
        checkWay(name);
        boolean free = destination.of(name, () -> {
            try {
                if (inPlace != null) {
                    inPlace.place(temporary, name);
                    return true;
                }
                // A rename would replace what has the name.
                Files.createLink(destination.path(name), temporary);
                Files.delete(temporary);
                return true;
            } catch (FileAlreadyExistsException e) {
                return false;
            }
        });
        if (!free) {
            throw taken(name);
        }
    }

    /** Creates a link with this text, its owner and its time, unless it exists; nothing else may have the name. */
    void newLink(byte[] text, Found link) throws IOException, Refused {
        FilePath name = link.local();
        checkWay(name);
        Path path = destination.path(name);
        if (inPlace != null) {
            if (!Files.isSymbolicLink(path) || !isText(path, text)) {
                placeNewLink(text, link);
            }
            return;
        }
        if (!Files.isSymbolicLink(path) || !isText(path, text)) {
            checkFree(name);
            destination.with(name, () -> SymbolicLinks.make(text, path));
        }
        if (!isText(path, text)) {
            throw new Refused(name + ": the created link has a different text");
        }
        destination.with(name, () -> {
            rights.give(path, link);
            Times.setModified(path, link.modifiedNanos());
        });
    }

    private void placeNewLink(byte[] text, Found link) throws IOException, Refused {
        Path temporary = incoming.newName();
        destination.with(link.local(), () -> {
            SymbolicLinks.make(text, temporary);
            rights.give(temporary, link);
            Times.setModified(temporary, link.modifiedNanos());
        });
        publishNew(temporary, link.local());
    }

    /**
     * Creates a hard link to an existing file. Returns false if that file does not exist, this file system refuses the
     * link, or another file has the name.
     */
    boolean newHardLink(FilePath standing, FilePath name) throws IOException, Refused {
        checkWay(name);
        Path first = destination.path(standing);
        Path path = destination.path(name);
        if (!isFile(standing)) {
            return false;
        }
        if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS) && Files.isSameFile(path, first)) {
            return true;
        }
        try {
            if (inPlace != null) {
                inPlace.placeLink(standing, name, incoming.newName());
            } else {
                Files.createLink(path, first);
            }
            return true;
        } catch (FileSystemException e) {
            if (Destination.isUnwritable(e)) {
                throw destination.unwritable(e);
            }
            return false;
        }
    }

    /** Returns whether a file has this name. */
    boolean isFile(FilePath name) {
        return Files.isRegularFile(destination.path(name), LinkOption.NOFOLLOW_LINKS);
    }

    /** Returns the facts of what has this name. */
    Facts facts(FilePath name) throws IOException, Refused {
        return destination.of(name, () -> DirectoryTree.facts(destination.path(name)));
    }

    /** Returns whether nothing has this name, and it may be used. */
    boolean isFree(FilePath name) throws IOException {
        try {
            checkWay(name);
            checkFree(name);
            return true;
        } catch (Refused e) {
            return false;
        }
    }

    /** Checks that a file may get this name: nothing has it, or what has it can be put aside. */
    void checkPlace(FilePath name) throws Refused {
        if (inPlace == null) {
            checkFree(name);
        }
    }

    /** Checks that nothing has this name. */
    void checkFree(FilePath name) throws Refused {
        if (Files.exists(destination.path(name), LinkOption.NOFOLLOW_LINKS)) {
            throw taken(name);
        }
    }

    private static Refused taken(FilePath name) {
        return new Refused(name + ": another file has this name here; nothing is overwritten");
    }

    /** Gives an arrived file, under its temporary name, what {@link Rights} gives. */
    Found give(LocalFile temporary, Found file) throws IOException {
        try {
            return rights.give(temporary.path(), file);
        } catch (IOException e) {
            throw destination.unwritable(e);
        }
    }

    /** Sets owner, attributes, mode and time of an existing file, unless it is in its own place. Returns it with the mode it got. */
    Found setFacts(Found file) throws IOException, Refused {
        if (inPlace != null) {
            return file;
        }
        Found given = destination.of(file.local(), () -> rights.give(destination.path(file.local()), file));
        setMode(given);
        destination.with(file.local(), () -> Times.setModified(destination.path(file.local()), file.modifiedNanos()));
        return given;
    }

    /** Sets the mode of an existing file, if it differs. */
    void setMode(Found file) throws IOException, Refused {
        Path path = destination.path(file.local());
        destination.with(file.local(), () -> {
            if (DirectoryTree.facts(path).mode() != file.mode()) {
                LocalFile.setMode(path, file.mode());
            }
        });
    }

    /** Creates a link with this text, replacing a file or link of its name, and checks the text. */
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
            throw new Refused(name + ": the created link has a different text");
        }
        publish(temporary, name);
    }

    /**
     * Sets owner, attributes, mode and time of a folder, and syncs it to the disk with the names in it. From then on
     * its owner can rename what is in it. With owners, it is therefore opened without following links.
     */
    Found finishFolder(Found folder) throws IOException, Refused {
        checkWay(folder.local());
        Path path = destination.path(folder.local());
        return destination.of(folder.local(), () -> {
            if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                throw new NotDirectoryException(path.toString());
            }
            if (!rights.withOwners()) {
                return finish(path, folder);
            }
            try (OpenFolder held = OpenFolder.below(destination.top(), folder.local())) {
                return finishOurs(held.path().resolve("."), folder);
            }
        });
    }

    private Found finishOurs(Path path, Found folder) throws IOException {
        if (inPlace != null && !isNew(path)) {
            return folder;
        }
        if (Rights.user(path) != user) {
            throw new FileSystemException(path.toString(), null, "another folder has this name meanwhile");
        }
        return finish(path, folder);
    }

    /** Returns whether a folder is ours alone, as those that are created are until they are finished. */
    private boolean isNew(Path folder) throws IOException {
        return Rights.user(folder) == user && (DirectoryTree.facts(folder).mode() & PERMISSIONS) == OWNERS_PERMISSIONS;
    }

    private Found finish(Path path, Found folder) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            Found given = rights.give(path, folder);
            Times.setModified(path, given.modifiedNanos());
            LocalFile.setMode(path, given.mode());
            channel.force(true);
            return given;
        }
    }

    /** Creates a folder, unless it exists; a link to a folder is not one. */
    static void makeRealFolder(Path path) throws IOException {
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
}
