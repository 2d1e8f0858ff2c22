package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.session.ConnectionService;
import org.jspecify.annotations.Nullable;

/**
 * A command at the site with a large standard input or output. It has a channel of its own, and nothing else reads that input:
 * content is never taken for a command, whatever happens to the command itself (unlike in {@link Shell}).
 *
 * <p>Used by one thread; another one may {@linkplain #close close} it.
 */
final class Feed implements AutoCloseable {

    private static final int ERRORS_BYTES_MAX = 4096;
    private static final Duration OPEN_TIMEOUT = Duration.ofSeconds(30);

    /** After a command ended, its exit status follows its last output. */
    private static final Duration STATUS_TIMEOUT = Duration.ofSeconds(1);

    private final SiteAddress site;
    private final ClientSession session;
    private final long roundTripNanos;
    private final Runnable whenClosed;
    private final Command channel;
    private final Duration patience;
    private final LongAdder bytesMoved;
    private final CompletableFuture<Integer> ended = new CompletableFuture<>();
    private final Errors errors = new Errors();
    private @Nullable ChannelWriter writer;

    /** Guarded by this. */
    private boolean closed;

    /**
     * Prepares a command, a line for a POSIX {@code sh} in single quotes.
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
        this.patience = patience.of(0, 0);
        this.roundTripNanos = roundTripNanos;
        this.bytesMoved = bytesMoved;
        this.whenClosed = whenClosed;
        this.channel = new Command(command);
    }

    /**
     * Returns room for at least one byte of input; what is put there is fed. Starts the command if necessary. Waits
     * while the site accepts nothing.
     *
     * @throws RemoteException REFUSED if the command cannot start or has ended; LOST if the connection is gone; STUCK if
     *     it has read nothing for too long
     */
    ByteBuffer room() throws RemoteException, InterruptedException {
        try {
            return started().room();
        } catch (IOException | IllegalStateException e) {
            throw failure(e);
        }
    }

    /** Feeds the first {@code length} of these bytes. */
    void put(byte[] bytes, int length) throws RemoteException, InterruptedException {
        try {
            started().put(bytes, length);
        } catch (IOException | IllegalStateException e) {
            throw failure(e);
        }
    }

    /**
     * Starts the command with this as its whole input, and returns its output. The site sends no more than the channel's window
     * before it is read.
     */
    InputStream output(byte[] input) throws RemoteException, InterruptedException {
        CommandOutput output = new CommandOutput(site, channel::mayContinue);
        channel.output = output;
        put(input, input.length);
        endInput();
        return output;
    }

    /**
     * Ends the input, and waits for the command's end.
     *
     * @return its exit status and its error output
     * @throws RemoteException REFUSED if it ended before, or its exit status is unknown; LOST if the connection is gone;
     *     STUCK if it does not end in time
     */
    CommandResult end(Duration timeout) throws RemoteException, InterruptedException {
        endInput();
        try {
            int status = ended.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            return new CommandResult(status, "", errors.text());
        } catch (ExecutionException e) {
            throw new RemoteException(ended(), "a command at " + site + " was cut off", e);
        } catch (TimeoutException e) {
            throw new RemoteException(
                    Reason.STUCK, "a command at " + site + " did not end within " + timeout.toSeconds() + " s", e);
        }
    }

    private void endInput() throws RemoteException, InterruptedException {
        try {
            started().flush();
            channel.endInput();
        } catch (IOException | IllegalStateException e) {
            throw failure(e);
        }
    }

    /** Abandons a command that has not ended: closing the channel makes the site end it. Any thread may call it. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            ended.completeExceptionally(new IOException("given up"));
            if (channel.getSession() != null) {
                channel.close(false);
            }
            channel.endOutput();
        }
        whenClosed.run();
    }

    private ChannelWriter started() throws IOException, InterruptedException {
        ChannelWriter known = writer;
        if (known != null) {
            return known;
        }
        register();
        try {
            channel.open().verify(OPEN_TIMEOUT);
        } catch (IOException e) {
            Lane.rethrowInterruption(e);
            throw e;
        }
        ChannelWriter fresh = new ChannelWriter(channel, patience, bytesMoved);
        fresh.roundTrip(roundTripNanos);
        writer = fresh;
        return fresh;
    }

    private synchronized void register() throws IOException {
        if (ended.isDone()) {
            throw new IOException("closed before it started");
        }
        session.getService(ConnectionService.class).registerChannel(channel);
        channel.setOut(OutputStream.nullOutputStream());
        channel.setErr(errors);
        channel.addCloseFutureListener(_ -> over(channel.getExitStatus()));
    }

    private RemoteException failure(Exception e) throws InterruptedException {
        if (e instanceof SocketTimeoutException) {
            return new RemoteException(Reason.STUCK, "a command at %s does not read its input".formatted(site), e);
        }
        if (channel.getSession() != null) {
            channel.close(false);
        }
        try {
            var _ = ended.get(STATUS_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException unknown) {
            // Its error output may say enough.
        }
        return new RemoteException(ended(), "a command at %s ended early: %s".formatted(site, errors.text()), e);
    }

    /** Returns why a command has ended: by itself, or with the connection. */
    private Reason ended() {
        return session.isOpen() ? Reason.REFUSED : Reason.LOST;
    }

    private void over(@Nullable Integer status) {
        channel.endOutput();
        if (status == null) {
            ended.completeExceptionally(new IOException("no exit status"));
        } else {
            ended.complete(status);
        }
    }

    /** The command's channel. */
    private static final class Command extends ProgramChannel {

        /** Where its output goes; null: nowhere. */
        private volatile @Nullable CommandOutput output;

        Command(String command) {
            super("exec sh -c '" + command + "'");
        }

        void endInput() throws IOException {
            sendEof();
        }

        /** Lets the site send this many bytes more. */
        void mayContinue(int bytes) {
            try {
                getLocalWindow().release(bytes);
            } catch (IOException e) {
                // The channel is closing, which ends the output.
                log.trace("{} cannot continue", this, e);
            }
        }

        void endOutput() {
            CommandOutput wanted = output;
            if (wanted != null) {
                wanted.end();
            }
        }

        @Override
        protected void doWriteData(byte[] data, int from, long length) throws IOException {
            CommandOutput wanted = output;
            if (wanted == null) {
                super.doWriteData(data, from, length);
            } else {
                wanted.add(data, from, Math.toIntExact(length));
            }
        }

        @Override
        public void handleEof() throws IOException {
            CommandOutput wanted = output;
            if (wanted != null) {
                wanted.complete();
            }
            super.handleEof();
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
