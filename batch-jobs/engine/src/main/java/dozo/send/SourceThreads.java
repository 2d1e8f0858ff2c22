package dozo.send;

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

/**
 * Threads that wait for the file system of one source, whoever reads from it. They are the operating system's: a virtual one keeps
 * its carrier while it is in a file system, and there are as many of those as processors (ADR 0047).
 *
 * <p>A source is silent when it was given up and has answered nothing since. Then one file at a time asks it, for a moment and not more
 * often than once a minute; all others fail at once. Any answer ends that, also one to a thread that nobody waits for any more.
 */
final class SourceThreads {

    /** So many for each source: what hangs holds no more of them, and none of another source. */
    static final int AT_ONCE_MAX = 64;

    /** So long is waited for an answer of a silent source. */
    static final Duration PROBE = Duration.ofSeconds(5);

    private static final Duration PROBE_EVERY = Duration.ofMinutes(1);

    private static final Duration WATCH_EVERY = Duration.ofMillis(250);

    private static final long IDLE_SECONDS_MAX = 10;

    private static final ThreadFactory FACTORY =
            Thread.ofPlatform().name("read-source-", 0).daemon().factory();

    /** Guarded by the class, as all files are. */
    private static final Map<Path, SourceThreads> KNOWN = new HashMap<>();

    /** Guarded by the class: whether a thread looks at all files that are open. */
    private static boolean watched;

    // With a queue: a thread that is busy takes what waits, and need not be woken for it.
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            AT_ONCE_MAX, AT_ONCE_MAX, IDLE_SECONDS_MAX, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), FACTORY);

    private final Set<SourceFile> files = new HashSet<>();

    private volatile long answeredNanos = System.nanoTime();
    private volatile boolean silent;

    // Guarded by this.
    private boolean probed;
    private long silentSinceNanos;
    private long probedNanos;

    /** How a file may ask. */
    enum Turn {
        NORMAL,
        PROBE,
        NONE
    }

    private SourceThreads() {
        threads.allowCoreThreadTimeOut(true);
    }

    /** Those of a source, until the file leaves them. */
    static synchronized SourceThreads enter(Path root, SourceFile file) {
        SourceThreads there = KNOWN.get(root);
        if (there == null) {
            KNOWN.values().removeIf(SourceThreads::isForgotten);
            there = new SourceThreads();
            KNOWN.put(root, there);
        }
        there.files.add(file);
        if (!watched) {
            watched = true;
            Thread.ofPlatform().name("watch-sources").daemon().start(SourceThreads::watch);
        }
        return there;
    }

    void leave(SourceFile file) {
        synchronized (SourceThreads.class) {
            files.remove(file);
        }
    }

    /** Has it done by the next thread that is free. */
    void run(Runnable work) {
        threads.execute(work);
    }

    /** Whether the source was given up, and has answered nothing since. */
    boolean isSilent() {
        return silent;
    }

    /** Whether a file may ask. Waits while another one asks a silent source. */
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

    /** Notes that whoever asked a silent source has gone, with an answer or without. */
    synchronized void probed() {
        probed = false;
        probedNanos = System.nanoTime();
        notifyAll();
    }

    /** Notes that the file system has answered something, and if it was an error. */
    void answered() {
        answeredNanos = System.nanoTime();
        if (silent) {
            synchronized (this) {
                silent = false;
                notifyAll();
            }
        }
    }

    /** When the source has answered something last, whatever it was. */
    long answeredNanos() {
        return answeredNanos;
    }

    /**
     * Notes that a file that has been without an answer since then, for as long as the limit, is given up. The source is silent when it has answered
     * nothing else either for the second half of that.
     *
     * @return how long the source has been silent; empty: it answers others, and it is only this file
     */
    synchronized Optional<Duration> giveUp(long sinceNanos, Duration limit) {
        long now = System.nanoTime();
        if (now - answeredNanos < limit.toNanos() / 2) {
            return Optional.empty();
        }
        if (!silent) {
            silent = true;
            silentSinceNanos = sinceNanos;
            // The next file may ask at once: perhaps nobody but this one has asked.
            probedNanos = now - PROBE_EVERY.toNanos();
        }
        return Optional.of(silence());
    }

    /** How long the source has been silent. */
    synchronized Duration silence() {
        return Duration.ofNanos(System.nanoTime() - silentSinceNanos);
    }

    private boolean isForgotten() {
        return files.isEmpty() && threads.getPoolSize() == 0;
    }

    /** Gives up what waits for too long. It is not timed by those who wait: that costs each of them more than an answer takes. */
    private static void watch() {
        try {
            while (true) {
                Thread.sleep(WATCH_EVERY);
                List<SourceFile> open = watchedFiles();
                if (open.isEmpty()) {
                    return;
                }
                open.forEach(file -> file.giveUpStuck(System.nanoTime()));
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        }
    }

    private static synchronized List<SourceFile> watchedFiles() {
        List<SourceFile> open =
                KNOWN.values().stream().flatMap(each -> each.files.stream()).toList();
        watched = !open.isEmpty();
        return open;
    }
}
