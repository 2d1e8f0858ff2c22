package dozo.remote;

import dozo.file.FilePath;
import dozo.file.Spool;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts.Kind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.sshd.client.session.ClientSession;

/**
 * The files below a site's root, by SFTP version 3 on one channel.
 *
 * <p>Paths and names are bytes throughout. Methods block until the answer is there (unless stated otherwise) and are
 * meant for many virtual threads at once: their requests share the channel without waiting for each other. No method
 * follows a symbolic link at the path it is given, and only {@link #replace}, and {@link #renameAll} on request,
 * replace a file.
 *
 * <p>All methods throw {@link RemoteException}; after reason LOST or PROTOCOL the lane is unusable.
 */
public final class Sftp {

    private static final String POSIX_RENAME = "posix-rename@openssh.com";
    private static final String HARD_LINK = "hardlink@openssh.com";

    private final SftpChannel channel;
    private final Pipeline pipeline;

    /** Receives the content of a file, in order. */
    @FunctionalInterface
    public interface Sink {
        /** Takes {@code length} bytes; the caller does not use the array again. */
        void take(byte[] bytes, int from, int length) throws IOException, InterruptedException;
    }

    /**
     * Receives the names in a folder, in the site's order, without {@code "."} and {@code ".."}.
     *
     * @param <X> what receiving them may throw
     */
    @FunctionalInterface
    public interface Names<X extends Exception> {
        void take(FilePath path, RemoteFacts facts) throws X, InterruptedException;
    }

    private Sftp(SftpChannel channel) {
        this.channel = channel;
        this.pipeline = channel.pipeline();
    }

    static Sftp open(SiteAddress site, ClientSession session) throws RemoteException, InterruptedException {
        return new Sftp(SftpChannel.open(site, session, Pipeline.START_TIMEOUT));
    }

    /** Returns the same channel with the root of the host's file system as its root. */
    Sftp everywhere() {
        return new Sftp(channel.everywhere());
    }

    /**
     * Creates an empty file for writing, readable by its owner only until {@link RemoteFile#finish} sets its mode.
     * Throws EXISTS if the name is in use, even by a dangling link.
     */
    public RemoteFile create(FilePath path) throws RemoteException, InterruptedException {
        int flags = Packet.OPEN_WRITE | Packet.OPEN_CREATE | Packet.OPEN_EXCLUSIVE;
        Packet request = channel.at(Packet.OPEN, path)
                .uint32(flags)
                .uint32(Packet.HAS_MODE)
                .uint32(0600);
        return new RemoteFile(channel, path, channel.openHandle(request, path, Deed.CREATE));
    }

    /**
     * Opens an existing file for writing without truncating it. Throws REFUSED if it is not a regular file. The
     * protocol cannot open without following links, so the check comes first: nobody else may write to these folders.
     */
    public RemoteFile open(FilePath path) throws RemoteException, InterruptedException {
        regularFile(path);
        Packet request = channel.at(Packet.OPEN, path).uint32(Packet.OPEN_WRITE).uint32(0);
        return new RemoteFile(channel, path, channel.openHandle(request, path, Deed.OPEN));
    }

    /**
     * Returns whether the site can copy from one of its files to another ({@code copy-data} of
     * draft-ietf-secsh-filexfer-extensions-00; in OpenSSH since 9.0).
     */
    public boolean copiesData() {
        return extensions().contains("copy-data");
    }

    /**
     * Has the site copy parts of a regular file into a file that is being written. As with writes, failures are
     * reported when that file is finished.
     */
    public void copy(FilePath from, List<Part> parts, RemoteFile into) throws RemoteException, InterruptedException {
        regularFile(from);
        byte[] handle = channel.openToRead(from);
        try {
            for (Part part : parts) {
                into.copy(handle, part);
            }
        } finally {
            // The site answers requests in order, so everything is copied by then.
            channel.release(handle);
        }
    }

