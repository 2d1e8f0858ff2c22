package dozo.send;

import dozo.file.FilePath;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Folders of a site to list, many at once, because over a long distance each takes several round trips. Whoever lists a
 * folder adds the folders in it. The first failure ends the work and is thrown to whoever waits.
 *
 * <p>Memory: the folders still to list, and of each folder under way some thousand names.
 */
public final class FolderQueue<F> implements AutoCloseable {

    static final int TRIES = 3;

    /** How many names are kept until a listing is complete, so that it can be repeated if a lane is lost. */
    private static final int NAMES_KEPT_MAX = 4_096;

    private final Work<F> work;
    private final Semaphore atOnce;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Deque<F> waiting = new ConcurrentLinkedDeque<>();

    /** Waiting or being listed. */
    private final AtomicLong left = new AtomicLong();

    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final CountDownLatch over = new CountDownLatch(1);

    /** Lists one folder. */
    public interface Work<F> {
        void list(F folder) throws IOException, InterruptedException;
    }

    public record Name(FilePath path, RemoteFacts facts) {}

    /** Receives the names of one folder, some thousand at a time; an empty list of an empty folder. */
    public interface Names {
        void pass(List<Name> names) throws IOException, InterruptedException;

        /** Returns whether something was passed on that cannot be taken back. */
        boolean passed();
    }

    public FolderQueue(int foldersAtOnce, Work<F> work) {
        this.atOnce = new Semaphore(foldersAtOnce);
        this.work = work;
    }

    /** Adds a folder. Throws PROTOCOL if more wait than memory is meant for. */
    public void add(F folder) throws RemoteException {
        Lanes.expectFewWaiting(left.incrementAndGet());
        waiting.push(folder);
        if (atOnce.tryAcquire()) {
            threads.execute(this::work);
        }
    }

    /** Waits until everything added is listed. */
    public void await() throws IOException, InterruptedException {
        if (!isOver()) {
            over.await();
        }
        throwFailure();
    }

    /** Returns whether everything added is listed. */
    boolean isOver() {
        return left.get() == 0;
    }

    void throwFailure() throws IOException, InterruptedException {
        switch (failure.get()) {
            case null -> {}
            case IOException site -> throw site;
            case InterruptedException stopped -> throw stopped;
            case RuntimeException defect -> throw defect;
            case Error error -> throw error;
            case Throwable other -> throw new IllegalStateException(other);
        }
    }

    /** Stops the work, and waits for its end: nothing is reported afterwards. */
    @Override
    public void close() {
        threads.shutdownNow();
        threads.close();
    }

    /** Lists a folder. If a lane is lost before anything was passed on, lists it again, a few times. */
    public static void list(Lanes lanes, FilePath folder, Names names) throws IOException, InterruptedException {
        for (int i = 1; ; i++) {
            List<Name> kept = new ArrayList<>();
            try {
                lanes.next().sftp().list(folder, (path, facts) -> {
                    kept.add(new Name(path, facts));
                    if (kept.size() == NAMES_KEPT_MAX) {
                        names.pass(kept);
                        kept.clear();
                    }
                });
                names.pass(kept);
                return;
            } catch (RemoteException e) {
                if (!e.retryable() || i == TRIES || names.passed()) {
                    throw e;
                }
            }
        }
    }

    /** Lists waiting folders until there are none. */
    private void work() {
        do {
            for (F next = waiting.poll(); next != null && failure.get() == null; next = waiting.poll()) {
                try {
                    work.list(next);
                } catch (Throwable e) {
                    // Also an Error: somebody waits for every folder.
                    failure.compareAndSet(null, e);
                }
                if (left.decrementAndGet() == 0 || failure.get() != null) {
                    over.countDown();
                }
            }
            atOnce.release();
        } while (failure.get() == null && !waiting.isEmpty() && atOnce.tryAcquire());
    }
}
