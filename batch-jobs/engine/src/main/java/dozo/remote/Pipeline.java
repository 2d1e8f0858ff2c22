package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.session.ConnectionService;
import org.jspecify.annotations.Nullable;

/**
 * One SFTP channel as a pipeline: many threads send requests at once, and answers are matched to requests by id.
 *
 * <p>Requests are queued, and one thread, which is never interrupted, writes them directly into SSH packets. It sends a
 * packet when it is full or when no request is left: many small requests share a packet, and a single one is sent at
 * once.
 */
final class Pipeline {

    /** Requests without an answer; further senders wait. */
    private static final int IN_FLIGHT_MAX = 1024;

    /** Bytes of file content requested and not yet received: more than a server's window, far less than a heap. */
    private static final int ASKED_BYTES_MAX = 8 << 20;

    /**
     * Bytes of written content without an answer over a short distance; further writers wait. OpenSSH's server reads
     * requests faster than it answers them, and copies all that wait again and again: with 13 MB, for 13 ms before each
     * answer (ADR 0063).
     */
    static final int UNANSWERED_BYTES_NEAR = 512 << 10;

    /** The same over any distance: twice the window of an OpenSSH server. */
    private static final int UNANSWERED_BYTES_MAX = 4 << 20;

    /** Blocks of content that are being filled or wait to be sent. */
    private static final int BLOCKS_MAX = 8;

    /** The longest answer that is accepted: OpenSSH itself never sends more than 256 KiB. */
    private static final int ANSWER_BYTES_MAX = (256 << 10) + 1024;

    /** How long a site may take to open a channel, and for each of its first two answers there. */
    static final Duration START_TIMEOUT = Duration.ofSeconds(30);

    /** How long a site may accept no data. {@link Lanes} closes a stuck lane earlier. */
    static final Duration WINDOW_TIMEOUT = Duration.ofMinutes(10);

    private static final int VERSION_ID = -1;

    private final String site;
    private final ProgramChannel channel;
    private final BlockingQueue<Request> queue = new LinkedBlockingQueue<>();
    private final AtomicInteger ids = new AtomicInteger();
    private final ConcurrentHashMap<Integer, Answer> unanswered = new ConcurrentHashMap<>();
    private final Semaphore requests = new Semaphore(IN_FLIGHT_MAX);
    private final Semaphore unansweredBytes = new Semaphore(UNANSWERED_BYTES_MAX);
    private final Semaphore askedBytes = new Semaphore(ASKED_BYTES_MAX);
    private final Semaphore blocks = new Semaphore(BLOCKS_MAX);
    private final ConcurrentLinkedQueue<byte[]> emptyBlocks = new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable RemoteException> death = new AtomicReference<>();

    /** When the last answer came, or the first request after a time without any, in {@link System#nanoTime} terms. */
    private volatile long heardNanos = System.nanoTime();

    private volatile long leastNanos = Long.MAX_VALUE;

    private final LongAdder bytesMoved = new LongAdder();

    /** Used only by the sending thread. */
    private final ChannelWriter writer;

    /** An answer that is due, and since when. */
    private static final class Answer extends CompletableFuture<Reply> {
        private final long askedNanos = System.nanoTime();
    }

    /** A request in the queue; {@code block} is sent after it and returned. */
    private record Request(Packet head, int id, @Nullable Block block) {
        boolean isEnd() {
            return head.type() == 0;
        }
    }

    /** Ends the sending thread. */
    private static final Request END = new Request(Packet.of(0), 0, null);

    private Pipeline(String site, ProgramChannel channel) {
        this.site = site;
        this.channel = channel;
        this.writer = new ChannelWriter(channel, WINDOW_TIMEOUT, bytesMoved);
    }