    /**
     * A part that two files have in common; all values in bytes.
     *
     * @param at its offset in the new file
     * @param from its offset in the existing file
     */
    public record Part(long at, long from, long length) {}

    /** Returns the facts of what is at this path, without following a link; empty if there is nothing. */
    public Optional<RemoteFacts> lstat(FilePath path) throws RemoteException, InterruptedException {
        return channel.lstat(path);
    }

    /**
     * Creates a folder. Throws EXISTS if the name is in use by anything but a folder.
     *
     * @return whether it was created; false if it existed
     */
    public boolean mkdir(FilePath path, int mode) throws RemoteException, InterruptedException {
        int status = pipeline.ask(makingFolder(path, mode)).status();
        if (status == Reply.OK) {
            return true;
        }
        boolean mayStand = Set.of(Reason.REFUSED, Reason.EXISTS).contains(StatusCodes.reason(status));
        if (mayStand && isFolder(lstat(path))) {
            return false;
        }
        throw channel.failure(status, path, Deed.MAKE_FOLDER);
    }

    private Packet makingFolder(FilePath path, int mode) {
        return channel.at(Packet.MKDIR, path).uint32(Packet.HAS_MODE).uint32(mode & 07777);
    }

    /**
     * Creates a folder and its missing parents, accessible to the owner only. Throws EXISTS if anything on the way is
     * not a folder; a link to a folder is not one.
     */
    public void mkdirs(FilePath path) throws RemoteException, InterruptedException {
        List<FilePath> way = new ArrayList<>();
        for (FilePath folder = path; !folder.isRoot(); folder = folder.parent()) {
            way.addFirst(folder);
        }
        List<CompletableFuture<Reply>> answers = new ArrayList<>();
        for (FilePath folder : way) {
            answers.add(pipeline.send(channel.at(Packet.LSTAT, folder)));
        }
        int there = 0;
        for (; there < way.size(); there++) {
            FilePath folder = way.get(there);
            Optional<RemoteFacts> facts = channel.factsIn(pipeline.await(answers.get(there)), folder);
            if (facts.isEmpty()) {
                break;
            }
            if (!isFolder(facts)) {
                throw new RemoteException(
                        Reason.EXISTS, "cannot make folder " + path + ": " + folder + " exists and is not a folder");
            }
        }
        List<FilePath> missing = way.subList(there, way.size());
        List<CompletableFuture<Reply>> made = new ArrayList<>();
        List<CompletableFuture<Reply>> standing = new ArrayList<>();
        for (FilePath folder : missing) {
            made.add(pipeline.send(makingFolder(folder, 0700)));
            standing.add(pipeline.send(channel.at(Packet.LSTAT, folder)));
        }
        for (int i = 0; i < missing.size(); i++) {
            FilePath folder = missing.get(i);
            int status = pipeline.await(made.get(i)).status();
            // Another process may have created it meanwhile.
            if (status != Reply.OK && !isFolder(channel.factsIn(pipeline.await(standing.get(i)), folder))) {
                throw channel.failure(status, folder, Deed.MAKE_FOLDER);
            }
        }
    }

    private static boolean isFolder(Optional<RemoteFacts> facts) {
        return facts.filter(there -> there.kind() == Kind.DIRECTORY).isPresent();
    }

    /**
     * Renames a file. Throws EXISTS if the new name is in use: the plain SFTP rename never replaces a file, which
     * OpenSSH ensures by link and unlink even for concurrent renames. For regular files only: for folders and links
     * OpenSSH checks first and then renames, and would replace a dangling link.
     */
    public void rename(FilePath from, FilePath to) throws RemoteException, InterruptedException {
        channel.expectOk(fromTo(Packet.of(Packet.RENAME), from, to), to, Deed.RENAME);
    }

