package dozo.remote;

import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.time.Duration;
import java.util.Arrays;
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
 * An open SFTP channel: what its server offers, the paths below its root, its handles, and what a refusal means.
 *
 * @param root the bytes before each path, without a slash at the end
 * @param handles permits for files and folders that are open at once; further callers wait
 * @param firstNanos how long the answer to the first request took; almost 0 if there was none that costs the site no work
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record SftpChannel(
        Pipeline pipeline, byte[] root, Set<String> extensions, Limits limits, Semaphore handles, long firstNanos) {

    /** Read and write size if the site reports no limits: every server must support it. */
    private static final int CONTENT_BYTES_UNTOLD = 32 << 10;

    /** Larger writes are no faster (measured) and need more memory in flight. */
    private static final int CONTENT_BYTES_MAX = 128 << 10;

    private static final int HANDLES_MAX = 512;
    private static final int HANDLES_UNTOLD = 200;

    /** The protocol limits a handle to 256 bytes. */
    private static final int HANDLE_BYTES_MAX = 256;

    private static final String LIMITS = "limits@openssh.com";
    private static final String SPACE = "statvfs@openssh.com";

    /** Ours: the guard of a hardened site offers it, because it runs no command. */
    private static final String SYNC = "sync@dozo";

    /** Much less than the silence after which a lane is given up. */
    private static final Duration ASK_EVERY = Duration.ofSeconds(20);

    /** What the site reported, cut to ours. */
    record Limits(int readBytes, int writeBytes, int handles) {

        static Limits of(long readBytes, long writeBytes, long handles) {
            return new Limits(
                    bounded(readBytes, CONTENT_BYTES_UNTOLD, CONTENT_BYTES_MAX),
                    bounded(writeBytes, CONTENT_BYTES_UNTOLD, CONTENT_BYTES_MAX),
                    bounded(handles, HANDLES_UNTOLD, HANDLES_MAX));
        }

        /** Returns the limit that the site reported (0: none), cut to ours. */
        private static int bounded(long told, int untold, int most) {
            return told <= 0 ? untold : (int) Math.min(told, most);
        }
    }

    /** Returns the same channel with the root of the host's file system as its root. */
    SftpChannel everywhere() {
        Limits one = new Limits(limits.readBytes, limits.writeBytes, 1);
        return new SftpChannel(pipeline, new byte[0], extensions, one, new Semaphore(one.handles), firstNanos);
    }

    /**
     * Opens the channel.
     *
     * @param answerMax how long the answer to the first request may take
     */
    static SftpChannel open(SiteAddress site, ClientSession session, Duration answerMax)
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
            Limits limits = extensions.contains(LIMITS) ? limits(pipeline, answerMax) : Limits.of(0, 0, 0);
            long firstNanos = System.nanoTime() - before;
            pipeline.roundTrip(firstNanos);
            Semaphore handles = new Semaphore(limits.handles);
            return new SftpChannel(pipeline, site.rootPrefix(), extensions, limits, handles, firstNanos);
        } catch (RemoteException | InterruptedException e) {
            pipeline.die(new RemoteException(Reason.LOST, "the channel to " + site + " was given up"));
            throw e;
        }
    }

    private static Limits limits(Pipeline pipeline, Duration answerMax) throws RemoteException, InterruptedException {
        Reply reply = pipeline.ask(Packet.extended(LIMITS), answerMax);
        reply.expect(Packet.EXTENDED_REPLY);
        reply.uint64();
        return Limits.of(reply.uint64(), reply.uint64(), reply.uint64());
    }

    /** Returns how busy it is: unanswered requests plus open files, since each open file causes more requests. */
    int busy() {
        return pipeline.inFlight() + limits.handles - handles.availablePermits();
    }

    /** Returns the least time that an answer has taken so far. */
    long roundTripNanos() {
        return Math.min(firstNanos, pipeline.leastNanos());
    }

    boolean syncs() {
        return extensions.contains("fsync@openssh.com");
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

    Optional<RemoteFacts> lstat(FilePath path) throws RemoteException, InterruptedException {
        return factsIn(pipeline.ask(at(Packet.LSTAT, path)), path);
    }

    Optional<RemoteFacts> factsIn(Reply reply, FilePath path) throws RemoteException, InterruptedException {
        if (reply.type() == Packet.STATUS && StatusCodes.reason(reply.status()) == Reason.NO_SUCH_FILE) {
            return Optional.empty();
        }
        failIfStatus(reply, path, Deed.LOOK);
        return Optional.of(reply.attributes());
    }

    /** Returns the room left at the site; empty if the site cannot report it. */
    Optional<Space> space() throws RemoteException, InterruptedException {
        if (!extensions.contains(SPACE)) {
            return Optional.empty();
        }
        Reply reply = pipeline.ask(Packet.extended(SPACE).string(raw(FilePath.ROOT)));
        return reply.type() == Packet.STATUS ? Optional.empty() : Optional.of(Space.in(reply));
    }

    /** Sends a request and throws its failure. */
    void expectOk(Packet request, FilePath path, Deed doing) throws RemoteException, InterruptedException {
        expectOk(pipeline.ask(request), path, doing);
    }

    private void expectOk(Reply reply, FilePath path, Deed doing) throws RemoteException, InterruptedException {
        int status = reply.status();
        if (status != Reply.OK) {
            throw failure(status, path, doing);
        }
    }

    void failIfStatus(Reply reply, FilePath path, Deed doing) throws RemoteException, InterruptedException {
        if (reply.type() == Packet.STATUS) {
            throw failure(reply.status(), path, doing);
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

    byte[] openToRead(FilePath path) throws RemoteException, InterruptedException {
        return openHandle(at(Packet.OPEN, path).uint32(Packet.OPEN_READ).uint32(0), path, Deed.READ);
    }

    byte[] openFolder(FilePath folder) throws RemoteException, InterruptedException {
        return openHandle(at(Packet.OPENDIR, folder), folder, Deed.LIST);
    }

    /** Sends a request whose answer is a handle. {@link #closeHandle} or {@link #release} it. */
    byte[] openHandle(Packet request, FilePath path, Deed doing) throws RemoteException, InterruptedException {
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
                throw pipeline.protocol(
                        "the site sent a handle of " + handle.length + " bytes; expected at most " + HANDLE_BYTES_MAX);
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
                // The site itself closes all handles of a lost
            }
        });
    }
}
