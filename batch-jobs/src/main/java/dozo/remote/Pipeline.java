package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.io.IOException;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.client.channel.ChannelSubsystem;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.channel.RemoteWindow;
import org.apache.sshd.common.channel.exception.SshChannelClosedException;
import org.apache.sshd.common.session.ConnectionService;
import org.apache.sshd.common.util.buffer.Buffer;
import org.jspecify.annotations.Nullable;

/**
 * Requests out, answers in, matched by id: one SFTP channel as a pipeline that many threads fill at once.
 *
 * <p>Requests are written in place into SSH packets, under one lock. A thread that sees others waiting for the lock
 * leaves the packet it has begun for them to fill up, so that small requests travel together when there are many and at
 * once when there is one. Nothing is ever left behind: a waiting thread always gets the lock and sends what it finds.
 */
final class Pipeline {

    /** Requests without an answer yet; more senders wait. */
    private static final int IN_FLIGHT_MAX = 1024;

    /** Bytes of file content asked for or sent without an answer yet: more than a server's window, far less than a heap. */
    private static final int IN_FLIGHT_BYTES_MAX = 8 << 20;

    /** The longest answer taken: OpenSSH itself never sends more than 256 KiB. */
    private static final int ANSWER_BYTES_MAX = (256 << 10) + 1024;

    /** A site may sync gigabytes to a slow disk before it answers; a dead link is noticed much sooner by its heartbeat. */
    private static final Duration ANSWER_TIMEOUT = Duration.ofMinutes(10);

    private static final Duration WINDOW_TIMEOUT = Duration.ofMinutes(10);
    private static final Duration START_TIMEOUT = Duration.ofSeconds(30);
    private static final int VERSION_ID = -1;

    private final String site;
    private final ChannelSubsystem channel;
    private final ReentrantLock sending = new ReentrantLock();
    private final AtomicInteger ids = new AtomicInteger();
    private final ConcurrentHashMap<Integer, CompletableFuture<Reply>> unanswered = new ConcurrentHashMap<>();
    private final Semaphore requests = new Semaphore(IN_FLIGHT_MAX);
    private final Semaphore contentBytes = new Semaphore(IN_FLIGHT_BYTES_MAX);
    private final AtomicReference<@Nullable RemoteException> death = new AtomicReference<>();

    /** The SSH packet being filled, and the room left in it; guarded by {@code sending}. */
    private @Nullable Buffer packet;

    private int packetStart;
    private int packetRoom;

    private Pipeline(String site, ChannelSubsystem channel) {
        this.site = site;
        this.channel = channel;
    }