    /** Opens the subsystem. {@link #hello} then returns the server's version. */
    static Pipeline open(String site, ClientSession session) throws RemoteException, InterruptedException {
        ProgramChannel channel = ProgramChannel.subsystem("sftp");
        try {
            session.getService(ConnectionService.class).registerChannel(channel);
        } catch (IOException | IllegalStateException e) {
            throw new RemoteException(Reason.LOST, "the connection to " + site + " is gone", e);
        }
        Pipeline pipeline = new Pipeline(site, channel);
        channel.setOut(pipeline.new Answers());
        channel.setErr(OutputStream.nullOutputStream());
        channel.addCloseFutureListener(
                closed -> pipeline.die(new RemoteException(Reason.LOST, "the connection to " + site + " was lost")));
        try {
            channel.open().verify(START_TIMEOUT);
        } catch (IOException e) {
            channel.close(true);
            Lane.rethrowInterruption(e);
            throw new RemoteException(
                    session.isOpen() ? Reason.NO_SFTP : Reason.LOST, site + " does not open an SFTP channel", e);
        }
        Thread.ofPlatform().daemon().name("send to " + site).start(pipeline::sendAll);
        return pipeline;
    }

    /** Sets the round trip, before anything is written. */
    void roundTrip(long nanos) {
        writer.roundTrip(nanos);
        long needed = UNANSWERED_BYTES_NEAR + (long) (nanos * ChannelWriter.BYTES_PER_NANO);
        var _ = unansweredBytes.tryAcquire((int) Math.max(0, UNANSWERED_BYTES_MAX - needed));
    }

    /** Sends INIT and returns the server's VERSION answer: version and extensions. */
    Reply hello() throws RemoteException, InterruptedException {
        requests.acquire();
        try {
            return await(enqueue(VERSION_ID, Packet.of(Packet.INIT).uint32(3), null), START_TIMEOUT);
        } catch (RemoteException e) {
            if (e.reason() != Reason.LOST || !channel.getSession().isOpen()) {
                throw e;
            }
            throw new RemoteException(Reason.NO_SFTP, site + " accepts the login but offers no SFTP", e);
        }
    }

    /** Sends a request; its answer completes the future. Blocks while too many are in flight. */
    CompletableFuture<Reply> send(Packet request) throws RemoteException, InterruptedException {
        requests.acquire();
        return enqueue(request, null);
    }

    /** Sends a request that ends with the block's content, prefixed with its length. The block is always returned. */
    CompletableFuture<Reply> sendBlock(Packet request, Block block) throws RemoteException, InterruptedException {
        int bytes = Math.min(block.length(), UNANSWERED_BYTES_NEAR);
        try {
            acquireFor(bytes);
        } catch (InterruptedException e) {
            giveBack(block);
            throw e;
        }
        CompletableFuture<Reply> answer = enqueue(request.uint32(block.length()), block);
        var _ = answer.whenComplete((_, _) -> unansweredBytes.release(bytes));
        return answer;
    }

    private void acquireFor(int bytes) throws InterruptedException {
        unansweredBytes.acquire(bytes);
        try {
            requests.acquire();
        } catch (InterruptedException e) {
            // The channel continues without this request.
            unansweredBytes.release(bytes);
            throw e;
        }
    }

    /** Returns an empty block of at least this many bytes. Waits while all blocks are in use. */
    Block takeBlock(int bytes) throws RemoteException, InterruptedException {
        blocks.acquire();
        RemoteException dead = death.get();
        if (dead != null) {
            blocks.release();
            throw dead.again();
        }
        byte[] used = emptyBlocks.poll();
        return new Block(used != null && used.length >= bytes ? used : new byte[bytes], this);
    }

    void giveBack(Block block) {
        emptyBlocks.add(block.bytes());
        blocks.release();
    }

    /** Returns whether a block is available without waiting: the channel keeps up. */
    boolean hasRoom() {
        return blocks.availablePermits() > 0 && unansweredBytes.availablePermits() > 0;
    }

