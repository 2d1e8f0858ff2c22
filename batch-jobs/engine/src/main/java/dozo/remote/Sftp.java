package dozo.remote;

import dozo.file.FilePath;
import dozo.file.Spool;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

    /** Read and write size if the site reports no limits: every server must support it. */
    private static final int CONTENT_BYTES_UNTOLD = 32 << 10;

    /** Larger writes are no faster (measured) and need more memory in flight. */
    private static final int CONTENT_BYTES_MAX = 128 << 10;

    /** Files and folders open at once on this channel; further callers wait. */
    private static final int HANDLES_MAX = 512;

    private static final int HANDLES_UNTOLD = 200;

    /** The protocol limits a handle to 256 bytes. */
    private static final int HANDLE_BYTES_MAX = 256;

    /** The most that one request has the site copy: it answers no other request meanwhile. */
    private static final long COPY_BYTES_MAX = 64 << 20;

    /** No file system has longer names: 255 units of UTF-16 take at most 765 bytes. */
    static final int NAME_BYTES_MAX = 1_024;

    /** More than any site can open. */
    static final int PATH_BYTES_MAX = 32 << 10;

    private static final String POSIX_RENAME = "posix-rename@openssh.com";
    private static final String HARD_LINK = "hardlink@openssh.com";

    /** Ours: the guard of a hardened site offers it, because it runs no command. */
    private static final String SYNC = "sync@dozo";

    /** Much less than the silence after which a lane is given up. */
    private static final Duration ASK_EVERY = Duration.ofSeconds(20);

    private final Pipeline pipeline;
    private final byte[] root;
    private final Set<String> extensions;
    private final int handlesMax;
    private final Semaphore handles;
    private final int writeBytes;
    private final int readBytes;
    private final long roundTripNanos;

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

    private record Limits(long readBytes, long writeBytes, long handles) {}

    private Sftp(Pipeline pipeline, byte[] root, Set<String> extensions, Limits limits, long roundTripNanos) {
        this.pipeline = pipeline;
        this.root = root;
        this.extensions = extensions;
        this.roundTripNanos = roundTripNanos;
        this.readBytes = bounded(limits.readBytes, CONTENT_BYTES_UNTOLD, CONTENT_BYTES_MAX);
        this.writeBytes = bounded(limits.writeBytes, CONTENT_BYTES_UNTOLD, CONTENT_BYTES_MAX);
        this.handlesMax = bounded(limits.handles, HANDLES_UNTOLD, HANDLES_MAX);
        this.handles = new Semaphore(handlesMax);
    }

    /** Returns the same channel with the root of the host's file system as its root. */
    Sftp everywhere() {
        return new Sftp(pipeline, new byte[0], extensions, new Limits(readBytes, writeBytes, 1), roundTripNanos);
    }

    static Sftp open(SiteAddress site, ClientSession session) throws RemoteException, InterruptedException {
        return open(site, session, Pipeline.START_TIMEOUT);
    }

    /** Does the same with another limit for the answer to its first request. */
    static Sftp open(SiteAddress site, ClientSession session, Duration answerMax)
            throws RemoteException, InterruptedException {
        Pipeline pipeline = Pipeline.open(site.toString(), session);
        try {
            Reply hello = pipeline.hello();
            hello.expect(Packet.VERSION);
            Set<String> extensions = new TreeSet<>();
            long version = hello.uint32();
            while (hello.hasMore()) {
                extensions.add(hello.text());
                hello.string();
            }
            if (version < 3) {
                throw new RemoteException(
                        Reason.NO_SFTP, site + " offers SFTP version " + version + "; expected version 3 or later");
            }
            long before = System.nanoTime();
            Limits limits = limits(pipeline, extensions, answerMax);
            long roundTripNanos = System.nanoTime() - before;
            pipeline.roundTrip(roundTripNanos);
            return new Sftp(pipeline, site.rootPrefix(), extensions, limits, roundTripNanos);
        } catch (RemoteException | InterruptedException e) {
            pipeline.die(new RemoteException(Reason.LOST, "the channel to " + site + " was given up"));
            throw e;
        }
    }

    /** Closes an unused channel, so that the site has room for another. */
    void giveUp() {
        pipeline.giveUp();
    }

    private static Limits limits(Pipeline pipeline, Set<String> extensions, Duration answerMax)
            throws RemoteException, InterruptedException {
        if (!extensions.contains("limits@openssh.com")) {
            return new Limits(0, 0, 0);
        }
        Reply reply = pipeline.ask(Packet.extended("limits@openssh.com"), answerMax);
        reply.expect(Packet.EXTENDED_REPLY);
        reply.uint64();
        return new Limits(reply.uint64(), reply.uint64(), reply.uint64());
    }

    /** Returns the limit that the site reported (0: none), cut to ours. */
    private static int bounded(long told, int untold, int most) {
        return told <= 0 ? untold : (int) Math.min(told, most);
    }

    /**
     * Creates an empty file for writing, readable by its owner only until {@link RemoteFile#finish} sets its mode.
     * Throws EXISTS if the name is in use, even by a dangling link.
     */
    public RemoteFile create(FilePath path) throws RemoteException, InterruptedException {
        int flags = Packet.OPEN_WRITE | Packet.OPEN_CREATE | Packet.OPEN_EXCLUSIVE;
        Packet request =
                at(Packet.OPEN, path).uint32(flags).uint32(Packet.HAS_MODE).uint32(0600);
        return new RemoteFile(this, path, openHandle(request, path, Deed.CREATE));
    }

    /**
     * Opens an existing file for writing without truncating it. Throws REFUSED if it is not a regular file. The
     * protocol cannot open without following links, so the check comes first: nobody else may write to these folders.
     */
    public RemoteFile open(FilePath path) throws RemoteException, InterruptedException {
        regularFile(path);
        Packet request = at(Packet.OPEN, path).uint32(Packet.OPEN_WRITE).uint32(0);
        return new RemoteFile(this, path, openHandle(request, path, Deed.OPEN));
    }

    /**
     * Returns whether the site can copy from one of its files to another ({@code copy-data} of
     * draft-ietf-secsh-filexfer-extensions-00; in OpenSSH since 9.0).
     */
    public boolean copiesData() {
        return extensions.contains("copy-data");
    }

    /**
     * Has the site copy parts of a regular file into a file that is being written. As with writes, failures are
     * reported when that file is finished.
     */
    public void copy(FilePath from, List<Part> parts, RemoteFile into) throws RemoteException, InterruptedException {
        regularFile(from);
        byte[] handle =
                openHandle(at(Packet.OPEN, from).uint32(Packet.OPEN_READ).uint32(0), from, Deed.READ);
        try {
            for (Part part : parts) {
                for (long done = 0; done < part.length; done += COPY_BYTES_MAX) {
                    long length = Math.min(COPY_BYTES_MAX, part.length - done);
                    into.copy(handle, new Part(part.at + done, part.from + done, length));
                }
            }
        } finally {
            // The site answers requests in order, so everything is copied by then.
            release(handle);
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
        return factsIn(pipeline.ask(at(Packet.LSTAT, path)), path);
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
        throw failure(status, path, Deed.MAKE_FOLDER);
    }

    private Packet makingFolder(FilePath path, int mode) {
        return at(Packet.MKDIR, path).uint32(Packet.HAS_MODE).uint32(mode & 07777);
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
            answers.add(pipeline.send(at(Packet.LSTAT, folder)));
        }
        int there = 0;
        for (; there < way.size(); there++) {
            FilePath folder = way.get(there);
            Optional<RemoteFacts> facts = factsIn(pipeline.await(answers.get(there)), folder);
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
            standing.add(pipeline.send(at(Packet.LSTAT, folder)));
        }
        for (int i = 0; i < missing.size(); i++) {
            FilePath folder = missing.get(i);
            int status = pipeline.await(made.get(i)).status();
            // Another process may have created it meanwhile.
            if (status != Reply.OK && !isFolder(factsIn(pipeline.await(standing.get(i)), folder))) {
                throw failure(status, folder, Deed.MAKE_FOLDER);
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
        expectOk(pipeline.ask(at(Packet.RENAME, from).string(raw(to))), to, Deed.RENAME);
    }

    /**
     * Renames a file and atomically replaces a file of the new name; a folder is never replaced. If the site does not
     * offer {@code posix-rename@openssh.com}, it renames to an unused name and throws UNSUPPORTED if the name is in use:
     * any other way leaves the name unused for a moment.
     */
    public void replace(FilePath from, FilePath to) throws RemoteException, InterruptedException {
        if (extensions.contains(POSIX_RENAME)) {
            Packet request = Packet.extended(POSIX_RENAME).string(raw(from)).string(raw(to));
            expectOk(pipeline.ask(request), to, Deed.RENAME);
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
        Map<FilePath, CompletableFuture<Reply>> answers = new HashMap<>();
        for (Map.Entry<FilePath, FilePath> name : names.entrySet()) {
            Packet request = replacing && extensions.contains(POSIX_RENAME)
                    ? Packet.extended(POSIX_RENAME).string(raw(name.getKey()))
                    : at(Packet.RENAME, name.getKey());
            answers.put(name.getKey(), pipeline.send(request.string(raw(name.getValue()))));
        }
        return succeeded(answers);
    }

    /** Returns whether the site offers hard links; its file system may still refuse them. */
    boolean linksFiles() {
        return extensions.contains(HARD_LINK);
    }

    /**
     * Gives a file another name. Throws EXISTS if that name is in use: nothing is ever replaced. Throws UNSUPPORTED if the
     * site does not offer {@code hardlink@openssh.com}.
     */
    public void hardLink(FilePath file, FilePath name) throws RemoteException, InterruptedException {
        if (!linksFiles()) {
            throw new RemoteException(Reason.UNSUPPORTED, "the site does not offer hard links");
        }
        expectOk(pipeline.ask(hardLinking(file, name)), name, Deed.MAKE_HARD_LINK);
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
            answers.put(name.getKey(), pipeline.send(hardLinking(name.getValue(), name.getKey())));
        }
        return succeeded(answers);
    }

    private Packet hardLinking(FilePath file, FilePath name) {
        return Packet.extended(HARD_LINK).string(raw(file)).string(raw(name));
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
        expectOk(pipeline.ask(at(Packet.REMOVE, path)), path, Deed.REMOVE);
    }

    /** Removes an empty folder. */
    public void rmdir(FilePath path) throws RemoteException, InterruptedException {
        expectOk(pipeline.ask(at(Packet.RMDIR, path)), path, Deed.REMOVE);
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
            answers.add(pipeline.send(at(Packet.REMOVE, file)));
        }
        for (FilePath folder : folders) {
            answers.add(pipeline.send(at(Packet.RMDIR, folder)));
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
        Packet request = Packet.of(Packet.SYMLINK).string(target).string(raw(link));
        expectOk(pipeline.ask(request), link, Deed.MAKE_LINK);
    }

    /** Returns the text of a symbolic link. */
    public byte[] readlink(FilePath path) throws RemoteException, InterruptedException {
        Reply reply = pipeline.ask(at(Packet.READLINK, path));
        failIfStatus(reply, path, Deed.READ_LINK);
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
        expectOk(pipeline.ask(at(Packet.SETSTAT, path).facts(mode, modifiedSeconds)), path, Deed.SET_FACTS);
    }

    /** Sets the length, mode and modification time of a file. A shorter file gets a hole at its end. */
    public void setFacts(FilePath path, long sizeBytes, int mode, long modifiedSeconds)
            throws RemoteException, InterruptedException {
        expectOk(pipeline.ask(at(Packet.SETSTAT, path).facts(sizeBytes, mode, modifiedSeconds)), path, Deed.SET_FACTS);
    }

    /** Truncates a file to this length. */
    public void cutOff(FilePath path, long sizeBytes) throws RemoteException, InterruptedException {
        expectOk(pipeline.ask(at(Packet.SETSTAT, path).length(sizeBytes)), path, Deed.SET_FACTS);
    }

    /** Returns whether a folder can be listed. A link to a folder counts as one here. */
    boolean isReadableFolder(FilePath folder) throws RemoteException, InterruptedException {
        try {
            release(openHandle(at(Packet.OPENDIR, folder), folder, Deed.LIST));
            return true;
        } catch (RemoteException e) {
            if (e.retryable() || e.reason() == Reason.PROTOCOL) {
                throw e;
            }
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
        list(folder, names, ListingLimit.passing(folder));
    }

    /**
     * Does the same for a receiver that keeps the names. Throws PROTOCOL if they take more than 8 MiB, or 32 MiB with
     * those of all other listings (about 40,000 names each); STUCK if the listing takes more than 10 min.
     */
    public <X extends Exception> void listToKeep(FilePath folder, Names<X> names)
            throws X, RemoteException, InterruptedException {
        list(folder, names, ListingLimit.keeping(folder));
    }

    <X extends Exception> void list(FilePath folder, Names<X> names, ListingLimit limit)
            throws X, RemoteException, InterruptedException {
        byte[] handle = openHandle(at(Packet.OPENDIR, folder), folder, Deed.LIST);
        try (limit) {
            Packet next = Packet.of(Packet.READDIR).string(handle);
            for (Reply reply = pipeline.ask(next); !reply.isStatus(Reply.END_OF_FILE); reply = pipeline.ask(next)) {
                failIfStatus(reply, folder, Deed.LIST);
                reply.expect(Packet.NAME);
                long left = reply.uint32();
                limit.answer(left);
                for (; left > 0; left--) {
                    byte[] name = reply.string();
                    reply.string();
                    RemoteFacts facts = reply.facts();
                    if (!isDots(name)) {
                        FilePath path = child(folder, name);
                        limit.name(path);
                        names.take(path, facts);
                    }
                }
            }
        } finally {
            release(handle);
        }
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
        byte[] handle =
                openHandle(at(Packet.OPEN, path).uint32(Packet.OPEN_READ).uint32(0), path, Deed.READ);
        try (ReadAhead ahead = new ReadAhead(this, handle, path, offset, length, sizeBytes)) {
            return ahead.into(sink);
        } finally {
            release(handle);
        }
    }

    /** Returns the room left at the site; empty if the site cannot report it. */
    public Optional<Space> space() throws RemoteException, InterruptedException {
        if (!extensions.contains("statvfs@openssh.com")) {
            return Optional.empty();
        }
        Reply reply = pipeline.ask(Packet.extended("statvfs@openssh.com").string(raw(FilePath.ROOT)));
        if (reply.type() == Packet.STATUS) {
            return Optional.empty();
        }
        reply.expect(Packet.EXTENDED_REPLY);
        reply.uint64();
        long unitBytes = reply.uint64();
        long totalUnits = reply.uint64();
        reply.uint64();
        long freeUnits = reply.uint64();
        long inodes = reply.uint64();
        reply.uint64();
        long freeInodes = reply.uint64();
        reply.uint64();
        boolean readOnly = (reply.uint64() & 1) != 0;
        return Optional.of(new Space(
                bytes(totalUnits, unitBytes),
                bytes(freeUnits, unitBytes),
                inodes == 0 ? Long.MAX_VALUE : freeInodes,
                readOnly));
    }

    /** Returns the extensions that the site offers. */
    public Set<String> extensions() {
        return extensions;
    }

    /**
     * Returns the least time that an answer has taken so far; almost 0 if there was no first request that costs the site
     * no work.
     */
    long roundTripNanos() {
        return Math.min(roundTripNanos, pipeline.leastNanos());
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

    int writeBytes() {
        return writeBytes;
    }

    int readBytes() {
        return readBytes;
    }

    /** Returns whether one request writes everything at the site to its disk. */
    boolean syncsAtOnce() {
        return extensions.contains(SYNC);
    }

    /** Writes everything that the site has acknowledged to its disk, including names. */
    void syncAll(Duration limit) throws RemoteException, InterruptedException {
        expectOk(askPatiently(Packet.extended(SYNC), limit), FilePath.ROOT, Deed.SYNC);
    }

    /**
     * Asks for something that may take the site long. Meanwhile it is asked for little, so that a lane that answers is
     * not given up as silent.
     *
     * @param limit how long; after that it is given up if nothing else is answered either
     */
    Reply askPatiently(Packet request, Duration limit) throws RemoteException, InterruptedException {
        CompletableFuture<Reply> answer = pipeline.send(request);
        long end = System.nanoTime() + limit.toNanos();
        while (!isDone(answer) && System.nanoTime() < end) {
            var _ = lstat(FilePath.ROOT);
        }
        return pipeline.await(answer);
    }

    private static boolean isDone(CompletableFuture<Reply> answer) throws InterruptedException {
        try {
            var _ = answer.get(ASK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (ExecutionException e) {
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    boolean syncs() {
        return extensions.contains("fsync@openssh.com");
    }

    /** Returns how busy it is: unanswered requests plus open files, since each open file causes more requests. */
    int busy() {
        return pipeline.inFlight() + handlesMax - handles.availablePermits();
    }

    /** Returns for how long, in nanoseconds, nobody has used it; 0 while anything is under way. */
    long idleNanos() {
        return busy() > 0 ? 0 : pipeline.idleNanos();
    }

    /** Returns the bytes of a path as the site knows it. */
    byte[] raw(FilePath path) {
        if (path.isRoot()) {
            return root.length == 0 ? new byte[] {'/'} : root;
        }
        byte[] below = path.bytes();
        byte[] whole = Arrays.copyOf(root, root.length + 1 + below.length);
        whole[root.length] = '/';
        System.arraycopy(below, 0, whole, root.length + 1, below.length);
        return whole;
    }

    Packet at(int type, FilePath path) {
        return Packet.of(type).string(raw(path));
    }

    /** Asks the site to close a handle, and lets the next caller open one after the answer. */
    CompletableFuture<Reply> closeHandle(byte[] handle) throws RemoteException, InterruptedException {
        try {
            CompletableFuture<Reply> closed =
                    pipeline.send(Packet.of(Packet.CLOSE).string(handle));
            var _ = closed.whenComplete((reply, lost) -> handles.release());
            return closed;
        } catch (RemoteException | InterruptedException e) {
            handles.release();
            throw e;
        }
    }

    /** Closes a handle without waiting for the answer. */
    void release(byte[] handle) {
        // In a thread of its own because sending may block: the caller may be interrupted, or be the thread that reads
        // answers.
        Thread.ofVirtual().name("close handle").start(() -> {
            try {
                var _ = closeHandle(handle);
            } catch (RemoteException | InterruptedException gone) {
                // The site itself closes all handles of a lost channel.
            }
        });
    }

    void expectOk(Reply reply, FilePath path, Deed doing) throws RemoteException, InterruptedException {
        int status = reply.status();
        if (status != Reply.OK) {
            throw failure(status, path, doing);
        }
    }

    /** Returns the failure of a request. For the protocol's bare "failure" it asks the site once for the cause. */
    RemoteException failure(int status, FilePath path, Deed doing) throws RemoteException, InterruptedException {
        Reason reason = StatusCodes.reason(status);
        String cause = StatusCodes.text(status);
        if (reason == Reason.REFUSED) {
            CompletableFuture<Reply> there = pipeline.send(at(Packet.LSTAT, path));
            Optional<Space> space = space();
            if (doing.makes && factsIn(pipeline.await(there), path).isPresent()) {
                reason = Reason.EXISTS;
                cause = "the name is already in use";
            } else if (space.isPresent() && space.get().readOnly()) {
                reason = Reason.READ_ONLY;
                cause = "the site's file system is mounted read-only";
            } else if (space.isPresent() && space.get().full() && doing.writes) {
                reason = Reason.FULL;
                cause = "the site's file system is full; free some space there, then run again";
            }
        }
        return new RemoteException(reason, "cannot " + doing + " " + path + ": " + cause);
    }

    private RemoteFacts regularFile(FilePath path) throws RemoteException, InterruptedException {
        RemoteFacts facts = lstat(path).orElseThrow(() -> noSuchFile(path));
        if (facts.kind() != Kind.FILE) {
            throw new RemoteException(Reason.REFUSED, "cannot open " + path + ": not a regular file");
        }
        return facts;
    }

    private static RemoteException noSuchFile(FilePath path) {
        return new RemoteException(Reason.NO_SUCH_FILE, "cannot open " + path + ": no such file");
    }

    private byte[] openHandle(Packet request, FilePath path, Deed doing) throws RemoteException, InterruptedException {
        handles.acquire();
        CompletableFuture<Reply> answer;
        try {
            answer = pipeline.send(request);
        } catch (RemoteException | InterruptedException e) {
            handles.release();
            throw e;
        }
        try {
            Reply reply = pipeline.await(answer);
            failIfStatus(reply, path, doing);
            byte[] handle = reply.handle();
            if (handle.length > HANDLE_BYTES_MAX) {
                RemoteException odd = new RemoteException(
                        Reason.PROTOCOL,
                        "the site sent a handle of " + handle.length + " bytes; expected at most " + HANDLE_BYTES_MAX);
                pipeline.die(odd);
                throw odd;
            }
            return handle;
        } catch (RemoteException e) {
            handles.release();
            throw e;
        } catch (InterruptedException e) {
            closeWhenOpened(answer);
            throw e;
        }
    }

    /** Closes the handle when it arrives, because its caller was interrupted before. */
    private void closeWhenOpened(CompletableFuture<Reply> answer) {
        var _ = answer.whenComplete((reply, lost) -> {
            try {
                if (lost == null && reply.type() == Packet.HANDLE) {
                    release(reply.handle());
                    return;
                }
            } catch (RemoteException garbage) {
                // The channel is already dead.
            }
            handles.release();
        });
    }

    private Optional<RemoteFacts> factsIn(Reply reply, FilePath path) throws RemoteException, InterruptedException {
        if (reply.type() == Packet.STATUS && StatusCodes.reason(reply.status()) == Reason.NO_SUCH_FILE) {
            return Optional.empty();
        }
        failIfStatus(reply, path, Deed.LOOK);
        return Optional.of(reply.attributes());
    }

    void failIfStatus(Reply reply, FilePath path, Deed doing) throws RemoteException, InterruptedException {
        if (reply.type() == Packet.STATUS) {
            throw failure(reply.status(), path, doing);
        }
    }

    private FilePath child(FilePath folder, byte[] name) throws RemoteException {
        try {
            if (name.length > NAME_BYTES_MAX || folder.bytes().length + name.length > PATH_BYTES_MAX) {
                throw new IllegalArgumentException("expected names of at most %d bytes and paths of at most %d"
                        .formatted(NAME_BYTES_MAX, PATH_BYTES_MAX));
            }
            return folder.resolve(name);
        } catch (IllegalArgumentException e) {
            RemoteException hostile = new RemoteException(
                    Reason.PROTOCOL, "the site returned an invalid name in " + folder + ": " + e.getMessage(), e);
            pipeline.die(hostile);
            throw hostile;
        }
    }

    private static boolean isDots(byte[] name) {
        String text = new String(name, StandardCharsets.ISO_8859_1);
        return text.equals(".") || text.equals("..");
    }

    private static long bytes(long units, long unitBytes) {
        long high = Math.multiplyHigh(units, unitBytes);
        long product = units * unitBytes;
        return high != 0 || product < 0 ? Long.MAX_VALUE : product;
    }

    /** Returns the absolute path at the site of a path that is absolute or relative to the login's home folder. */
    public byte[] realPath(byte[] path) throws RemoteException, InterruptedException {
        Reply reply = pipeline.ask(Packet.of(Packet.REALPATH).string(path));
        failIfStatus(reply, FilePath.ROOT, Deed.LOOK);
        reply.expect(Packet.NAME);
        reply.uint32();
        return reply.string();
    }
}