    /** Opens the subsystem and says hello; the server's VERSION answer comes back through {@code hello}. */
    static Pipeline open(String site, ClientSession session) throws RemoteException, InterruptedException {
        Subsystem channel = new Subsystem();
        try {
            session.getService(ConnectionService.class).registerChannel(channel);
        } catch (IOException e) {
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
        return pipeline;
    }

    /** The server's VERSION answer: version and extensions. */
    Reply hello() throws RemoteException, InterruptedException {
        CompletableFuture<Reply> version = new CompletableFuture<>();
        unanswered.put(VERSION_ID, version);
        requests.acquire();
        transmit(Packet.of(Packet.INIT), 3, new byte[0], 0, 0);
        try {
            return await(version, START_TIMEOUT);
        } catch (RemoteException e) {
            if (e.reason() != Reason.LOST) {
                throw e;
            }
            throw new RemoteException(Reason.NO_SFTP, site + " accepts the login but does not speak SFTP", e);
        }
    }

    /** Sends a request; its answer completes the future. Blocks while too much is in flight. */
    CompletableFuture<Reply> send(Packet request) throws RemoteException, InterruptedException {
        return send(request, new byte[0], 0, 0);
    }

    /** Sends a request that ends in {@code length} bytes of content, prefixed with their number. */
    CompletableFuture<Reply> sendContent(Packet request, byte[] content, int from, int length)
            throws RemoteException, InterruptedException {
        contentBytes.acquire(length);
        CompletableFuture<Reply> answer;
        try {
            answer = send(request.uint32(length), content, from, length);
        } catch (RemoteException | InterruptedException | RuntimeException e) {
            contentBytes.release(length);
            throw e;
        }
        var _ = answer.whenComplete((reply, lost) -> contentBytes.release(length));
        return answer;
    }

    /** Takes leave to ask for content that the caller then gives back with {@link #contentTaken}. */
    boolean mayAskFor(int bytes, boolean wait) throws InterruptedException {
        if (wait) {
            contentBytes.acquire(bytes);
            return true;
        }
        return contentBytes.tryAcquire(bytes);
    }

    void contentTaken(int bytes) {
        contentBytes.release(bytes);
    }

    private CompletableFuture<Reply> send(Packet request, byte[] content, int from, int length)
            throws RemoteException, InterruptedException {
        requests.acquire();
        int id = ids.getAndIncrement() & Integer.MAX_VALUE;
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        unanswered.put(id, answer);
        RemoteException dead = death.get();
        if (dead != null) {
            unanswered.remove(id);
            requests.release();
            throw again(dead);
        }
        transmit(request, id, content, from, length);
        return answer;
    }

    Reply ask(Packet request) throws RemoteException, InterruptedException {
        return await(send(request));
    }

    Reply await(CompletableFuture<Reply> answer) throws RemoteException, InterruptedException {
        return await(answer, ANSWER_TIMEOUT);
    }

    /** Waits for something that answers will complete. */
    <T extends @Nullable Object> T awaitDone(CompletableFuture<T> done) throws RemoteException, InterruptedException {
        return await(done, ANSWER_TIMEOUT);
    }

    private <T extends @Nullable Object> T await(CompletableFuture<T> answer, Duration timeout)
            throws RemoteException, InterruptedException {
        try {
            return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RemoteException lost) {
                throw again(lost);
            }
            throw new IllegalStateException("an answer fails for no other reason", e);
        } catch (TimeoutException e) {
            RemoteException lost =
                    new RemoteException(Reason.LOST, site + " gave no answer for " + timeout.toSeconds() + " s", e);
            die(lost);
            throw lost;
        }
    }

    /** Requests without an answer: how busy this channel is. */
    int inFlight() {
        return unanswered.size();
    }

    boolean isOpen() {
        return death.get() == null && channel.isOpen();
    }

    /** Ends the channel: whatever waits, and whatever comes, fails with this reason. */
    void die(RemoteException reason) {
        if (!death.compareAndSet(null, reason)) {
            return;
        }
        channel.close(true);
        failUnanswered(reason);
        // Those who wait for their turn wake up, and see that there is no turn.
        requests.release(IN_FLIGHT_MAX * 1024);
        contentBytes.release(Integer.MAX_VALUE / 2);
    }

    private void failUnanswered(RemoteException reason) {
        for (Integer id : unanswered.keySet()) {
            CompletableFuture<Reply> answer = unanswered.remove(id);
            if (answer != null) {
                answer.completeExceptionally(reason);
            }
        }
    }

    /** The same failure for another thread, with that thread's stack. */
    private static RemoteException again(RemoteException first) {
        return new RemoteException(first.reason(), String.valueOf(first.getMessage()), first);
    }

    private void transmit(Packet request, int id, byte[] content, int from, int length) throws RemoteException {
        Packet head = Packet.of(0).uint32(5L + request.size() + length);
        byte[] typeAndId = {(byte) request.type(), (byte) (id >>> 24), (byte) (id >>> 16), (byte) (id >>> 8), (byte) id
        };
        int whole = head.size() + typeAndId.length + request.size() + length;
        // Not interruptible: half a request on the wire would be the end of the channel.
        sending.lock();
        try {
            put(head.bytes(), 0, head.size(), whole);
            put(typeAndId, 0, typeAndId.length, whole);
            put(request.bytes(), 0, request.size(), whole);
            put(content, from, length, whole);
            if (!sending.hasQueuedThreads()) {
                flush();
            }
        } catch (IOException | IllegalStateException e) {
            RemoteException lost = new RemoteException(Reason.LOST, "the connection to " + site + " was lost", e);
            packet = null;
            die(lost);
            throw lost;
        } finally {
            sending.unlock();
        }
    }

