package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.apache.sshd.client.channel.ChannelExec;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.session.ConnectionService;
import org.jspecify.annotations.Nullable;

/**
 * A command at the site with a large standard input. It has a channel of its own, and nothing else reads that input:
 * content is never taken for a command, whatever happens to the command itself (unlike in {@link Shell}).
 *
 * <p>One thread fills buffers and may be interrupted. Another thread, which is never interrupted, opens the channel and
 * sends. Memory: 512 KiB.
 */
final class Feed implements AutoCloseable {

    private static final int CHUNK_BYTES = 128 << 10;
    private static final int CHUNKS = 4;
    private static final int ERRORS_BYTES_MAX = 4096;
    private static final Duration OPEN_TIMEOUT = Duration.ofSeconds(30);

    /** A part of the input, up to the view's position. An empty one is the end. */
    private static final class Chunk {

        private final byte[] bytes;
        private final ByteBuffer view;

        Chunk(int length) {
            this.bytes = new byte[length];
            this.view = ByteBuffer.wrap(bytes);
        }
    }

    private static final Chunk END = new Chunk(0);

    private final SiteAddress site;
    private final ClientSession session;
    private final Patience patience;
    private final long roundTripNanos;
    private final LongAdder bytesMoved;
    private final Runnable whenClosed;
    private final Command channel;
    private final BlockingQueue<Chunk> empty = new ArrayBlockingQueue<>(CHUNKS);
    private final BlockingQueue<Chunk> full = new ArrayBlockingQueue<>(CHUNKS + 1);
    private final CompletableFuture<Integer> ended = new CompletableFuture<>();
    private final Errors errors = new Errors();
    private @Nullable Chunk filling;

    /**
     * Starts a command, a line for a POSIX {@code sh} in single quotes. Returns at once.
     *
     * @param patience how long the command may read nothing
     * @param roundTripNanos to the site and back
     * @param bytesMoved counts the bytes sent
     * @param whenClosed runs when the feed is closed
     */
    Feed(
            SiteAddress site,
            ClientSession session,
            String command,
            Patience patience,
            long roundTripNanos,
            LongAdder bytesMoved,
            Runnable whenClosed) {
        this.site = site;
        this.session = session;
        this.patience = patience;
        this.roundTripNanos = roundTripNanos;
        this.bytesMoved = bytesMoved;
        this.whenClosed = whenClosed;
        this.channel = new Command(command);
        for (int i = 0; i < CHUNKS; i++) {
            empty.add(new Chunk(CHUNK_BYTES));
        }
        Thread.ofVirtual().name("feed " + site.host()).start(this::sendAll);
    }

    /**
     * Returns room for at least one byte of input. Waits while the site accepts nothing.
     *
     * @throws RemoteException REFUSED if the command has ended; STUCK if it has read nothing for too long
     */
    ByteBuffer room() throws RemoteException, InterruptedException {
        Chunk now = filling;
        if (now != null && now.view.hasRemaining()) {
            return now.view;
        }
        sendFilled();
        long end = System.nanoTime() + patience.of(0, 0).toNanos();
        while (System.nanoTime() - end < 0) {
            Chunk next = empty.poll(1, TimeUnit.SECONDS);
            if (ended.isDone()) {
                throw new RemoteException(
                        Reason.REFUSED, "a command at %s ended early: %s".formatted(site, errors.text()));
            }
            if (next != null) {
                filling = next;
                return next.view.clear();
            }
        }
        throw new RemoteException(Reason.STUCK, "a command at %s does not read its input".formatted(site));
    }

    private void sendFilled() throws InterruptedException {
        Chunk filled = filling;
        if (filled != null) {
            filling = null;
            full.put(filled);
        }
    }

    /** Feeds these bytes. */
    void put(byte[] bytes) throws RemoteException, InterruptedException {
        put(bytes, bytes.length);
    }

    /** Feeds the first {@code length} of these bytes. */
    void put(byte[] bytes, int length) throws RemoteException, InterruptedException {
        for (int at = 0; at < length; ) {
            ByteBuffer room = room();
            int n = Math.min(room.remaining(), length - at);
            room.put(bytes, at, n);
            at += n;
        }
    }

    /**
     * Ends the input, and waits for the command's end.
     *
     * @return its exit status and its error output
     * @throws RemoteException STUCK if it does not end in time; LOST if its end is unknown
     */
    CommandResult end(Duration timeout) throws RemoteException, InterruptedException {
        sendFilled();
        full.put(END);
        try {
            int status = ended.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            return new CommandResult(status, "", errors.text());
        } catch (ExecutionException e) {
            throw new RemoteException(Reason.LOST, "a command at " + site + " was cut off", e);
        } catch (TimeoutException e) {
            throw new RemoteException(
                    Reason.STUCK, "a command at " + site + " did not end within " + timeout.toSeconds() + " s", e);
        }
    }

    /** Abandons a command that has not ended: closing the channel makes the site end it. */
    @Override
    public void close() {
        ended.completeExceptionally(new IOException("given up"));
        // NB: the queue always has room: either the end was not queued before, or the thread has ended.
        var _ = full.offer(END);
        channel.close(false);
        whenClosed.run();
    }

    private void sendAll() {
        try {
            session.getService(ConnectionService.class).registerChannel(channel);
            channel.setOut(OutputStream.nullOutputStream());
            channel.setErr(errors);
            channel.addCloseFutureListener(_ -> over(channel.getExitStatus()));
            channel.open().verify(OPEN_TIMEOUT);
            ChannelWriter writer = new ChannelWriter(channel);
            writer.roundTrip(roundTripNanos);
            for (Chunk next = full.take(); next.view.position() > 0; next = full.take()) {
                int length = next.view.position();
                writer.put(next.bytes, length);
                bytesMoved.add(length);
                empty.add(next);
                if (full.isEmpty()) {
                    writer.flush();
                }
            }
            writer.flush();
            channel.endInput();
        } catch (IOException | IllegalStateException | InterruptedException e) {
            // If the command ended early, its exit status follows its last output.
            channel.close(false);
            var _ = ended.orTimeout(1, TimeUnit.SECONDS);
        }
    }

    private void over(@Nullable Integer status) {
        if (status == null) {
            ended.completeExceptionally(new IOException("no exit status"));
        } else {
            ended.complete(status);
        }
    }

    /** A channel that closes if the site refuses the command; MINA's own keeps waiting. */
    private static final class Command extends ChannelExec {

        Command(String command) {
            super("exec sh -c '" + command + "'", null, null);
        }

        void endInput() throws IOException {
            sendEof();
        }

        @Override
        public void handleFailure() {
            close(true);
        }
    }

    /** The beginning of a command's error output. */
    private static final class Errors extends ByteArrayOutputStream {

        @Override
        public synchronized void write(byte[] some, int from, int length) {
            super.write(some, from, Math.min(length, ERRORS_BYTES_MAX - count));
        }

        synchronized String text() {
            return toString(StandardCharsets.ISO_8859_1).strip();
        }
    }
}