    /**
     * Renames a file and atomically replaces a file of the new name; a folder is never replaced. If the site does not
     * offer {@code posix-rename@openssh.com}, it renames to an unused name and throws UNSUPPORTED if the name is in use:
     * any other way leaves the name unused for a moment.
     */
    public void replace(FilePath from, FilePath to) throws RemoteException, InterruptedException {
        if (extensions().contains(POSIX_RENAME)) {
            channel.expectOk(fromTo(Packet.extended(POSIX_RENAME), from, to), to, Deed.RENAME);
            return;
        }
        try {
            rename(from, to);
        } catch (RemoteException e) {
            if (e.reason() != Reason.EXISTS) {
                throw e;
            }
            throw new RemoteException(
                    Reason.UNSUPPORTED, "the site cannot replace a file atomically; remove " + to + " there first", e);
        }
    }

    /**
     * Renames files as {@link #rename} or {@link #replace} does, without waiting for each answer.
     *
     * @param names old names to new names
     * @return those that have been renamed; the state of the others is unknown
     */
    public Set<FilePath> renameAll(Map<FilePath, FilePath> names, boolean replacing)
            throws RemoteException, InterruptedException {
        boolean plain = !replacing || !extensions().contains(POSIX_RENAME);
        Map<FilePath, CompletableFuture<Reply>> answers = new HashMap<>();
        for (Map.Entry<FilePath, FilePath> name : names.entrySet()) {
            Packet request = plain ? Packet.of(Packet.RENAME) : Packet.extended(POSIX_RENAME);
            answers.put(name.getKey(), pipeline.send(fromTo(request, name.getKey(), name.getValue())));
        }
        return succeeded(answers);
    }

    /** Returns whether the site offers hard links; its file system may still refuse them. */
    boolean linksFiles() {
        return extensions().contains(HARD_LINK);
    }

    /**
     * Gives a file another name. Throws EXISTS if that name is in use: nothing is ever replaced. Throws UNSUPPORTED if the
     * site does not offer {@code hardlink@openssh.com}.
     */
    public void hardLink(FilePath file, FilePath name) throws RemoteException, InterruptedException {
        if (!linksFiles()) {
            throw new RemoteException(Reason.UNSUPPORTED, "the site does not offer hard links");
        }
        channel.expectOk(fromTo(Packet.extended(HARD_LINK), file, name), name, Deed.MAKE_HARD_LINK);
    }

    /**
     * Gives files other names, without waiting for each answer. The site must offer hard links.
     *
     * @param names new names to existing ones
     * @return the new names that were free; the state of the others is unknown
     */
    public Set<FilePath> hardLinkAll(Map<FilePath, FilePath> names) throws RemoteException, InterruptedException {
        Map<FilePath, CompletableFuture<Reply>> answers = new HashMap<>();
        for (Map.Entry<FilePath, FilePath> name : names.entrySet()) {
            answers.put(
                    name.getKey(), pipeline.send(fromTo(Packet.extended(HARD_LINK), name.getValue(), name.getKey())));
        }
        return succeeded(answers);
    }

    private Packet fromTo(Packet request, FilePath from, FilePath to) {
        return request.string(channel.raw(from)).string(channel.raw(to));
    }

    private Set<FilePath> succeeded(Map<FilePath, CompletableFuture<Reply>> answers)
            throws RemoteException, InterruptedException {
        Set<FilePath> succeeded = new HashSet<>();
        for (Map.Entry<FilePath, CompletableFuture<Reply>> answer : answers.entrySet()) {
            if (pipeline.await(answer.getValue()).status() == Reply.OK) {
                succeeded.add(answer.getKey());
            }
        }
        return succeeded;
    }

    /** Removes a file or link. */
    public void remove(FilePath path) throws RemoteException, InterruptedException {
        channel.expectOk(channel.at(Packet.REMOVE, path), path, Deed.REMOVE);
    }