    private void put(byte[] bytes, int from, int length, int expected) throws IOException {
        int done = 0;
        while (done < length) {
            Buffer filling = packet;
            if (filling == null) {
                filling = begin(Math.max(expected, length - done));
            }
            int n = Math.min(packetRoom, length - done);
            filling.putRawBytes(bytes, from + done, n);
            done += n;
            packetRoom -= n;
            if (packetRoom == 0) {
                flush();
            }
        }
    }

    /** Begins a packet no larger than the peer's window has room for right now. Only this class takes from that window. */
    private Buffer begin(int expected) throws IOException {
        RemoteWindow window = channel.getRemoteWindow();
        long most = Math.min(window.getPacketSize(), waitForSpace(window));
        int capacity = (int) (sending.hasQueuedThreads() ? most : Math.min(most, expected));
        Buffer fresh = channel.getSession().createBuffer(SshConstants.SSH_MSG_CHANNEL_DATA, capacity + 16);
        fresh.putUInt(channel.getRecipient());
        packetStart = fresh.wpos();
        fresh.putUInt(0);
        packetRoom = capacity;
        packet = fresh;
        return fresh;
    }

    private void flush() throws IOException {
        Buffer full = packet;
        if (full == null) {
            return;
        }
        packet = null;
        int end = full.wpos();
        int length = end - packetStart - Integer.BYTES;
        full.wpos(packetStart);
        full.putUInt(length);
        full.wpos(end);
        channel.getRemoteWindow().consume(length);
        if (!channel.isOpen()) {
            throw new SshChannelClosedException(channel.getChannelId(), "closed");
        }
        channel.getSession().writePacket(full);
    }

    private static long waitForSpace(RemoteWindow window) throws IOException {
        long size = window.getSize();
        if (size > 0) {
            return size;
        }
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return window.waitForSpace(WINDOW_TIMEOUT);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (SocketTimeoutException e) {
                    throw new IOException("the site took no data for " + WINDOW_TIMEOUT.toSeconds() + " s", e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** A channel that ends when the site has no such subsystem: MINA's own waits on. */
    private static final class Subsystem extends ChannelSubsystem {

        Subsystem() {
            super("sftp");
        }

        @Override
        public void handleFailure() {
            close(true);
        }
    }

    /** What the channel's output is fed to, by the thread that reads the socket: cuts it into answers. */
    private final class Answers extends OutputStream {

        private final byte[] prefix = new byte[Integer.BYTES];
        private int prefixFill;
        private byte[] answer = new byte[0];
        private int answerFill;

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
                    at = prefixFill < prefix.length ? takePrefix(bytes, at, end) : takeAnswer(bytes, at, end);
                }
            } catch (RemoteException e) {
                die(e);
            }
        }

        private int takePrefix(byte[] bytes, int at, int end) throws RemoteException {
            int n = Math.min(end - at, prefix.length - prefixFill);
            System.arraycopy(bytes, at, prefix, prefixFill, n);
            prefixFill += n;
            if (prefixFill == prefix.length) {
                int length = ByteBuffer.wrap(prefix).getInt();
                if (length < 5 || length > ANSWER_BYTES_MAX) {
                    throw new RemoteException(
                            Reason.PROTOCOL,
                            site
                                    + " sent something that is not SFTP; does a start-up file of the login shell print text?");
                }
                answer = new byte[length];
                answerFill = 0;
            }
            return at + n;
        }

        private int takeAnswer(byte[] bytes, int at, int end) throws RemoteException {
            int n = Math.min(end - at, answer.length - answerFill);
            System.arraycopy(bytes, at, answer, answerFill, n);
            answerFill += n;
            if (answerFill == answer.length) {
                prefixFill = 0;
                dispatch(ByteBuffer.wrap(answer));
            }
            return at + n;
        }

        private void dispatch(ByteBuffer bytes) throws RemoteException {
            int type = bytes.get() & 0xFF;
            int id = type == Packet.VERSION ? VERSION_ID : bytes.getInt();
            CompletableFuture<Reply> waiting = unanswered.remove(id);
            if (waiting == null) {
                throw new RemoteException(Reason.PROTOCOL, site + " answered a request that was not made");
            }
            requests.release();
            waiting.complete(new Reply(type, bytes.slice()));
        }
    }
}
