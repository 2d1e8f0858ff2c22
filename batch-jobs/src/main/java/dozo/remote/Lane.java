package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.client.channel.ChannelExec;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.channel.exception.SshChannelOpenException;
import org.apache.sshd.common.session.ConnectionService;
import org.jspecify.annotations.Nullable;

/**
 * One SSH connection to a site, with its pipelined SFTP channels. Safe for many threads at once, and meant for that: what
 * they ask for travels together.
 */
public final class Lane implements AutoCloseable {

    /** Of the ten channels a stock sshd allows on a connection, those for commands. */
    private static final int COMMANDS_MAX = 4;

    /** Digest lines of a large bundle are a few megabytes; more than this is not an answer. */
    private static final int OUTPUT_BYTES_MAX = 64 << 20;

    private static final int ERRORS_BYTES_MAX = 4096;
    private static final Duration OPEN_TIMEOUT = Duration.ofSeconds(30);

    private final SiteAddress site;
    private final ClientSession session;
    private final List<Sftp> channels = new CopyOnWriteArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition commandEnded = lock.newCondition();

    // Guarded by the lock.
    private int commandsRunning;
    private int commandsAllowed = COMMANDS_MAX;

    private Lane(SiteAddress site, ClientSession session, Sftp first) {
        this.site = site;
        this.session = session;
        channels.add(first);
    }

    /** A lane on this connection; a site that allows fewer channels than wanted is met with fewer. */
    static Lane on(SiteAddress site, ClientSession session, int channelsWanted)
            throws RemoteException, InterruptedException {
        Lane lane = new Lane(site, session, Sftp.open(site, session));
        lane.widen(channelsWanted);
        return lane;
    }

    /**
     * Opens more channels, in the background and all at the same time: on a long way each takes a while. Where the site
     * refuses some (MaxSessions), one that it has let us open is given up, so that there is room for commands.
     */
    void widen(int channelsWanted) {
        AtomicInteger left = new AtomicInteger(channelsWanted - channels.size());
        AtomicBoolean refused = new AtomicBoolean();
        Queue<Sftp> opened = new ConcurrentLinkedQueue<>();
        for (int i = left.get(); i > 0; i--) {
            Thread.ofVirtual().name("open channel to " + site.host()).start(() -> {
                try {
                    opened.add(Sftp.open(site, session));
                } catch (RemoteException | InterruptedException fewer) {
                    refused.set(true);
                }
                if (left.decrementAndGet() == 0) {
                    Sftp spare = refused.get() ? opened.poll() : null;
                    if (spare != null) {
                        spare.pipeline().die(new RemoteException(Reason.LOST, "not needed"));
                    }
                    channels.addAll(opened);
                }
            });
        }
    }

    /** How many channels it has by now. */
    int channels() {
        return channels.size();
    }

    /** All of them that are open by now. */
    public List<Sftp> all() {
        return List.copyOf(channels);
    }

    /** How long one request and its answer took when nothing else was under way. */
    long roundTripNanos() {
        return channels.getFirst().roundTripNanos();
    }

    /** How long the site has taken nothing of what is being sent, in nanoseconds. */
    long stuckNanos() {
        return session.getIoSession() instanceof BlockingConnection connection ? connection.stuckNanos() : 0;
    }

    /** How long the site has owed an answer on one of the channels. */
    long silentNanos() {
        return channels.stream()
                .mapToLong(sftp -> sftp.pipeline().silentNanos())
                .max()
                .orElse(0);
    }

    /** Bytes that went over all channels so far, one way or the other. */
    long bytesMoved() {
        return channels.stream().mapToLong(sftp -> sftp.pipeline().bytesMoved()).sum();
    }

    /** The least busy of this lane's channels. */
    public Sftp sftp() {
        return channels.stream()
                .min(Comparator.comparing((Sftp sftp) -> !sftp.pipeline().isOpen())
                        .thenComparingInt(sftp -> sftp.pipeline().inFlight()))
                .orElseThrow();
    }

    /** Whether all of it is of use; one dead channel makes a dead lane. */
    public boolean isOpen() {
        return session.isOpen()
                && channels.stream().allMatch(sftp -> sftp.pipeline().isOpen());
    }

    public SiteAddress site() {
        return site;
    }

    /** What the server calls itself, such as {@code SSH-2.0-OpenSSH_9.2p1}. Text of the site's, for people. */
    public String serverVersion() {
        return String.valueOf(session.getServerVersion());
    }

    /** Requests without an answer. */
    int inFlight() {
        return channels.stream().mapToInt(sftp -> sftp.pipeline().inFlight()).sum();
    }

    /**
     * Runs a command in the site's login shell, feeds it {@code stdin}, and waits for its end. A site that takes fewer commands
     * at once than we have is given fewer.
     *
     * @throws RemoteException UNSUPPORTED if the account may not run commands; LOST if it does not end in time; PROTOCOL
     *     if it says more than 64 MiB
     */
    public CommandResult run(String command, byte[] stdin, Duration timeout)
            throws RemoteException, InterruptedException {
        while (true) {
            try {
                return runOnce(command, stdin, timeout);
            } catch (RemoteException e) {
                if (!turnedAway(e) || !allowFewerCommands()) {
                    throw e;
                }
            }
        }
    }

