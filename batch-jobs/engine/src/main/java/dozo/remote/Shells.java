package dozo.remote;

import dozo.remote.RemoteException.Reason;
import dozo.remote.Shell.TurnedAway;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.apache.sshd.client.session.ClientSession;
import org.jspecify.annotations.Nullable;

/**
 * The shells of one connection. A new one competes for channels with SFTP, so it is noted here when the lane opens such
 * channels. A lane may hold its own lock when it calls; nothing is called with the lock held here.
 */
final class Shells {

    /** Shells on a connection. A stock sshd allows ten channels: four at most are for SFTP, three for {@link Feed}s. */
    private static final int SHELLS_MAX = 3;

    /** How long a server takes at most to notice that a channel was closed: OpenSSH first reads what else was sent. */
    private static final Duration ROOM_TIMEOUT = Duration.ofSeconds(3);

    private static final long TRY_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final SiteAddress site;
    private final ClientSession session;

    /** Whether a shell at the site has ever answered, on any lane. */
    private final AtomicBoolean answers;

    private final Runnable closeLane;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // Guarded by the lock.
    private final Deque<Shell> idle = new ArrayDeque<>();
    private int shells;
    private int allowed = SHELLS_MAX;
    private int stuck;
    private boolean starting;
    private @Nullable RemoteException noShell;
    private int widening;
    private long roomComesBefore = System.nanoTime();

    Shells(SiteAddress site, ClientSession session, AtomicBoolean answers, Runnable closeLane) {
        this.site = site;
        this.session = session;
        this.answers = answers;
        this.closeLane = closeLane;
    }

    /** Runs a command as {@link Lane#run} promises. */
    CommandResult run(String command, byte[] stdin, int outputBytesMax, Duration timeout)
            throws RemoteException, InterruptedException {
        Shell shell = take();
        boolean well = false;
        try {
            CommandResult result = shell.run(command, stdin, outputBytesMax, timeout);
            well = true;
            return result;
        } catch (RemoteException e) {
            if (e.reason() == Reason.STUCK) {
                var _ = locked(() -> stuck++);
            }
            throw e;
        } finally {
            giveBack(shell, well);
        }
    }

    /**
     * Notes that the lane opens more channels: afterwards another try of a refused shell is worthwhile.
     *
     * @return whether to {@link #start} the first shell at the same time
     */
    boolean beginWidening() {
        return locked(() -> {
            widening++;
            boolean first = shells == 0 && !starting && noShell == null;
            starting |= first;
            return first;
        });
    }

    void endWidening() {
        change(() -> {
            widening--;
            roomComesBefore = System.nanoTime() + ROOM_TIMEOUT.toNanos();
        });
    }

    boolean isWidening() {
        return locked(() -> widening > 0);
    }

    /** Returns whether a shell runs, or it is known that none can. */
    boolean isSettled() {
        return locked(() -> shells > 0 || noShell != null);
    }

    /** Returns whether no command and nothing else is under way. */
    boolean isIdle() {
        return locked(() -> shells <= idle.size() && !starting && widening == 0);
    }

    /** Returns what happened if commands cannot be used because the site's shell has never answered. */
    Optional<String> mute() {
        return locked(() -> Optional.ofNullable(noShell).filter(this::isMute).map(RemoteException::getMessage));
    }

    private <T> T locked(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    /** Does the same, and wakes up who waits. */
    private void change(Runnable work) {
        var _ = locked(() -> {
            work.run();
            changed.signalAll();
            return true;
        });
    }

    /** Returns an idle shell, or a new one. */
    private Shell take() throws RemoteException, InterruptedException {
        lock.lockInterruptibly();
        try {
            while (idle.isEmpty()) {
                throwIfNoShell();
                if (!starting && shells < allowed) {
                    starting = true;
                    // NB: started by a thread that is never interrupted. Interrupting a thread that writes closes the
                    // whole connection.
                    Thread.ofVirtual().name("start shell at " + site.host()).start(() -> start(true));
                }
                changed.await();
            }
            return idle.pop();
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
        return failed.reason() == Reason.STUCK && !answers.get();
    }

    /** Starts a shell. If there is no channel for it, another try is worthwhile after channels were closed. */
    void start(boolean tryAgain) {
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
            started(shell, failed);
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
        if (locked(() -> stuck > 0)) {
            closeLane.run();
            throw new RemoteException(Reason.LOST, "commands at " + site + " hang and use up all channels of a lane");
        }
    }

    private void started(@Nullable Shell shell, @Nullable RemoteException failed) {
        change(() -> {
            starting = false;
            if (shell != null) {
                answers.set(true);
                shells++;
                idle.push(shell);
            } else if (shells > 0) {
                allowed = shells;
            } else {
                noShell = failed;
            }
        });
    }

    private void giveBack(Shell shell, boolean well) {
        if (!well) {
            shell.close();
        }
        change(() -> {
            if (well) {
                idle.push(shell);
            } else {
                shells--;
                roomComesBefore = System.nanoTime() + ROOM_TIMEOUT.toNanos();
            }
        });
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
}
