package dozo.send;

import static java.util.Objects.requireNonNullElse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that wait for the file system of one source, shared by all its readers. They are platform threads: a virtual
 * thread keeps its carrier during file system calls, and there are only as many carriers as processors (ADR 0047).
 *
 * <p>A source is silent after it was given up and until it answers again. Meanwhile one file at a time may try it,
 * briefly and at most once a minute; all others fail at once. Any answer ends this, including one that nobody waits for
 * any more.
 */
final class SourceThreads {

    /** The limit for each source: requests that hang occupy no more threads, and none of another source. */
    static final int AT_ONCE_MAX = 64;

    /** How long to wait for an answer of a silent source. */
    static final Duration PROBE = Duration.ofSeconds(5);

    private static final Duration PROBE_EVERY = Duration.ofMinutes(1);

    private static final Duration WATCH_EVERY = Duration.ofMillis(250);

    private static final long IDLE_SECONDS_MAX = 10;

    /** A source that answers in less time is fast: handing requests over would cost more than waiting for them. */
    private static final long FAST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** A single answer counts as no slower than this: it may be late only because the processors are busy. */
    private static final long SLOW_NANOS = 4 * FAST_NANOS;

    /** The latest answer has a weight of one divided by this in the average. */
    private static final int AVERAGED = 16;

    private static final ThreadFactory FACTORY =
            Thread.ofPlatform().name("read-source-", 0).daemon().factory();

    /** Guarded by the class, as are all files. */
    private static final Map<Path, SourceThreads> KNOWN = new HashMap<>();

    /** Guarded by the class: whether a thread watches all open files. */
    private static boolean watched;

