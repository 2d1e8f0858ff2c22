package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.apache.sshd.client.channel.ChannelExec;
import org.apache.sshd.client.channel.ChannelSession;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.channel.exception.SshChannelOpenException;
import org.apache.sshd.common.session.ConnectionService;
import org.apache.sshd.common.util.buffer.Buffer;
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

    /** A server takes so long at most to notice that we gave a channel up: OpenSSH first reads what else we have sent. */
    private static final Duration ROOM_TIMEOUT = Duration.ofSeconds(3);

    private static final long TRY_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final SiteAddress site;
    private final ClientSession session;
    private final List<Sftp> channels = new CopyOnWriteArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // Guarded by the lock.
    /** Those that hold a channel or ask for one, and those that hold one. */
    private int commandsBegun;

    private int commandsOpen;
    private int commandsAllowed = COMMANDS_MAX;
    private boolean widening;
    private long roomComesBefore = System.nanoTime();

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
     * refuses some, or a command beside them (MaxSessions), one that it has let us open is given up, so that there is
     * room for commands.
     */
    void widen(int channelsWanted) {
        int more = channelsWanted - channels.size();
        if (more > 0) {
            widening(true);
            Thread.ofVirtual().name("open channels to " + site.host()).start(() -> {
                try {
                    openMore(more);
                } finally {
                    widening(false);
                }
            });
        }
    }

    private void openMore(int more) {
        List<Future<Sftp>> opening = new ArrayList<>();
        Future<Boolean> room;
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < more; i++) {
                opening.add(threads.submit(() -> Sftp.open(site, session)));
            }
            room = threads.submit(this::hasRoomForACommand);
        }
        List<Sftp> opened = opening.stream()
                .filter(each -> each.state() == Future.State.SUCCESS)
                .map(Future::resultNow)
                .collect(Collectors.toCollection(ArrayList::new));
        boolean allOfIt = opened.size() == more && room.state() == Future.State.SUCCESS && room.resultNow();
        if (!allOfIt && !opened.isEmpty()) {
            opened.removeLast().giveUp();
        }
        channels.addAll(opened);
    }

    /** Whether the site lets us open one more channel, which then runs nothing. */
    private boolean hasRoomForACommand() throws InterruptedException {
        ChannelSession channel = new ChannelSession();
        try {
            session.getService(ConnectionService.class).registerChannel(channel);
            channel.open().verify(OPEN_TIMEOUT);
            channel.close(false);
            return true;
        } catch (IOException e) {
            rethrowInterruption(e);
            return false;
        }
    }

    private void widening(boolean begins) {
        lock.lock();
        try {
            widening = begins;
            roomComesBefore = System.nanoTime() + ROOM_TIMEOUT.toNanos();
            changed.signalAll();
        } finally {
            lock.unlock();
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
            beginCommand();
            try {
                return runOnce(command, stdin, timeout);
            } catch (RemoteException e) {
                if (!turnedAway(e) || !worthAnotherTry()) {
                    throw e;
                }
            }
        }
    }

    private CommandResult runOnce(String command, byte[] stdin, Duration timeout)
            throws RemoteException, InterruptedException {
        CompletableFuture<CommandResult> result = new CompletableFuture<>();
        Command channel = new Command(command, this::commandOpened);
        // NB: in a thread that nobody interrupts: an interrupted writer would take the whole connection with it.
        Thread.ofVirtual().name("command at " + site.host()).start(() -> {
            try (channel) {
                CommandResult said = run(channel, stdin, timeout);
                endCommand(channel);
                result.complete(said);
            } catch (IOException | InterruptedException | RuntimeException e) {
                endCommand(channel);
                result.completeExceptionally(e);
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
            while (commandsBegun >= commandsAllowed) {
                changed.await();
            }
            commandsBegun++;
        } finally {
            lock.unlock();
        }
    }

    private void commandOpened() {
        lock.lock();
        try {
            commandsOpen++;
        } finally {
            lock.unlock();
        }
    }

    private void endCommand(Command channel) {
        lock.lock();
        try {
            commandsBegun--;
            if (channel.granted) {
                commandsOpen--;
                roomComesBefore = System.nanoTime() + ROOM_TIMEOUT.toNanos();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Whether a command that was turned away may have more luck: when we open no channels any more, when others have ended, and
     * when the site has noticed that they have.
     */
    private boolean worthAnotherTry() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            if (widening) {
                while (widening) {
                    changed.await();
                }
                return true;
            }
            if (commandsOpen > 0) {
                commandsAllowed = Math.min(commandsAllowed, commandsOpen);
                return true;
            }
            if (System.nanoTime() - roomComesBefore > 0) {
                return false;
            }
            for (long left = TRY_AGAIN_NANOS; left > 0; ) {
                left = changed.awaitNanos(left);
            }
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

        private final Runnable whenOpen;
        private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
        private volatile boolean granted;
        private volatile boolean refused;

        /** Tells when the site has opened it, before any answer that the site gives later is looked at. */
        Command(String command, Runnable whenOpen) {
            super(command, null, null);
            this.whenOpen = whenOpen;
            addCloseFutureListener(closed -> ended.complete(null));
        }

        @Override
        public void handleOpenSuccess(long recipient, long windowBytes, long packetBytes, Buffer rest) {
            granted = true;
            whenOpen.run();
            super.handleOpenSuccess(recipient, windowBytes, packetBytes, rest);
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
