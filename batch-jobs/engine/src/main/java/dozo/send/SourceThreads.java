package dozo.send;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that wait for the file system of one source, whoever reads from it. They are the operating system's: a virtual one keeps
 * its carrier while it is in a file system, and there are as many of those as processors (ADR 0047).
 */
final class SourceThreads {

    /** So many for each source: what hangs holds no more of them, and none of another source. */
    static final int AT_ONCE_MAX = 64;

    private static final long IDLE_SECONDS_MAX = 10;

    private static final ThreadFactory FACTORY =
            Thread.ofPlatform().name("read-source-", 0).daemon().factory();

    /** Guarded by the class, as all users are. */
    private static final Map<Path, SourceThreads> KNOWN = new HashMap<>();

    // With a queue: a thread that is busy takes what waits, and need not be woken for it.
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            AT_ONCE_MAX, AT_ONCE_MAX, IDLE_SECONDS_MAX, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), FACTORY);

    private int users;

    private SourceThreads() {
        threads.allowCoreThreadTimeOut(true);
    }

    /** Those of a source, until they are left. */
    static synchronized SourceThreads enter(Path root) {
        SourceThreads there = KNOWN.get(root);
        if (there == null) {
            KNOWN.values().removeIf(SourceThreads::isForgotten);
            there = new SourceThreads();
            KNOWN.put(root, there);
        }
        there.users++;
        return there;
    }

    void leave() {
        synchronized (SourceThreads.class) {
            users--;
        }
    }

    /** Has it done by the next thread that is free. */
    void run(Runnable work) {
        threads.execute(work);
    }

    private boolean isForgotten() {
        return users == 0 && threads.getPoolSize() == 0;
    }
}