    /** Removes an empty folder. */
    public void rmdir(FilePath path) throws RemoteException, InterruptedException {
        channel.expectOk(channel.at(Packet.RMDIR, path), path, Deed.REMOVE);
    }

    /**
     * Removes files and links, then folders, in the given order, without waiting for each answer.
     *
     * @return whether none of these names exists now
     */
    public boolean removeAll(List<FilePath> files, List<FilePath> folders)
            throws RemoteException, InterruptedException {
        List<CompletableFuture<Reply>> answers = new ArrayList<>();
        for (FilePath file : files) {
            answers.add(pipeline.send(channel.at(Packet.REMOVE, file)));
        }
        for (FilePath folder : folders) {
            answers.add(pipeline.send(channel.at(Packet.RMDIR, folder)));
        }
        boolean gone = true;
        for (CompletableFuture<Reply> answer : answers) {
            int status = pipeline.await(answer).status();
            gone &= status == Reply.OK || StatusCodes.reason(status) == Reason.NO_SUCH_FILE;
        }
        return gone;
    }

    /** Creates a symbolic link with this text. Throws EXISTS if the name is in use. */
    public void symlink(byte[] target, FilePath link) throws RemoteException, InterruptedException {
        // NB: the draft says link first; OpenSSH reverses the order, and all clients have followed.
        Packet request = Packet.of(Packet.SYMLINK).string(target).string(channel.raw(link));
        channel.expectOk(request, link, Deed.MAKE_LINK);
    }

    /** Returns the text of a symbolic link. */
    public byte[] readlink(FilePath path) throws RemoteException, InterruptedException {
        Reply reply = pipeline.ask(channel.at(Packet.READLINK, path));
        channel.failIfStatus(reply, path, Deed.READ_LINK);
        reply.expect(Packet.NAME);
        if (reply.uint32() != 1) {
            throw new RemoteException(
                    Reason.PROTOCOL, "the site returned more or fewer than one text for link " + path);
        }
        return reply.string();
    }

    /**
     * Sets the mode and modification time of a file or folder, not of a link. Times are limited to 1970–2106 by the
     * protocol.
     */
    public void setFacts(FilePath path, int mode, long modifiedSeconds) throws RemoteException, InterruptedException {
        channel.expectOk(channel.at(Packet.SETSTAT, path).facts(mode, modifiedSeconds), path, Deed.SET_FACTS);
    }

    /** Sets the length, mode and modification time of a file. A shorter file gets a hole at its end. */
    public void setFacts(FilePath path, long sizeBytes, int mode, long modifiedSeconds)
            throws RemoteException, InterruptedException {
        channel.expectOk(
                channel.at(Packet.SETSTAT, path).facts(sizeBytes, mode, modifiedSeconds), path, Deed.SET_FACTS);
    }

    /** Truncates a file to this length. */
    public void cutOff(FilePath path, long sizeBytes) throws RemoteException, InterruptedException {
        channel.expectOk(channel.at(Packet.SETSTAT, path).length(sizeBytes), path, Deed.SET_FACTS);
    }

    /** Returns whether a folder can be listed. A link to a folder counts as one here. */
    public boolean isReadableFolder(FilePath folder) throws RemoteException, InterruptedException {
        try {
            channel.release(channel.openFolder(folder));
            return true;
        } catch (RemoteException e) {
            e.throwIfNoAnswer();
            return false;
        }
    }

    /**
     * Lists a folder of any length, with one batch of the site's in memory at a time: for a receiver that passes the
     * names on. Throws NO_SUCH_FILE if the folder does not exist; STUCK if the listing takes more than 10 min and 0.2 s for each
     * name, or more than a day.
     */
    public <X extends Exception> void list(FilePath folder, Names<X> names)
            throws X, RemoteException, InterruptedException {
        Listing.passing(folder).read(channel, names);
    }

