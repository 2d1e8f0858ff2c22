package dozo.remote;

import static java.util.Objects.requireNonNull;

import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import dozo.remote.Tuning.Shape;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A bounded set of lanes to one site.
 *
 * <p>Lanes are opened in the background on demand. A lost lane is replaced after a pause that doubles up to 30 seconds.
 * If a site allows fewer lanes than wanted, those it allows are used; {@link #trouble()} says why. A lane whose answers
 * stay away too long is closed, and its unfinished work fails with LOST, so that it can be repeated on another lane. A
 * failure to open a lane reaches the caller only while no lane is open: at once if it is not retryable, otherwise after
 * four failed attempts in a row.
 *
 * <p>A set that is tuned follows the measured rate, up and down, and keeps its latest {@linkplain #decisions()
 * decisions}. Lanes and channels that are too many get no new work; they are closed when nobody has used them for a
 * while.
 */
public final class Lanes implements AutoCloseable {

    /** More lanes than this were no faster at any distance that was measured. */
    public static final int LANES_MAX = 64;

    /** How long an answer may take if no other lane receives any: a site may sync gigabytes before it answers. */
    private static final long SILENCE_MAX_NANOS = TimeUnit.MINUTES.toNanos(10);

    /** How long an answer may take if other lanes receive theirs. */
    private static final Duration SILENCE_ALONE_MAX = Duration.ofMinutes(2);

    /** The folders of one walk that may wait to be listed: their paths are in memory. */
    private static final int FOLDERS_WAITING_MAX = 200_000;

    /** After this time without use, nobody who was given a lane can be about to use it. */
    private static final Duration IDLE_MIN = Duration.ofMinutes(1);

    private static final Duration WATCH_EVERY = Duration.ofMillis(200);

    private final SiteAddress site;
    private final long silentMaxNanos;
    private final long idleMinNanos;
    private final Tuner tuner;
    private final Permits permits = new Permits(this);
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** The lanes, and the channels on each, that are to be open. Written with the lock held. */
    private volatile Shape wanted;

    // All guarded by the lock.
    private final Attempts attempts = new Attempts();
    private long bytesOfClosed;

    /** Lanes that get no new work, and since when. */
    private final Map<Lane, Long> leaving = new LinkedHashMap<>();

    private final List<Lane> open = new ArrayList<>();
    private @Nullable SshLogin login;
    private WriteCheck check = WriteCheck.NONE;
    private int handedOut;
    private boolean closed;
    private int openAtEnd;

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

    /**
     * Creates a set.
     *
     * @param start what is known about the link; null: the numbers are fixed
     * @param silentMax how long an answer may take if other lanes receive theirs
     * @param idleMin after how long without use a lane or channel is closed that is too many
     */
    Lanes(
            SiteAddress site,
            int lanesMax,
            int channels,
            @Nullable TuningStart start,
            Duration silentMax,
            Duration idleMin) {
        if (lanesMax < 1 || lanesMax > LANES_MAX || channels < 1 || channels > 8) {
            throw new IllegalArgumentException(lanesMax + " lanes with " + channels + " channels each");
        }
        this.site = site;
        this.tuner = new Tuner(start, lanesMax);
        this.wanted = new Shape(start == null ? lanesMax : tuner.lanesFirst(), channels);
        this.silentMaxNanos = silentMax.toNanos();
        this.idleMinNanos = idleMin.toNanos();
        Thread.ofVirtual().name("watch lanes to " + site.host()).start(this::watch);
    }

    /** Returns a set of up to {@code lanes} lanes with one channel each. Opens none yet. */
    public static Lanes to(SiteAddress site, int lanes) {
        return new Lanes(site, lanes, 1, null, SILENCE_ALONE_MAX, IDLE_MIN);
    }

    /** Returns a set of up to {@code lanes} lanes with {@code channels} SFTP channels (1 to 8) each. Opens none yet. */
    public static Lanes to(SiteAddress site, int lanes, int channels) {
        return new Lanes(site, lanes, channels, null, SILENCE_ALONE_MAX, IDLE_MIN);
    }

    /**
     * Returns a set with as many lanes and channels as help: chosen first by the round trip, then by measurement. Over
     * a long distance a lane needs several channels, because one window is too small.
     */
    public static Lanes tuned(SiteAddress site) {
        return tuned(site, new TuningStart.Unknown());
    }

    /** Returns such a set that begins with what is known about the link. */
    public static Lanes tuned(SiteAddress site, TuningStart start) {
        return new Lanes(site, LANES_MAX, 1, start, SILENCE_ALONE_MAX, IDLE_MIN);
    }

    /**
     * Returns the decisions about the number of lanes and channels, the oldest first: the latest 200. Empty if the
     * numbers are fixed.
     */
    public List<TuningDecision> decisions() {
        return tuner.decisions();
    }

    /** Has each packet of these lanes checked. Call it before the first lane is used. */
    public Lanes checked(WriteCheck asked) {
        return locked(() -> {
            check = asked;
            return this;
        });
    }

    /** Returns the number of open lanes; after {@link #close}, how many were open then. */
    public int open() {
        return locked(() -> closed ? openAtEnd : open.size());
    }

    /** Returns all lanes that are open now. */
    public List<Lane> all() {
        return locked(() -> List.copyOf(open));
    }

    /** Returns what each open lane has moved, sorted by lane number. */
    public List<LaneTraffic> traffic() {
        return all().stream()
                .map(lane -> new LaneTraffic(lane.number(), lane.bytesMoved()))
                .sorted(Comparator.comparingInt(LaneTraffic::lane))
                .toList();
    }

    /** Returns what the open lanes do at the moment. */
    public LinkLoad load() {
        return all().stream().map(Lane::load).reduce(LinkLoad.NONE, LinkLoad::and);
    }

    /**
     * Returns the permits for open files at the site: 64 for each channel opened so far. Every permit taken must be
     * released.
     */
    public Semaphore files() {
        return permits.files();
    }

    /**
     * Prepares a tar at the site that unpacks what it is fed into this folder.
     *
     * <p>Over a short distance it waits while as many archives as lanes are in use; more would only cost. Over a longer
     * distance the result is empty then, because SFTP has channels of its own. It is always empty over a distance where
     * archives do not {@linkplain TarFeed#pays pay}.
     */
    public Optional<TarFeed> tar(FilePath folder, Patience patience) throws RemoteException, InterruptedException {
        return permits.archive(lane -> TarFeed.into(lane, folder, patience, permits::archiveEnded));
    }

    /** Prepares a tar at the site that packs what it is asked for, under the same conditions. */
    public Optional<TarRead> untar(Patience patience) throws RemoteException, InterruptedException {
        return permits.archive(lane -> new TarRead(lane, patience, permits::archiveEnded));
    }

    Shape wanted() {
        return wanted;
    }

    /** Returns the least busy open lane. Waits while there is none; throws if none can be opened, LOST after {@link #close}. */
    public Lane next() throws RemoteException, InterruptedException {
        lock.lockInterruptibly();
        try {
            while (true) {
                if (closed) {
                    throw new RemoteException(Reason.LOST, "the connections to " + site + " were closed");
                }
                dropLost();
                takeBack();
                Lane best = leastBusy();
                boolean mayOpen = attempts.isPauseOver() && (best == null || handedOut > 0);
                // Two at once if at least two will be wanted: over a long distance a login takes seconds.
                int more = best == null && attempts.underWay() == 0 ? tuner.lanesFirst() : 1;
                for (int i = 0; i < more && mayOpen && open.size() + attempts.underWay() < wanted.lanes(); i++) {
                    openOne();
                }
                if (best != null) {
                    handedOut++;
                    return best;
                }
                attempts.throwIfHopeless();
                var _ = changed.awaitNanos(attempts.waitNanos());
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
        return locked(attempts::trouble);
    }

    private <T> T locked(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
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
            openAtEnd = closed ? openAtEnd : open.size();
            closed = true;
            last = withLeaving().toList();
            open.clear();
            leaving.clear();
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

    private void dropLost() {
        open.stream().filter(lane -> !lane.isOpen()).toList().forEach(lane -> {
            open.remove(lane);
            lane.close();
        });
    }

    /** Gives new work to lanes again that were too many. Requires the lock. */
    private void takeBack() {
        while (open.size() < wanted.lanes() && !leaving.isEmpty()) {
            Lane back = leaving.keySet().iterator().next();
            leaving.remove(back);
            back.narrow(wanted.channels());
            back.widen(wanted.channels());
            open.add(back);
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
        if (!attempts.mayBegin()) {
            return;
        }
        int number = attempts.begin();
        Thread.ofVirtual().name("open lane to " + site.host()).start(() -> {
            Lane lane = null;
            RemoteException failed = null;
            try {
                lane = login().lane(number, wanted.channels());
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
            if (login == null) {
                login = SshLogin.at(site, check);
            }
            return login;
        } finally {
            lock.unlock();
        }
    }

    private void opened(@Nullable Lane lane, @Nullable RemoteException failed) {
        lock.lock();
        try {
            attempts.ended(lane != null, failed);
            if (lane != null && closed) {
                lane.close();
            } else if (lane != null) {
                open.add(lane);
                firstChoice(lane);
                giveUpTooMany();
                open.forEach(each -> each.widen(wanted.channels()));
                permits.allowFor(open.size(), channelsOpen());
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Chooses lanes and channels by the first lane's round trip. Requires the lock. */
    private void firstChoice(Lane lane) {
        tuner.firstChoice(lane.roundTripNanos()).ifPresent(first -> {
            wanted = first;
            openMissing();
        });
    }

    /** Opens as many lanes at once as may be. Requires the lock. */
    private void openMissing() {
        while (open.size() + attempts.underWay() < wanted.lanes() && attempts.mayBegin()) {
            openOne();
        }
    }

    private int channelsOpen() {
        return open.stream().mapToInt(Lane::channels).sum();
    }

    /** Throws PROTOCOL if more folders wait to be listed than memory is meant for. */
    public static void expectFewWaiting(long folders) throws RemoteException {
        if (folders > FOLDERS_WAITING_MAX) {
            throw new RemoteException(
                    Reason.PROTOCOL,
                    "more than %,d folders at the site wait to be listed".formatted(FOLDERS_WAITING_MAX));
        }
    }

    private void watch() {
        try {
            while (!locked(() -> closed)) {
                Thread.sleep(WATCH_EVERY);
                closeSilent();
                tune();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts this thread", e);
        }
    }

    private void closeSilent() {
        List<Lane> lanes = locked(() -> withLeaving().toList());
        boolean othersAnswer = lanes.stream().anyMatch(lane -> lane.silentNanos() < silentMaxNanos / 4);
        long most = othersAnswer ? silentMaxNanos : SILENCE_MAX_NANOS;
        lanes.stream().filter(lane -> lane.hangs(most)).forEach(Lane::close);
    }

    private Stream<Lane> withLeaving() {
        return Stream.concat(open.stream(), leaving.keySet().stream());
    }

    private void tune() {
        lock.lock();
        try {
            permits.allowFor(open.size(), channelsOpen());
            closeLeaving();
            long moved = withLeaving().mapToLong(Lane::bytesMoved).sum();
            boolean opening = attempts.underWay() > 0;
            tuner.look(open, wanted.lanes(), bytesOfClosed + moved, opening, attempts.areRefused())
                    .ifPresent(other -> {
                        if (other.lanes() > open.size()) {
                            attempts.beginAnew();
                        }
                        want(other.lanes(), other.channels());
                    });
            // A large file asks for no further lane.
            if (!closed
                    && !open.isEmpty()
                    && attempts.isPauseOver()
                    && open.stream().allMatch(each -> each.busy() > 0)) {
                openMissing();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Uses so many lanes and channels from now on. What is too many gets no new work. */
    void want(int lanes, int channelsEach) {
        lock.lock();
        try {
            wanted = new Shape(lanes, channelsEach);
            giveUpTooMany();
            takeBack();
            for (Lane lane : open) {
                lane.narrow(channelsEach);
                lane.widen(channelsEach);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Requires the lock. */
    private void giveUpTooMany() {
        while (open.size() > wanted.lanes()) {
            leaving.put(open.removeLast(), System.nanoTime());
        }
    }

    /** Closes what gets no new work and has not been used for a while. Requires the lock. */
    private void closeLeaving() {
        open.forEach(lane -> lane.closeLeaving(idleMinNanos));
        long now = System.nanoTime();
        for (Lane lane : List.copyOf(leaving.keySet())) {
            long idle = Math.min(lane.idleNanos(), now - requireNonNull(leaving.get(lane)));
            if (!lane.isOpen() || idle >= idleMinNanos) {
                leaving.remove(lane);
                bytesOfClosed += lane.bytesMoved();
                lane.close();
            }
        }
    }
}
