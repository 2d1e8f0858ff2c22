package dozo.remote;

import dozo.remote.RemoteException.Reason;
import dozo.remote.Shell.TurnedAway;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.kex.KexProposalOption;
import org.apache.sshd.common.util.buffer.Buffer;
import org.jspecify.annotations.Nullable;

/**
 * One SSH connection to a site, with its pipelined SFTP channels. Safe for use by many threads at once; their requests
 * travel together.
 */
public final class Lane implements AutoCloseable {

    /** A request that every SSH server answers, as OpenSSH sends it to see whether its peer is there. */
    private static final String KEEPALIVE = "keepalive@openssh.com";

    /** A server that has not answered for so long does not know the request. */
    private static final Duration SERVER_TIMEOUT = Duration.ofMinutes(1);

    /** Shells on a connection. A stock sshd allows ten channels: four at most are for SFTP, three for {@link Feed}s. */
    private static final int SHELLS_MAX = 3;

    /** How long a server takes at most to notice that a channel was closed: OpenSSH first reads what else was sent. */
    private static final Duration ROOM_TIMEOUT = Duration.ofSeconds(3);

    private static final long TRY_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final SiteAddress site;
    private final int number;
    private final ClientSession session;

    /** Whether a shell at the site has ever answered, on any lane. */
    private final AtomicBoolean shellAnswers;

    private final List<Sftp> channels = new CopyOnWriteArrayList<>();

    /** Channels that get no new work: those who have one may go on using it. */
    private final List<Sftp> leaving = new CopyOnWriteArrayList<>();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** Bytes of feeds and of closed channels. */
    private final LongAdder bytesElsewhere = new LongAdder();

    private final AtomicInteger feeds = new AtomicInteger();

    // Guarded by the lock.
    private final Deque<Shell> idleShells = new ArrayDeque<>();
    private int shells;
    private int shellsAllowed = SHELLS_MAX;
    private int stuck;
    private boolean starting;
    private @Nullable RemoteException noShell;
    private int channelsTried = 1;
    private int widening;
    private long leavingSince;
    private volatile long askedNanos;
    private volatile long answeredNanos;
    private volatile boolean serverIsMute;
    private long roomComesBefore = System.nanoTime();

    private Lane(SiteAddress site, int number, ClientSession session, AtomicBoolean shellAnswers, Sftp first) {
        this.shellAnswers = shellAnswers;
        this.site = site;
        this.number = number;
        this.session = session;
        channels.add(first);
    }

    /** Returns a lane on this connection, with fewer channels if the site does not allow as many as wanted. */
    static Lane on(SiteAddress site, int number, ClientSession session, AtomicBoolean shellAnswers, int channelsWanted)
            throws RemoteException, InterruptedException {
        Lane lane = new Lane(site, number, session, shellAnswers, Sftp.open(site, session));
        lane.widen(channelsWanted);
        return lane;
    }

    /**
     * Opens more channels and starts a shell, in the background and all at once, because over a long distance each
     * takes a while. If the site refuses some of them (MaxSessions), one opened channel is closed again to make room
     * for commands.
     */
    void widen(int channelsWanted) {
        lock.lock();
        try {
            while (!leaving.isEmpty() && channelsTried < channelsWanted) {
                Sftp back = leaving.removeLast();
                if (back.pipeline().isOpen()) {
                    channels.add(back);
                    channelsTried++;
                }
            }
            // Channels that were tried once are not tried again.
            int more = channelsWanted - channelsTried;
            if (more <= 0) {
                return;
            }
            channelsTried = channelsWanted;
            widening++;
            boolean shellToo = shells == 0 && !starting && noShell == null;
            starting |= shellToo;
            Thread.ofVirtual().name("open channels to " + site.host()).start(() -> openMore(more, shellToo));
        } finally {
            lock.unlock();
        }
    }