    /**
     * Does the same for a receiver that keeps the names. Throws PROTOCOL if they take more than 8 MiB, or 32 MiB with
     * those of all other listings (about 40,000 names each); STUCK if the listing takes more than 10 min.
     */
    public <X extends Exception> void listToKeep(FilePath folder, Names<X> names)
            throws X, RemoteException, InterruptedException {
        Listing.keeping(folder).read(channel, names);
    }

    /**
     * Returns the content of a regular file; the caller closes it. Throws REFUSED if it is larger than {@code bytesMax}, or has no
     * room here; PROTOCOL if it is longer than its size: a site may say any size, and send without an end.
     */
    public Spool content(FilePath path, long bytesMax) throws IOException, InterruptedException {
        long sizeBytes = regularFile(path).sizeBytes();
        long most = Math.min(bytesMax, Spool.roomBytes());
        if (sizeBytes < 0 || sizeBytes > most) {
            throw new RemoteException(
                    Reason.REFUSED,
                    "%s at the site has %s bytes; expected at most %d, or half of the free space for temporary files"
                            .formatted(path, Long.toUnsignedString(sizeBytes), most));
        }
        Spool content = new Spool();
        try {
            if (read(path, 0, sizeBytes + 1, content::write) > sizeBytes) {
                throw new RemoteException(
                        Reason.PROTOCOL,
                        "%s at the site is longer than the %d bytes of its size".formatted(path, sizeBytes));
            }
            return content;
        } catch (IOException | InterruptedException | RuntimeException e) {
            content.close();
            throw e;
        }
    }

    /**
     * Reads a regular file, or a part of it, in order; requests run ahead of the sink within the channel's limits.
     *
     * @param length bytes wanted; {@link Long#MAX_VALUE} for all
     * @return bytes read: less than {@code length} only if the file ends earlier
     */
    public long read(FilePath path, long offset, long length, Sink sink) throws IOException, InterruptedException {
        long sizeBytes = regularFile(path).sizeBytes();
        byte[] handle = channel.openToRead(path);
        try (ReadAhead ahead = new ReadAhead(channel, handle, path, offset, length, sizeBytes)) {
            return ahead.into(sink);
        } finally {
            channel.release(handle);
        }
    }

    /** Returns the room left at the site; empty if the site cannot report it. */
    public Optional<Space> space() throws RemoteException, InterruptedException {
        return channel.space();
    }

    /** Returns the extensions that the site offers. */
    public Set<String> extensions() {
        return channel.extensions();
    }

    /** Returns whether a block for a file here is available without waiting. */
    public boolean hasRoom() {
        return pipeline.hasRoom();
    }

    /** Returns the number of requests without an answer. */
    public int inFlight() {
        return pipeline.inFlight();
    }

    public boolean isOpen() {
        return pipeline.isOpen();
    }

    Pipeline pipeline() {
        return pipeline;
    }

    SftpChannel channel() {
        return channel;
    }

    /** Returns for how long, in nanoseconds, nobody has used it; 0 while anything is under way. */
    long idleNanos() {
        return channel.busy() > 0 ? 0 : pipeline.idleNanos();
    }

    private RemoteFacts regularFile(FilePath path) throws RemoteException, InterruptedException {
        RemoteFacts facts = lstat(path)
                .orElseThrow(() -> new RemoteException(Reason.NO_SUCH_FILE, "cannot open " + path + ": no such file"));
        if (facts.kind() != Kind.FILE) {
            throw new RemoteException(Reason.REFUSED, "cannot open " + path + ": not a regular file");
        }
        return facts;
    }

    /** Returns the absolute path at the site of a path that is absolute or relative to the login's home folder. */
    public byte[] realPath(byte[] path) throws RemoteException, InterruptedException {
        Reply reply = pipeline.ask(Packet.of(Packet.REALPATH).string(path));
        channel.failIfStatus(reply, FilePath.ROOT, Deed.LOOK);
        reply.expect(Packet.NAME);
        reply.uint32();
        return reply.string();
    }
}