    /** Takes permits for content to be requested; the caller releases them by {@link #contentTaken}. */
    boolean mayAskFor(int bytes, boolean wait) throws InterruptedException {
        if (wait) {
            askedBytes.acquire(bytes);
            return true;
        }
        return askedBytes.tryAcquire(bytes);
    }

    void contentTaken(int bytes) {
        bytesMoved.add(bytes);
        askedBytes.release(bytes);
    }

    private CompletableFuture<Reply> enqueue(Packet head, @Nullable Block block) throws RemoteException {
        return enqueue(ids.getAndIncrement() & Integer.MAX_VALUE, head, block);
    }

    private CompletableFuture<Reply> enqueue(int id, Packet head, @Nullable Block block) throws RemoteException {
        Answer answer = new Answer();
        if (unanswered.isEmpty()) {
            heardNanos = System.nanoTime();
        }
        unanswered.put(id, answer);
        queue.add(new Request(head, id, block));
        RemoteException dead = death.get();
        if (dead != null) {
            failUnanswered(dead);
            dropQueue();
            throw dead.again();
        }
        return answer;
    }

    Reply ask(Packet request) throws RemoteException, InterruptedException {
        return await(send(request));
    }

    /** Does the same with a limit, for a channel that {@link Lanes} cannot watch yet. */
    Reply ask(Packet request, Duration timeout) throws RemoteException, InterruptedException {
        return await(send(request), timeout);
    }

    /** Waits for a future that answers complete. If a site does not answer, {@link Lanes} closes the lane. */
    <T extends @Nullable Object> T await(CompletableFuture<T> done) throws RemoteException, InterruptedException {
        try {
            return done.get();
        } catch (ExecutionException e) {
            throw lost(e);
        }
    }

    private <T extends @Nullable Object> T await(CompletableFuture<T> answer, Duration timeout)
            throws RemoteException, InterruptedException {
        try {
            return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw lost(e);
        } catch (TimeoutException e) {
            RemoteException lost =
                    new RemoteException(Reason.LOST, site + " did not answer within " + timeout.toSeconds() + " s", e);
            die(lost);
            throw lost;
        }
    }

    private static RemoteException lost(ExecutionException e) {
        if (e.getCause() instanceof RemoteException lost) {
            return lost.again();
        }
        throw new IllegalStateException("an answer fails for no other reason", e);
    }

    /** Returns how long, in nanoseconds, an answer has been due; 0 if none is. */
    long silentNanos() {
        return unanswered.isEmpty() ? 0 : System.nanoTime() - heardNanos;
    }

    /** Returns how long ago, in nanoseconds, the last answer came; 0 while one is due. */
    long idleNanos() {
        return unanswered.isEmpty() ? System.nanoTime() - heardNanos : 0;
    }

    /** Returns the least time, in nanoseconds, that an answer has taken so far: one slow answer is no long distance. */
    long leastNanos() {
        return leastNanos;
    }

    /** Returns the bytes sent and the content received so far, without SSH's own bytes. */
    long bytesMoved() {
        return bytesMoved.sum();
    }

    /** Returns the number of requests without an answer. */
    int inFlight() {
        return unanswered.size();
    }

    /** Returns the number of answers so far. */
    long answers() {
        return Math.max(0, Integer.toUnsignedLong(ids.get()) - unanswered.size());
    }

    boolean isOpen() {
        return death.get() == null && channel.isOpen();
    }

    /** Ends the channel: all current and future requests fail with this reason. */
    void die(RemoteException reason) {
        if (!death.compareAndSet(null, reason)) {
            return;
        }
        channel.close(true);
        failUnanswered(reason);
        dropQueue();
        queue.add(END);
        // Waiting threads wake up and find the channel dead.
        requests.release(IN_FLIGHT_MAX * 1024);
        askedBytes.release(Integer.MAX_VALUE / 2);
        unansweredBytes.release(Integer.MAX_VALUE / 2);
        blocks.release(BLOCKS_MAX * 1024);
    }