    // With a queue: a busy thread takes the next request without having to be woken.
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            AT_ONCE_MAX, AT_ONCE_MAX, IDLE_SECONDS_MAX, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), FACTORY);

    private final Set<SourceRequests> files = new HashSet<>();

    /** The recent answers' average time, also of {@linkplain #tookNear sources nearby}. They are slow until some answers were fast. */
    private final AtomicLong tookNanos;

    private volatile long answeredNanos = System.nanoTime();
    private volatile boolean silent;

    /** The file system, once it is known. */
    private volatile String place = "";

    // Guarded by this.
    private boolean probed;
    private long silentSinceNanos;
    private long probedNanos;

    /** How a file may send requests. */
    enum Turn {
        NORMAL,
        PROBE,
        NONE
    }

    private SourceThreads(AtomicLong tookNanos) {
        this.tookNanos = tookNanos;
        threads.allowCoreThreadTimeOut(true);
    }

    /** Returns the answers' average time. Sources below the same grandparent folder share it, because one file server usually has all. */
    private static AtomicLong tookNear(Path root) {
        Path parent = requireNonNullElse(root.getParent(), root);
        Path near = requireNonNullElse(parent.getParent(), parent);
        return KNOWN.entrySet().stream()
                .filter(each -> near.getNameCount() > 0 && each.getKey().startsWith(near))
                .map(each -> each.getValue().tookNanos)
                .findAny()
                .orElseGet(() -> new AtomicLong(SLOW_NANOS));
    }

    /** Returns the threads of a source; the file uses them until it leaves. */
    static synchronized SourceThreads enter(Path root, SourceRequests file) {
        SourceThreads there = KNOWN.get(root);
        if (there == null) {
            KNOWN.values().removeIf(SourceThreads::isForgotten);
            there = new SourceThreads(tookNear(root));
            KNOWN.put(root, there);
        }
        there.files.add(file);
        if (!watched) {
            watched = true;
            Thread.ofPlatform().name("watch-sources").daemon().start(SourceThreads::watch);
        }
        return there;
    }

    /** Returns whether a source, or those nearby, have answered so fast that its reader may send the requests on its own thread. */
    static synchronized boolean isFast(Path root) {
        SourceThreads there = KNOWN.get(root);
        AtomicLong took = there == null ? tookNear(root) : there.tookNanos;
        return (there == null || !there.silent) && took.get() < FAST_NANOS;
    }

    void leave(SourceRequests file) {
        synchronized (SourceThreads.class) {
            files.remove(file);
        }
    }

    /** Runs the work on the next free thread. */
    void run(Runnable work) {
        threads.execute(work);
    }

    /** Returns which file system the source is on; empty: not known yet. */
    String place() {
        return place;
    }

    /** Finds out which file system the source is on, unless it is known. NB: this may hang. */
    void locate(Path root) {
        if (place.isEmpty()) {
            try {
                place = Files.getFileStore(root).toString();
            } catch (IOException notThere) {
                place = root.toString();
            }
        }
    }

    /** Returns whether the source was given up and has not answered since. */
    boolean isSilent() {
        return silent;
    }

    /** Returns whether a file may send a request. Waits while another file tries a silent source. */
    Turn turn() throws InterruptedException {
        return silent ? turnOfSilent() : Turn.NORMAL;
    }

    private synchronized Turn turnOfSilent() throws InterruptedException {
        while (silent && probed) {
            wait();
        }
        if (!silent) {
            return Turn.NORMAL;
        }
        if (System.nanoTime() - probedNanos < PROBE_EVERY.toNanos()) {
            return Turn.NONE;
        }
        probed = true;
        return Turn.PROBE;
    }

    /** Records that the try of a silent source is over, with an answer or without. */
    synchronized void probed() {
        probed = false;
        probedNanos = System.nanoTime();
        notifyAll();
    }

    /** Records an answer of the file system, which may be an error, to a request made at this time. */
    void answered(long askedNanos) {
        long now = System.nanoTime();
        answeredNanos = now;
        long took = Math.min(now - askedNanos, SLOW_NANOS);
        var _ = tookNanos.accumulateAndGet(took, (average, one) -> average + (one - average) / AVERAGED);
        if (silent) {
            synchronized (this) {
                silent = false;
                notifyAll();
            }
        }
    }

    /** Records that a request has had no answer for some time. */
    void slow() {
        tookNanos.set(SLOW_NANOS);
    }

    /** Returns when the source last answered anything. */
    long answeredNanos() {
        return answeredNanos;
    }

    /**
     * Records that a file is given up because it had no answer since {@code sinceNanos}, for as long as the limit. The
     * source is silent if it has answered no other request either in the second half of that time.
     *
     * @return how long the source has been silent; empty if it answers other requests
     */
    synchronized Optional<Duration> giveUp(long sinceNanos, Duration limit) {
        long now = System.nanoTime();
        if (now - answeredNanos < limit.toNanos() / 2) {
            return Optional.empty();
        }
        if (!silent) {
            silent = true;
            silentSinceNanos = sinceNanos;
            // The next file may try at once: perhaps only this file has sent requests.
            probedNanos = now - PROBE_EVERY.toNanos();
        }
        return Optional.of(silence());
    }

    /** Returns how long the source has been silent. */
    synchronized Duration silence() {
        return Duration.ofNanos(System.nanoTime() - silentSinceNanos);
    }

    private boolean isForgotten() {
        return files.isEmpty() && threads.getPoolSize() == 0;
    }

    /** Gives up requests that take too long. Callers do not use timeouts: each would cost more than an answer takes. */
    private static void watch() {
        try {
            while (true) {
                Thread.sleep(WATCH_EVERY);
                List<SourceRequests> open = watchedFiles();
                if (open.isEmpty()) {
                    return;
                }
                open.forEach(SourceThreads::giveUpStuck);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        }
    }

    /** NB: a defect of one file must not end the watch of all others. */
    private static void giveUpStuck(SourceRequests file) {
        try {
            file.giveUpStuck(System.nanoTime());
        } catch (RuntimeException defect) {
            Thread self = Thread.currentThread();
            self.getUncaughtExceptionHandler().uncaughtException(self, defect);
        }
    }

    private static synchronized List<SourceRequests> watchedFiles() {
        List<SourceRequests> open =
                KNOWN.values().stream().flatMap(each -> each.files.stream()).toList();
        watched = !open.isEmpty();
        return open;
    }
}
