package dozo.send;

import dozo.file.FilePath;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import java.io.IOException;
import java.util.Deque;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Lists everything below a folder at a site, many folders at once, because over a long distance each takes several
 * round trips. The number of names not yet received is limited; only the list of folders still to read grows. Names
 * from a lane that is lost are listed again.
 */
final class SiteListing {

    private static final int FOLDERS_AT_ONCE = 32;
    private static final int NAMES_ON_THE_WAY = 4_096;
    private static final long LOOK_UP_MILLIS = 50;
    private static final int TRIES = 3;

    private final Lanes lanes;
    private final FilePath top;
    private final BlockingQueue<Name> names = new ArrayBlockingQueue<>(NAMES_ON_THE_WAY);
    private final Deque<FilePath> waiting = new ConcurrentLinkedDeque<>();

    /** Waiting or being listed. */
    private final AtomicLong foldersLeft = new AtomicLong();

    private final Semaphore atOnce = new Semaphore(FOLDERS_AT_ONCE);
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

    private record Name(FilePath path, RemoteFacts facts) {}

    SiteListing(Lanes lanes, FilePath top) {
        this.lanes = lanes;
        this.top = top;
    }

    /** Lists all names, in no particular order, some perhaps twice. */
    void into(SiteReader.Listing listing) throws RemoteException, InterruptedException {
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        try {
            submit(threads, top);
            while (true) {
                boolean over = foldersLeft.get() == 0;
                Name name = names.poll(LOOK_UP_MILLIS, TimeUnit.MILLISECONDS);
                throwFailure();
                if (name != null) {
                    listing.take(name.path, name.facts);
                } else if (over) {
                    return;
                }
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private void throwFailure() throws RemoteException {
        switch (failure.get()) {
            case null -> {}
            case RemoteException site -> throw site;
            case Exception bug -> throw new IllegalStateException(bug);
        }
    }

    private void submit(ExecutorService threads, FilePath folder) throws RemoteException {
        Lanes.expectFewWaiting(foldersLeft.incrementAndGet());
        waiting.push(folder);
        if (atOnce.tryAcquire()) {
            threads.execute(() -> work(threads));
        }
    }

    /** Lists waiting folders until there are none. */
    private void work(ExecutorService threads) {
        do {
            for (FilePath next = waiting.poll(); next != null && failure.get() == null; next = waiting.poll()) {
                try {
                    list(threads, next);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                } catch (Throwable e) {
                    // Also an Error: the caller waits for every folder.
                    failure.compareAndSet(null, e instanceof Exception failed ? failed : new IllegalStateException(e));
                }
                foldersLeft.decrementAndGet();
            }
            atOnce.release();
        } while (failure.get() == null && !waiting.isEmpty() && atOnce.tryAcquire());
    }

    private void list(ExecutorService threads, FilePath folder) throws IOException, InterruptedException {
        for (int i = 1; ; i++) {
            try {
                lanes.next().sftp().list(folder, (path, facts) -> {
                    names.put(new Name(path, facts));
                    if (facts.kind() == Kind.DIRECTORY) {
                        submit(threads, path);
                    }
                });
                return;
            } catch (RemoteException e) {
                if (e.reason() == Reason.NO_SUCH_FILE) {
                    return;
                }
                if (!e.retryable() || i == TRIES) {
                    throw e;
                }
            }
        }
    }
}