    private CommandResult runOnce(String command, byte[] stdin, Duration timeout)
            throws RemoteException, InterruptedException {
        beginCommand();
        CompletableFuture<CommandResult> result = new CompletableFuture<>();
        Command channel = new Command(command);
        // NB: in a thread that nobody interrupts: an interrupted writer would take the whole connection with it.
        Thread.ofVirtual().name("command at " + site.host()).start(() -> {
            try (channel) {
                result.complete(run(channel, stdin, timeout));
            } catch (IOException | InterruptedException | RuntimeException e) {
                result.completeExceptionally(e);
            } finally {
                endCommand();
            }
        });
        try {
            return result.get();
        } catch (InterruptedException e) {
            channel.close(true);
            throw e;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RemoteException failed) {
                throw new RemoteException(failed.reason(), String.valueOf(failed.getMessage()), failed);
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    private void beginCommand() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (commandsRunning >= commandsAllowed) {
                commandEnded.await();
            }
            commandsRunning++;
        } finally {
            lock.unlock();
        }
    }

    private void endCommand() {
        lock.lock();
        try {
            commandsRunning--;
            commandEnded.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Whether there were more than one: a site that turns the only one away runs none. */
    private boolean allowFewerCommands() {
        lock.lock();
        try {
            if (commandsAllowed == 1) {
                return false;
            }
            commandsAllowed--;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** No channel for it, such as with MaxSessions: that may be different when others have ended. */
    private static boolean turnedAway(RemoteException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SshChannelOpenException) {
                return true;
            }
        }
        return false;
    }

    private CommandResult run(Command channel, byte[] stdin, Duration timeout)
            throws RemoteException, InterruptedException {
        try {
            session.getService(ConnectionService.class).registerChannel(channel);
            Bounded output = new Bounded(OUTPUT_BYTES_MAX);
            Bounded errors = new Bounded(ERRORS_BYTES_MAX);
            channel.setOut(output);
            channel.setErr(errors);
            channel.open().verify(OPEN_TIMEOUT);
            feed(channel, stdin);
            channel.awaitEnd(timeout);
            if (channel.refused) {
                throw new RemoteException(Reason.UNSUPPORTED, site + " does not run commands for us");
            }
            if (output.overflowed()) {
                throw new RemoteException(Reason.PROTOCOL, "a command at " + site + " said more than we take");
            }
            Integer status = channel.getExitStatus();
            if (status == null && !session.isOpen()) {
                throw new RemoteException(Reason.LOST, "the connection to " + site + " was lost");
            }
            return new CommandResult(status == null ? -1 : status, output.text(), errors.text());
        } catch (RemoteException e) {
            throw e;
        } catch (TimeoutException e) {
            throw new RemoteException(
                    Reason.LOST, "a command at " + site + " did not end within " + timeout.toSeconds() + " s", e);
        } catch (IOException e) {
            rethrowInterruption(e);
            Reason reason = session.isOpen() ? Reason.UNSUPPORTED : Reason.LOST;
            throw new RemoteException(reason, site + " does not run commands for us", e);
        }
    }

    @Override
    public void close() {
        RemoteException closed = new RemoteException(Reason.LOST, "the lane to " + site + " was closed");
        channels.forEach(sftp -> sftp.pipeline().die(closed));
        session.close(true);
    }

    /** MINA reports an interruption as an I/O error; here it becomes one again. */
    static void rethrowInterruption(IOException e) throws InterruptedException {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedIOException && !(cause instanceof SocketTimeoutException)) {
                InterruptedException interrupted = new InterruptedException();
                interrupted.initCause(e);
                throw interrupted;
            }
        }
    }

    private static void feed(ChannelExec channel, byte[] stdin) throws InterruptedException {
        try (OutputStream in = channel.getInvertedIn()) {
            in.write(stdin);
        } catch (IOException notWanted) {
            // A command may end without reading all of it; its output and exit status tell what that means.
            rethrowInterruption(notWanted);
        }
    }

    /** A command's channel that ends when the site refuses to run it: MINA's own waits on. */
    private static final class Command extends ChannelExec {

        private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
        private volatile boolean refused;

        Command(String command) {
            super(command, null, null);
            addCloseFutureListener(closed -> ended.complete(null));
        }

        @Override
        public void handleFailure() {
            refused = true;
            close(true);
        }

        void awaitEnd(Duration timeout) throws TimeoutException, InterruptedException {
            try {
                ended.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            } catch (ExecutionException e) {
                throw new IllegalStateException("nothing completes it so", e);
            }
        }
    }

    /** Keeps the first bytes and counts the rest out. */
    private static final class Bounded extends OutputStream {

        private final int most;
        private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
        private boolean overflowed;

        Bounded(int most) {
            this.most = most;
        }

        @Override
        public void write(int b) {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public synchronized void write(byte[] bytes, int from, int length) {
            int n = Math.min(length, most - kept.size());
            kept.write(bytes, from, n);
            overflowed |= n < length;
        }

        synchronized String text() {
            return kept.toString(StandardCharsets.ISO_8859_1);
        }

        synchronized boolean overflowed() {
            return overflowed;
        }
    }
}
