package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.kex.KexProposalOption;

/**
 * One SSH connection to a site, with its pipelined SFTP channels. Safe for use by many threads at once; their requests
 * travel together.
 */
public final class Lane implements AutoCloseable {

    /** A server takes at once what its windows allow. If it takes nothing for this long, the link is dead. */
    private static final long STUCK_MAX_NANOS = TimeUnit.SECONDS.toNanos(20);

    private final SiteAddress site;
    private final int number;
    private final ClientSession session;
    private final Shells shells;
    private final ServerEcho echo;
    private final List<Sftp> channels = new CopyOnWriteArrayList<>();

    /** Channels that get no new work: those who have one may go on using it. */
    private final List<Sftp> leaving = new CopyOnWriteArrayList<>();

    private final ReentrantLock lock = new ReentrantLock();

    /** Bytes of feeds and of closed channels. */
    private final LongAdder bytesElsewhere = new LongAdder();

    private final AtomicInteger feeds = new AtomicInteger();

    // Guarded by the lock.
    private int channelsTried = 1;
    private long leavingSince;

    private Lane(SiteAddress site, int number, ClientSession session, AtomicBoolean shellAnswers, Sftp first) {
        this.site = site;
        this.number = number;
        this.session = session;
        this.shells = new Shells(site, session, shellAnswers, this::close);
        this.echo = new ServerEcho(session);
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
            boolean shellToo = shells.beginWidening();
            Thread.ofVirtual().name("open channels to " + site.host()).start(() -> openMore(more, shellToo));
        } finally {
            lock.unlock();
        }
    }

    /** Gives no new work to the channels above this number. {@link #closeLeaving} closes them. */
    void narrow(int channelsWanted) {
        lock.lock();
        try {
            while (!shells.isWidening() && channels.size() > Math.max(1, channelsWanted)) {
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

    boolean isWidening() {
        return shells.isWidening();
    }

    /** Returns for how long, in nanoseconds, nobody has used it; 0 while anything is under way. */
    long idleNanos() {
        lock.lock();
        try {
            return !shells.isIdle() || feeds.get() > 0
                    ? 0
                    : both().mapToLong(Sftp::idleNanos).min().orElse(0);
        } finally {
            lock.unlock();
        }
    }

    private void openMore(int more, boolean shellToo) {
        boolean allOpened = false;
        Optional<Sftp> last = Optional.empty();
        try (ExecutorService shell = Executors.newVirtualThreadPerTaskExecutor()) {
            if (shellToo) {
                shell.execute(() -> shells.start(false));
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
                    allOpened && shells.isSettled()
                            ? channels::add
                            : sftp -> sftp.pipeline().giveUp());
            shells.endWidening();
        } finally {
            lock.unlock();
        }
    }

    private List<Sftp> openChannels(int more) {
        Callable<Sftp> one = () -> Sftp.open(site, session);
        return Fanout.ended(Collections.nCopies(more, one)).stream()
                .filter(each -> each.state() == Future.State.SUCCESS)
                .map(Future::resultNow)
                .collect(Collectors.toCollection(ArrayList::new));
    }

    int channels() {
        return channels.size();
    }

    /** Returns all channels that are open so far. */
    public List<Sftp> all() {
        return List.copyOf(channels);
    }

    /** Returns the least time, in nanoseconds, that an answer has taken so far. */
    long roundTripNanos() {
        return channels.stream()
                .mapToLong(sftp -> sftp.channel().roundTripNanos())
                .min()
                .orElseThrow();
    }

    /** Returns how long, in nanoseconds, the site has accepted none of the data being sent. */
    long stuckNanos() {
        return session.getIoSession() instanceof BlockingConnection connection ? connection.stuckNanos() : 0;
    }

    /** Returns whether an answer has been due for longer than this, or the link is dead. */
    boolean hangs(long silentMaxNanos) {
        return silentNanos() > silentMaxNanos || stuckNanos() > STUCK_MAX_NANOS;
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
                echo.nanos());
    }

    /** Asks the site's SSH server itself for an answer, unless it owes one. */
    void askServer() {
        echo.ask(site.host());
    }

    /** Returns the longest time, in nanoseconds, that an answer has been due on one of the channels. */
    long silentNanos() {
        return both().mapToLong(sftp -> sftp.pipeline().silentNanos()).max().orElse(0);
    }

    private Stream<Sftp> both() {
        return Stream.concat(channels.stream(), leaving.stream());
    }

    /** Returns the bytes sent and received over all channels so far. */
    long bytesMoved() {
        return bytesElsewhere.sum()
                + both().mapToLong(sftp -> sftp.pipeline().bytesMoved()).sum();
    }

    /** Returns the least busy channel. */
    public Sftp sftp() {
        return channels.stream()
                .min(Comparator.comparing((Sftp sftp) -> !sftp.pipeline().isOpen())
                        .thenComparingInt(sftp -> sftp.channel().busy()))
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
        return sftp().channel().busy();
    }

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
        return shells.run(command, stdin, outputBytesMax, timeout);
    }

    /** Returns what happened if commands cannot be used because the site's shell has never answered. */
    Optional<String> muteShell() {
        return shells.mute();
    }

    @Override
    public void close() {
        RemoteException closed = new RemoteException(Reason.LOST, "the lane to " + site + " was closed");
        both().forEach(sftp -> sftp.pipeline().die(closed));
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