    /** Gives no new work to the channels above this number. {@link #closeLeaving} closes them. */
    void narrow(int channelsWanted) {
        lock.lock();
        try {
            while (widening == 0 && channels.size() > Math.max(1, channelsWanted)) {
                leaving.add(channels.removeLast());
                leavingSince = System.nanoTime();
                channelsTried--;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Closes the channels that get no new work and have not been used for this long. */
    void closeLeaving(long idleNanos) {
        lock.lock();
        try {
            boolean longAgo = System.nanoTime() - leavingSince >= idleNanos;
            for (Sftp sftp : List.copyOf(leaving)) {
                if (!sftp.pipeline().isOpen() || (longAgo && sftp.idleNanos() >= idleNanos)) {
                    leaving.remove(sftp);
                    sftp.pipeline().giveUp();
                    bytesElsewhere.add(sftp.pipeline().bytesMoved());
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether channels are being opened. */
    boolean isWidening() {
        lock.lock();
        try {
            return widening > 0;
        } finally {
            lock.unlock();
        }
    }

    /** Returns for how long, in nanoseconds, nobody has used it; 0 while anything is under way. */
    long idleNanos() {
        lock.lock();
        try {
            boolean commands = shells > idleShells.size() || starting || widening > 0 || feeds.get() > 0;
            return commands
                    ? 0
                    : Stream.concat(channels.stream(), leaving.stream())
                            .mapToLong(Sftp::idleNanos)
                            .min()
                            .orElse(0);
        } finally {
            lock.unlock();
        }
    }

    private void openMore(int more, boolean shellToo) {
        boolean allOpened = false;
        Optional<Sftp> last = Optional.empty();
        try (ExecutorService shell = Executors.newVirtualThreadPerTaskExecutor()) {
            if (shellToo) {
                shell.execute(() -> startShell(false));
            }
            List<Sftp> opened = openChannels(more);
            allOpened = opened.size() == more;
            // A login shell's start-up files may take a while. This delays only one channel.
            last = opened.isEmpty() ? Optional.empty() : Optional.of(opened.removeLast());
            channels.addAll(opened);
        } finally {
            endWidening(last, allOpened);
        }
    }

    /** Keeps the last channel only if there is room for a command beside it. */
    private void endWidening(Optional<Sftp> last, boolean allOpened) {
        lock.lock();
        try {
            last.ifPresent(
                    allOpened && (shells > 0 || noShell != null)
                            ? channels::add
                            : sftp -> sftp.pipeline().giveUp());
            widening--;
            roomComesBefore = System.nanoTime() + ROOM_TIMEOUT.toNanos();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private List<Sftp> openChannels(int more) {
        List<Future<Sftp>> opening = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < more; i++) {
                opening.add(threads.submit(() -> Sftp.open(site, session)));
            }
        }
        return opening.stream()
                .filter(each -> each.state() == Future.State.SUCCESS)
                .map(Future::resultNow)
                .collect(Collectors.toCollection(ArrayList::new));
    }

    /** Returns the number of channels open so far. */
    int channels() {
        return channels.size();
    }

    /** Returns all channels that are open so far. */
    public List<Sftp> all() {
        return List.copyOf(channels);
    }

    /** Returns the least time, in nanoseconds, that an answer has taken so far. */
    long roundTripNanos() {
        return channels.stream().mapToLong(sftp -> sftp.channel().roundTripNanos()).min().orElseThrow();
    }

    /** Returns how long, in nanoseconds, the site has accepted none of the data being sent. */
    long stuckNanos() {
        return session.getIoSession() instanceof BlockingConnection connection ? connection.stuckNanos() : 0;
    }

    /** Returns what it does at the moment. */
    LinkLoad load() {
        List<Pipeline> pipelines = channels.stream().map(Sftp::pipeline).toList();
        return new LinkLoad(
                1,
                stuckNanos() > 0 ? 1 : 0,
                pipelines.stream().mapToInt(Pipeline::inFlight).sum(),
                pipelines.stream().mapToLong(Pipeline::answers).sum(),
                bytesMoved(),
                (pipelines.size() + feeds()) * Tuning.WINDOW_BYTES,
                roundTripNanos(),
                serverNanos());
    }

    /**
     * Asks the site's SSH server itself for an answer, unless it owes one. It comes behind the data that is on its way, but waits
     * for nothing that the server passes on: SFTP and commands.
     */
    void askServer() {
        if (askedNanos == 0 && !serverIsMute) {
            askedNanos = System.nanoTime();
            Thread.ofVirtual().name("ask " + site.host()).start(this::awaitServer);
        }
    }

    private void awaitServer() {
        try {
            Buffer request = session.createBuffer(SshConstants.SSH_MSG_GLOBAL_REQUEST);
            request.putString(KEEPALIVE);
            request.putBoolean(true);
            // A refusal is an answer too (RFC 4254, section 4).
            var _ = session.request(KEEPALIVE, request, SERVER_TIMEOUT);
            answeredNanos = System.nanoTime() - askedNanos;
        } catch (IOException | RuntimeException e) {
            serverIsMute = true;
            answeredNanos = 0;
        }
        askedNanos = 0;
    }

    /** Returns how long the server's latest answer took, or how long the next one has been due; 0: unknown. */
    private long serverNanos() {
        long asked = askedNanos;
        return serverIsMute ? 0 : Math.max(answeredNanos, asked == 0 ? 0 : System.nanoTime() - asked);
    }

    /** Returns the longest time, in nanoseconds, that an answer has been due on one of the channels. */
    long silentNanos() {
        return Stream.concat(channels.stream(), leaving.stream())
                .mapToLong(sftp -> sftp.pipeline().silentNanos())
                .max()
                .orElse(0);
    }

    /** Returns the bytes sent and received over all channels so far. */
    long bytesMoved() {
        return bytesElsewhere.sum()
                + Stream.concat(channels.stream(), leaving.stream())
                        .mapToLong(sftp -> sftp.pipeline().bytesMoved())
                        .sum();
    }

    /** Returns the least busy channel. */
    public Sftp sftp() {
        return channels.stream()
                .min(Comparator.comparing((Sftp sftp) -> !sftp.pipeline().isOpen())
                        .thenComparingInt(Sftp::busy))
                .orElseThrow();
    }

    /** Returns whether all of it is usable; one dead channel makes a dead lane. */
    public boolean isOpen() {
        return session.isOpen()
                && channels.stream().allMatch(sftp -> sftp.pipeline().isOpen());
    }

    public SiteAddress site() {
        return site;
    }

    /** Returns its number among all lanes opened to the site. */
    int number() {
        return number;
    }

    /**
     * Returns the server's version string, such as {@code SSH-2.0-OpenSSH_9.2p1}. It is the site's text, for display.
     */
    public String serverVersion() {
        return String.valueOf(session.getServerVersion());
    }

    /** Returns the key exchange that both sides agreed to, such as {@code mlkem768x25519-sha256}. */
    String keyExchange() {
        return String.valueOf(session.getNegotiatedKexParameter(KexProposalOption.ALGORITHMS));
    }

    /** Returns how busy the least busy channel is. */
    int busy() {
        return sftp().busy();
    }

    /** Returns the number of commands being fed. */
    int feeds() {
        return feeds.get();
    }

    /** Prepares a command that is to be fed: a line for a POSIX {@code sh} without single quotes. */
    Feed feed(String command, Patience patience) {
        feeds.incrementAndGet();
        return new Feed(site, session, command, patience, roundTripNanos(), bytesElsewhere, feeds::decrementAndGet);
    }

    /**
     * Runs a command, a line for a POSIX {@code sh}, with {@code stdin} as its input, and waits for its end. If the
     * site allows fewer commands at once, callers wait for each other.
     *
     * @param outputBytesMax the most that it may print as its standard output
     * @throws RemoteException UNSUPPORTED if the account may not run commands; STUCK if the command does not end in
     *     time; PROTOCOL if it prints more
     */
    public CommandResult run(String command, byte[] stdin, int outputBytesMax, Duration timeout)
            throws RemoteException, InterruptedException {
        Shell shell = takeShell();
        boolean well = false;
        try {
            CommandResult result = shell.run(command, stdin, outputBytesMax, timeout);
            well = true;
            return result;
        } catch (RemoteException e) {
            if (e.reason() == Reason.STUCK) {
                noteStuck();
            }
            throw e;
        } finally {
            giveBack(shell, well);
        }
    }

    private void noteStuck() {
        lock.lock();
        try {
            stuck++;
        } finally {
            lock.unlock();
        }
    }

    /** Returns an idle shell, or a new one. */
    private Shell takeShell() throws RemoteException, InterruptedException {
        lock.lockInterruptibly();
        try {
            while (idleShells.isEmpty()) {
                throwIfNoShell();
                if (!starting && shells < shellsAllowed) {
                    starting = true;
                    // NB: started by a thread that is never interrupted. Interrupting a thread that writes closes the
                    // whole connection.
                    Thread.ofVirtual().name("start shell at " + site.host()).start(() -> startShell(true));
                }
                changed.await();
            }
            return idleShells.pop();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Throws the stored failure. UNSUPPORTED, also that of a site whose shell has never answered, is kept for all later
     * callers; any other failure is reported to one caller only.
     */
    private void throwIfNoShell() throws RemoteException {
        RemoteException failed = noShell;
        if (failed != null) {
            Reason reason = isMute(failed) ? Reason.UNSUPPORTED : failed.reason();
            noShell = reason == Reason.UNSUPPORTED ? failed : null;
            throw new RemoteException(reason, String.valueOf(failed.getMessage()), failed);
        }
    }

    private boolean isMute(RemoteException failed) {
        return failed.reason() == Reason.STUCK && !shellAnswers.get();
    }

    /** Returns what happened if commands cannot be used because the site's shell has never answered. */
    Optional<String> muteShell() {
        lock.lock();
        try {
            return Optional.ofNullable(noShell).filter(this::isMute).map(RemoteException::getMessage);
        } finally {
            lock.unlock();
        }
    }

    /** Starts a shell. If there is no channel for it, another try is worthwhile after channels were closed. */
    private void startShell(boolean tryAgain) {
        Shell shell = null;
        RemoteException failed = null;
        try {
            shell = tryAgain ? newShell() : Shell.start(site, session);
        } catch (TurnedAway e) {
            // The next caller tries again.
        } catch (RemoteException e) {
            failed = e;
        } catch (InterruptedException | RuntimeException e) {
            failed = new RemoteException(Reason.LOST, "no command could be run at " + site, e);
        } finally {
            shellStarted(shell, failed);
        }
    }

    private Shell newShell() throws RemoteException, InterruptedException {
        while (true) {
            try {
                return Shell.start(site, session);
            } catch (TurnedAway e) {
                if (!worthAnotherTry()) {
                    throwIfStuck();
                    throw new RemoteException(
                            session.isOpen() ? Reason.UNSUPPORTED : Reason.LOST,
                            site + " has no channel for commands",
                            e);
                }
            }
        }
    }

    /** Closes the lane if commands hang at the site: they keep their channels, and a new lane has all of them again. */
    private void throwIfStuck() throws RemoteException {
        lock.lock();
        try {
            if (stuck == 0) {
                return;
            }
        } finally {
            lock.unlock();
        }
        close();
        throw new RemoteException(Reason.LOST, "commands at " + site + " hang and use up all channels of a lane");
    }

    private void shellStarted(@Nullable Shell shell, @Nullable RemoteException failed) {
        lock.lock();
        try {
            starting = false;
            if (shell != null) {
                shellAnswers.set(true);
                shells++;
                idleShells.push(shell);
            } else if (shells > 0) {
                shellsAllowed = shells;
            } else {
                noShell = failed;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void giveBack(Shell shell, boolean well) {
        if (!well) {
            shell.close();
        }
        lock.lock();
        try {
            if (well) {
                idleShells.push(shell);
            } else {
                shells--;
                roomComesBefore = System.nanoTime() + ROOM_TIMEOUT.toNanos();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns whether a refused shell may succeed now: no more channels are being opened, or the site has noticed that
     * one was closed. False if another shell is running.
     */
    private boolean worthAnotherTry() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            boolean waits = widening > 0;
            while (widening > 0) {
                changed.await();
            }
            if (waits) {
                return true;
            }
            if (shells > 0 || System.nanoTime() - roomComesBefore > 0) {
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

    @Override
    public void close() {
        RemoteException closed = new RemoteException(Reason.LOST, "the lane to " + site + " was closed");
        channels.forEach(sftp -> sftp.pipeline().die(closed));
        leaving.forEach(sftp -> sftp.pipeline().die(closed));
        // NB: the session alone would wait for a lock that a stuck write holds, perhaps until TCP gives the connection
        // up.
        session.getIoSession().close(true);
        session.close(true);
    }

    /** Rethrows an interruption, which MINA reports as an I/O error. */
    static void rethrowInterruption(IOException e) throws InterruptedException {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedIOException && !(cause instanceof SocketTimeoutException)) {
                InterruptedException interrupted = new InterruptedException();
                interrupted.initCause(e);
                throw interrupted;
            }
        }
    }
}
