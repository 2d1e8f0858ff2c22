package dozo.remote;

import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A bounded set of lanes to one site.
 *
 * <p>Lanes are opened in the background on demand. A lost lane is replaced after a pause that doubles up to 30 seconds.
 * If a site allows fewer lanes than wanted, those it allows are used; {@link #trouble()} says why. A lane whose answers
 * stay away too long is closed, and its unfinished work fails with LOST, so that it can be repeated on another lane. A
 * failure to open a lane reaches the caller only while no lane is open: at once if it is not retryable, otherwise after
 * four failed attempts in a row.
 */
public final class Lanes implements AutoCloseable {

    /** More lanes than this were no faster at any distance that was measured. */
    public static final int LANES_MAX = 64;

    /** OpenSSH drops logins at random when ten are in progress (its default), and other clients log in, too. */
    private static final int OPENING_MAX = 4;

    /** The number of lanes opened before the round-trip time is known. */
    private static final int LANES_FIRST = 2;

    private static final int ATTEMPTS_MAX = 4;
    /** Files open at once on a channel. This keeps enough requests in flight to hide a long round trip. */
    private static final int FILES_PER_CHANNEL = 64;

    /** Feeds at once on a lane with several channels. */
    private static final int FEEDS_FAR = 3;

    /** How long an answer may take if no other lane receives any: a site may sync gigabytes before it answers. */
    private static final long SILENCE_MAX_NANOS = TimeUnit.MINUTES.toNanos(10);

    /** How long an answer may take if other lanes receive theirs. */
    private static final Duration SILENCE_ALONE_MAX = Duration.ofMinutes(2);

    /** A server takes at once what its windows allow. If it takes nothing for this long, the link is dead. */
    private static final long STUCK_MAX_NANOS = TimeUnit.SECONDS.toNanos(20);

    private static final Duration WATCH_EVERY = Duration.ofMillis(200);
    private static final long MEASURE_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE_FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long PAUSE_LONGEST_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final SiteAddress site;
    private final int lanesMax;
    private final boolean tuned;
    private final long silenceAloneMaxNanos;
    private final Semaphore files = new Semaphore(0, true);
    private final Semaphore feeds = new Semaphore(0, true);
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // All guarded by the lock.
    private int lanesWanted;
    private int channels;
    private @Nullable Tuning tuning;
    private int filesAllowed;
    private int feedsAllowed;
    private long bytesBefore;
    private long nanosBefore;
    private final List<Lane> open = new ArrayList<>();
    private int attempts;
    private @Nullable SshLogin login;
    private @Nullable RemoteException trouble;
    private int opening;
    private int failuresInARow;
    private long noAttemptBefore = System.nanoTime();
    private int handedOut;
    private boolean closed;

    /**
     * Work done over a lane.
     *
     * @param <X> what it may throw in addition to site failures
     */
    @FunctionalInterface
    public interface Work<T, X extends Exception> {
        T over(Lane lane) throws RemoteException, InterruptedException, X;
    }

    /** Work done over a lane, without a result. */
    @FunctionalInterface
    public interface Errand<X extends Exception> {
        void over(Lane lane) throws RemoteException, InterruptedException, X;
    }

    /**
     * The bytes that a lane has moved.
     *
     * @param lane its number; a lane that replaces a lost one has another number
     * @param bytes sent and received over all its channels so far, without SSH's own
     */
    public record LaneTraffic(int lane, long bytes) {}

    Lanes(SiteAddress site, int lanesMax, int channels, boolean tuned, Duration silenceAloneMax) {
        if (lanesMax < 1 || lanesMax > LANES_MAX || channels < 1 || channels > 8) {
            throw new IllegalArgumentException(lanesMax + " lanes with " + channels + " channels each");
        }
        this.site = site;
        this.lanesMax = lanesMax;
        this.lanesWanted = tuned ? LANES_FIRST : lanesMax;
        this.channels = channels;
        this.tuned = tuned;
        this.silenceAloneMaxNanos = silenceAloneMax.toNanos();
        Thread.ofVirtual().name("watch lanes to " + site.host()).start(this::watch);
    }

    /** Returns a set of up to {@code lanes} lanes with one channel each. Opens none yet. */
    public static Lanes to(SiteAddress site, int lanes) {
        return new Lanes(site, lanes, 1, false, SILENCE_ALONE_MAX);
    }

    /** Returns a set of up to {@code lanes} lanes with {@code channels} SFTP channels (1 to 8) each. Opens none yet. */
    public static Lanes to(SiteAddress site, int lanes, int channels) {
        return new Lanes(site, lanes, channels, false, SILENCE_ALONE_MAX);
    }

    /**
     * Returns a set with as many lanes and channels as help: chosen first by the round trip, then by measurement. Over
     * a long distance a lane needs several channels, because one window is too small.
     */
    public static Lanes tuned(SiteAddress site) {
        return new Lanes(site, LANES_MAX, 1, true, SILENCE_ALONE_MAX);
    }

    /** Returns the number of open lanes. */
    public int open() {
        lock.lock();
        try {
            return open.size();
        } finally {
            lock.unlock();
        }
    }

    /** Returns all lanes that are open now. */
    public List<Lane> all() {
        lock.lock();
        try {
            return List.copyOf(open);
        } finally {
            lock.unlock();
        }
    }

    /** Returns what each open lane has moved, sorted by lane number. */
    public List<LaneTraffic> traffic() {
        return all().stream()
                .map(lane -> new LaneTraffic(lane.number(), lane.bytesMoved()))
                .sorted(Comparator.comparingInt(LaneTraffic::lane))
                .toList();
    }

    /**
     * Returns the permits for open files at the site: 64 for each channel opened so far. Every permit taken must be
     * released.
     */
    public Semaphore files() {
        return files;
    }

    /**
     * Prepares a tar at the site that unpacks what it is fed into this folder.
     *
     * <p>Over a short distance it waits while as many archives as lanes are in use; more would only cost. Over a longer
     * distance the result is empty then, because SFTP has channels of its own. It is always empty over a distance where
     * archives do not {@linkplain TarFeed#pays pay}.
     */
    public Optional<TarFeed> tar(FilePath folder, Patience patience) throws RemoteException, InterruptedException {
        return archive(lane -> TarFeed.into(lane, folder, patience, feeds::release));
    }

    /** Prepares a tar at the site that packs what it is asked for, under the same conditions. */
    public Optional<TarRead> untar(Patience patience) throws RemoteException, InterruptedException {
        return archive(lane -> new TarRead(lane, patience, feeds::release));
    }

    private <T> Optional<T> archive(Function<Lane, T> on) throws RemoteException, InterruptedException {
        Lane next = next();
        if (!TarFeed.pays(next)) {
            return Optional.empty();
        }
        if (!isFar()) {
            feeds.acquire();
        } else if (!feeds.tryAcquire()) {
            return Optional.empty();
        }
        try {
            return Optional.of(on.apply(all().stream()
                    .filter(Lane::isOpen)
                    .min(Comparator.comparingInt(Lane::feeds).thenComparingInt(Lane::busy))
                    .orElse(next)));
        } catch (RuntimeException e) {
            feeds.release();
            throw e;
        }
    }

    private boolean isFar() {
        lock.lock();
        try {
            return channels > 1;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the least busy open lane. Waits while there is none; throws if none can be opened. */
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
                // Two at once if at least two will be wanted: over a long distance a login takes seconds.
                int more = best == null && opening == 0 && tuned ? LANES_FIRST : 1;
                for (int i = 0; i < more && open.size() + opening < lanesWanted; i++) {
                    if (pause <= 0 && (best == null || handedOut > 0)) {
                        openOne();
                    }
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

    /** Does the work on a lane, and repeats it on another if the lane is lost: all of it may be done twice. */
    public <T, X extends Exception> T over(Work<T, X> work) throws RemoteException, InterruptedException, X {
        for (int i = 1; ; i++) {
            try {
                return work.over(next());
            } catch (RemoteException e) {
                if (!e.worthAnotherTry(i)) {
                    throw e;
                }
            }
        }
    }

    /** Does the same for work without a result. */
    public <X extends Exception> void doOver(Errand<X> errand) throws RemoteException, InterruptedException, X {
        var _ = this.<Boolean, X>over(lane -> {
            errand.over(lane);
            return true;
        });
    }

    /** Returns why there are fewer lanes than wanted, if the last attempt to open one failed. */
    public Optional<RemoteException> trouble() {
        lock.lock();
        try {
            return Optional.ofNullable(trouble);
        } finally {
            lock.unlock();
        }
    }

    /** Closes all lanes; unfinished work on them fails with LOST. */
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
        // Equally busy lanes take turns.
        return IntStream.range(0, size)
                .mapToObj(i -> open.get((i + handedOut) % size))
                .min(Comparator.comparingInt(Lane::busy))
                .orElse(null);
    }

    /** Opens a lane in a thread of its own, so that no caller waits for it while another lane is open. */
    private void openOne() {
        if (opening >= OPENING_MAX) {
            return;
        }
        opening++;
        int number = ++attempts;
        Thread.ofVirtual().name("open lane to " + site.host()).start(() -> {
            Lane lane = null;
            RemoteException failed = null;
            try {
                lane = login().lane(number, channels);
            } catch (RemoteException e) {
                failed = e;
            } catch (InterruptedException | RuntimeException e) {
                failed = new RemoteException(
                        Reason.UNREACHABLE, "cannot open a lane to " + site + ": " + e.getMessage(), e);
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
                firstChoice(lane);
                open.forEach(each -> each.widen(channels));
                allowFiles();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Chooses lanes and channels by the first lane's round trip. Requires the lock. */
    private void firstChoice(Lane lane) {
        if (!tuned || tuning != null) {
            return;
        }
        Tuning first =
                new Tuning(lane.roundTripNanos(), lanesMax, Runtime.getRuntime().availableProcessors());
        tuning = first;
        channels = first.channels();
        lanesWanted = first.lanes();
        while (open.size() + opening < lanesWanted && opening < OPENING_MAX) {
            openOne();
        }
    }

    private void allowFiles() {
        int allowed = open.stream().mapToInt(Lane::channels).sum() * FILES_PER_CHANNEL;
        if (allowed > filesAllowed) {
            files.release(allowed - filesAllowed);
            filesAllowed = allowed;
        }
        int feedsNow = open.size() * Math.min(channels, FEEDS_FAR);
        if (feedsNow > feedsAllowed) {
            feeds.release(feedsNow - feedsAllowed);
            feedsAllowed = feedsNow;
        }
    }

    private void watch() {
        try {
            while (!isClosed()) {
                Thread.sleep(WATCH_EVERY);
                closeSilent();
                tune();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts this thread", e);
        }
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    private void closeSilent() {
        List<Lane> lanes = all();
        boolean othersAnswer = lanes.stream().anyMatch(lane -> lane.silentNanos() < silenceAloneMaxNanos / 4);
        long most = othersAnswer ? silenceAloneMaxNanos : SILENCE_MAX_NANOS;
        lanes.stream()
                .filter(lane -> lane.silentNanos() > most || lane.stuckNanos() > STUCK_MAX_NANOS)
                .forEach(Lane::close);
    }

    private void tune() {
        lock.lock();
        try {
            allowFiles();
            long now = System.nanoTime();
            if (now - nanosBefore < MEASURE_EVERY_NANOS) {
                return;
            }
            long bytes = open.stream().mapToLong(Lane::bytesMoved).sum();
            double rate = (bytes - bytesBefore) * 1e9 / (now - nanosBefore);
            boolean settled = nanosBefore != 0 && opening == 0 && open.size() == lanesWanted && bytes > bytesBefore;
            bytesBefore = bytes;
            nanosBefore = now;
            Tuning measuring = tuning;
            if (measuring != null && settled) {
                measuring.measured(rate);
                lanesWanted = measuring.lanes();
            }
        } finally {
            lock.unlock();
        }
    }
}
