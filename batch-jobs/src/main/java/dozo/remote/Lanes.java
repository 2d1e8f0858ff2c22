package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A bounded set of lanes to one site.
 *
 * <p>Lanes are opened in the background as they are asked for, and replaced when they are lost, after a pause that doubles
 * up to half a minute. A site that allows fewer lanes than wanted is served with those it allows;
 * {@link #trouble()} says why. Only while there is no lane at all does the failure reach the caller: at once if it is not
 * one that time heals, else after four attempts in a row.
 */
public final class Lanes implements AutoCloseable {

    /** More lanes than this bring nothing at any distance that was measured. */
    public static final int LANES_MAX = 64;

    /** OpenSSH drops logins at random when ten are under way; its default, and we are not alone. */
    private static final int OPENING_MAX = 4;

    private static final int ATTEMPTS_MAX = 4;
    private static final long PAUSE_FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long PAUSE_LONGEST_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final SiteAddress site;
    private final int lanesMax;
    private final int channels;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // All guarded by the lock.
    private final List<Lane> open = new ArrayList<>();
    private @Nullable SshLogin login;
    private @Nullable RemoteException trouble;
    private int opening;
    private int failuresInARow;
    private long noAttemptBefore = System.nanoTime();
    private int handedOut;
    private boolean closed;

    private Lanes(SiteAddress site, int lanesMax, int channels) {
        if (lanesMax < 1 || lanesMax > LANES_MAX || channels < 1 || channels > 8) {
            throw new IllegalArgumentException(lanesMax + " lanes with " + channels + " channels each");
        }
        this.site = site;
        this.lanesMax = lanesMax;
        this.channels = channels;
    }

    /** Up to so many lanes; nothing is opened yet. */
    public static Lanes to(SiteAddress site, int lanes) {
        return new Lanes(site, lanes, 1);
    }

    /** Up to so many lanes with so many SFTP channels (1 to 8) on each: what a long way needs, where one window is too small. */
    public static Lanes to(SiteAddress site, int lanes, int channels) {
        return new Lanes(site, lanes, channels);
    }

    /** The least busy open lane. Waits while there is none; throws when none can be had. */
    public Lane next() throws RemoteException, InterruptedException {
        lock.lockInterruptibly();
        try {
            while (true) {
                if (closed) {
                    throw new IllegalStateException("the lanes to " + site + " are closed");
                }
                dropLost();
                Lane best = leastBusy();
                long pause = noAttemptBefore - System.nanoTime();
                if (pause <= 0 && (best == null || handedOut > 0) && open.size() + opening < lanesMax) {
                    openOne();
                }
                if (best != null) {
                    handedOut++;
                    return best;
                }
                failIfHopeless();
                var _ = changed.awaitNanos(opening > 0 ? PAUSE_LONGEST_NANOS : pause);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Why there are fewer lanes than wanted, if the last attempt to open one failed. */
    public Optional<RemoteException> trouble() {
        lock.lock();
        try {
            return Optional.ofNullable(trouble);
        } finally {
            lock.unlock();
        }
    }

    /** Closes all lanes; what is under way on them fails with LOST. */
    @Override
    public void close() {
        List<Lane> last;
        SshLogin lastLogin;
        lock.lock();
        try {
            closed = true;
            last = List.copyOf(open);
            open.clear();
            lastLogin = login;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        last.forEach(Lane::close);
        if (lastLogin != null) {
            lastLogin.close();
        }
    }

    private void failIfHopeless() throws RemoteException {
        RemoteException failed = trouble;
        boolean givenUp = failed != null && (!failed.retryable() || failuresInARow >= ATTEMPTS_MAX);
        if (failed != null && givenUp && opening == 0) {
            throw new RemoteException(failed.reason(), String.valueOf(failed.getMessage()), failed);
        }
    }

    private void dropLost() {
        for (Lane lane : List.copyOf(open)) {
            if (!lane.isOpen()) {
                open.remove(lane);
                lane.close();
            }
        }
    }

    private @Nullable Lane leastBusy() {
        int size = open.size();
        // Equally busy ones take turns.
        return IntStream.range(0, size)
                .mapToObj(i -> open.get((i + handedOut) % size))
                .min(Comparator.comparingInt(Lane::inFlight))
                .orElse(null);
    }

    /** Opens a lane in a thread of its own: no caller waits for a lane while there is another. */
    private void openOne() {
        if (opening >= OPENING_MAX) {
            return;
        }
        opening++;
        Thread.ofVirtual().name("open lane to " + site.host()).start(() -> {
            Lane lane = null;
            RemoteException failed = null;
            try {
                lane = login().lane(channels);
            } catch (RemoteException e) {
                failed = e;
            } catch (InterruptedException | RuntimeException e) {
                failed = new RemoteException(Reason.UNREACHABLE, "no lane to " + site + ": " + e.getMessage(), e);
            } finally {
                opened(lane, failed);
            }
        });
    }

    private SshLogin login() throws RemoteException {
        lock.lock();
        try {
            SshLogin there = login;
            if (there == null) {
                there = SshLogin.at(site);
                login = there;
            }
            return there;
        } finally {
            lock.unlock();
        }
    }

    private void opened(@Nullable Lane lane, @Nullable RemoteException failed) {
        lock.lock();
        try {
            opening--;
            trouble = failed;
            if (lane == null) {
                long pause = PAUSE_FIRST_NANOS << Math.min(failuresInARow, 7);
                noAttemptBefore = System.nanoTime() + Math.min(pause, PAUSE_LONGEST_NANOS);
                failuresInARow++;
            } else if (closed) {
                lane.close();
            } else {
                failuresInARow = 0;
                open.add(lane);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