    /** Ends the channel because of an answer that no honest site gives, and returns the failure. */
    RemoteException protocol(String what) {
        RemoteException odd = new RemoteException(Reason.PROTOCOL, what);
        die(odd);
        return odd;
    }

    /**
     * Closes an idle channel, so that the site has room for another. Does not wait until the connection takes the packet: it may
     * be stuck, and callers hold the lock of a lane.
     */
    void giveUp() {
        Thread.ofVirtual().name("close a channel").start(() -> channel.close(false));
    }

    private void failUnanswered(RemoteException reason) {
        for (Integer id : unanswered.keySet()) {
            CompletableFuture<Reply> answer = unanswered.remove(id);
            if (answer != null) {
                answer.completeExceptionally(reason);
            }
        }
    }

    private void dropQueue() {
        queue.removeIf(request -> !request.isEnd());
    }

    /** Sends requests until the channel ends. */
    private void sendAll() {
        try {
            for (Request next = next(); !next.isEnd(); next = next()) {
                transmit(next);
            }
        } catch (IOException | IllegalStateException | InterruptedException e) {
            die(new RemoteException(Reason.LOST, "the connection to " + site + " was lost", e));
        }
    }

    private Request next() throws IOException, InterruptedException {
        Request waiting = queue.poll();
        if (waiting != null) {
            return waiting;
        }
        writer.flush();
        return queue.take();
    }

    private void transmit(Request request) throws IOException, InterruptedException {
        Packet head = request.head;
        Block block = request.block;
        int length = block == null ? 0 : block.length();
        boolean hello = request.id == VERSION_ID;
        Packet prefix =
                Packet.of(0).uint32((hello ? 1L : 5L) + head.size() + length).uint8(head.type());
        if (!hello) {
            prefix.uint32(request.id);
        }
        writer.put(prefix.bytes(), prefix.size());
        writer.put(head.bytes(), head.size());
        if (block != null) {
            writer.put(block.bytes(), length);
            giveBack(block);
        }
    }

    /** Cuts the channel's output into answers. Called by the thread that reads the socket. */
    private final class Answers extends OutputStream {

        private final ByteBuffer prefix = ByteBuffer.allocate(Integer.BYTES);

        /** What is read next: the prefix with the length of an answer, or the answer. */
        private ByteBuffer next = prefix;

        private boolean answering;

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) {
            int at = from;
            int end = from + length;
            try {
                while (at < end) {
                    int n = Math.min(end - at, next.remaining());
                    next.put(bytes, at, n);
                    at += n;
                    if (!next.hasRemaining()) {
                        take(next.flip());
                    }
                }
            } catch (RemoteException e) {
                die(e);
            }
        }

        private void take(ByteBuffer full) throws RemoteException {
            if (answering) {
                answering = false;
                next = prefix.clear();
                dispatch(full);
                return;
            }
            int length = full.getInt();
            if (length < 5 || length > ANSWER_BYTES_MAX) {
                throw new RemoteException(
                        Reason.PROTOCOL,
                        site
                                + " sent data that is not SFTP; make sure that the login shell's start-up files print no text");
            }
            answering = true;
            next = ByteBuffer.allocate(length);
        }

        private void dispatch(ByteBuffer bytes) throws RemoteException {
            int type = bytes.get() & 0xFF;
            int id = type == Packet.VERSION ? VERSION_ID : bytes.getInt();
            Answer waiting = unanswered.remove(id);
            if (waiting == null) {
                throw new RemoteException(Reason.PROTOCOL, site + " sent an answer to an unknown request");
            }
            requests.release();
            heardNanos = System.nanoTime();
            // NB: only the thread that reads the socket writes it.
            leastNanos = Math.min(leastNanos, heardNanos - waiting.askedNanos);
            waiting.complete(new Reply(type, bytes.slice(), Pipeline.this::die));
        }
    }
}
