package dozo.send;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.source.Listings;
import dozo.source.Listings.Listing;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Walks a tree at a site folder by folder, many folders at once, because over a long distance each takes several round
 * trips. Links are not followed; their texts are read. Times are whole seconds, hard links are unknown.
 *
 * <p>Memory: the folders still to list, and of each folder under way some thousand names: a lane that is lost later
 * fails the walk, because what was reported cannot be taken back.
 */
final class SiteWalk {

    private static final int FOLDERS_AT_ONCE = 32;
    private static final int NAMES_KEPT_MAX = 4_096;
    private static final int TRIES = 3;

    private final Lanes lanes;
    private final Workers workers;
    private final FilePath top;
    private final Semaphore atOnce = new Semaphore(FOLDERS_AT_ONCE);
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

    private final Deque<FilePath> waiting = new ConcurrentLinkedDeque<>();

    /** Waiting or being listed. */
    private final AtomicLong foldersLeft = new AtomicLong();

    private final CountDownLatch listed = new CountDownLatch(1);

    private record Name(FilePath path, RemoteFacts facts) {}

    SiteWalk(Lanes lanes, Workers workers, FilePath top) {
        this.lanes = lanes;
        this.workers = workers;
        this.top = top;
    }

    /** Reports everything below the folder, whose own path is the root. */
    void into(Listings listings) throws IOException, InterruptedException {
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        try {
            submit(threads, top, listings);
            listed.await();
        } finally {
            threads.shutdownNow();
            // Nothing may be reported after the return.
            threads.close();
        }
        switch (failure.get()) {
            case null -> {}
            case IOException site -> throw site;
            case RuntimeException defect -> throw defect;
            case Exception other -> throw new IllegalStateException(other);
        }
    }

    private void submit(ExecutorService threads, FilePath folder, Listings listings) throws RemoteException {
        Lanes.expectFewWaiting(foldersLeft.incrementAndGet());
        waiting.push(folder);
        if (atOnce.tryAcquire()) {
            threads.execute(() -> work(threads, listings));
        }
    }

    /** Lists waiting folders until there are none. */
    private void work(ExecutorService threads, Listings listings) {
        do {
            for (FilePath next = waiting.poll(); next != null && failure.get() == null; next = waiting.poll()) {
                try {
                    list(threads, next, listings);
                } catch (InterruptedException e) {
                    failure.compareAndSet(null, e);
                    Thread.currentThread().interrupt();
                } catch (Throwable e) {
                    // Also an Error: the caller waits for every folder.
                    failure.compareAndSet(null, e instanceof Exception failed ? failed : new IllegalStateException(e));
                }
                if (foldersLeft.decrementAndGet() == 0 || failure.get() != null) {
                    listed.countDown();
                }
            }
            atOnce.release();
        } while (failure.get() == null && !waiting.isEmpty() && atOnce.tryAcquire());
    }

    private void list(ExecutorService threads, FilePath folder, Listings listings)
            throws IOException, InterruptedException {
        for (int i = 1; ; i++) {
            Names names = new Names(threads, folder, listings);
            try {
                lanes.next().sftp().list(folder, names::take);
                names.pass();
                names.end();
                return;
            } catch (RemoteException e) {
                if (!e.retryable()) {
                    unreadable(folder, listings, e);
                    return;
                }
                if (i == TRIES || names.listing != null) {
                    throw e;
                }
            }
        }
    }

    private void unreadable(FilePath folder, Listings listings, RemoteException e)
            throws IOException, InterruptedException {
        switch (e.reason()) {
            case NO_SUCH_FILE, PERMISSION_DENIED, REFUSED, UNSUPPORTED, EXISTS ->
                listings.problem(
                        below(folder),
                        e.reason() == Reason.NO_SUCH_FILE ? Problem.VANISHED : Problem.UNREADABLE,
                        "folder cannot be read at the site: " + e.getMessage());
            case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, STUCK, READ_ONLY, FULL, PROTOCOL -> throw e;
        }
    }

    private FilePath below(FilePath path) {
        byte[] all = path.bytes();
        return path.equals(top)
                ? FilePath.ROOT
                : FilePath.of(Arrays.copyOfRange(all, top.bytes().length + 1, all.length));
    }

    /** The names of one listing. */
    private final class Names {

        private final ExecutorService threads;
        private final FilePath folder;
        private final Listings listings;
        private final List<Name> kept = new ArrayList<>();
        private @Nullable Listing listing;

        Names(ExecutorService threads, FilePath folder, Listings listings) {
            this.threads = threads;
            this.folder = folder;
            this.listings = listings;
        }

        void take(FilePath path, RemoteFacts facts) throws IOException, InterruptedException {
            kept.add(new Name(path, facts));
            if (kept.size() == NAMES_KEPT_MAX) {
                pass();
            }
        }

        void pass() throws IOException, InterruptedException {
            Map<FilePath, byte[]> targets = workers.each(
                    kept.stream()
                            .filter(name -> name.facts.kind() == Kind.LINK)
                            .map(Name::path)
                            .toList(),
                    link -> lanes.over(lane -> lane.sftp().readlink(link)));
            Listing into = listing == null ? listings.folder(below(folder)) : listing;
            listing = into;
            for (Name name : kept) {
                if (name.facts.kind() == Kind.OTHER) {
                    listings.problem(below(name.path), Problem.SPECIAL, "socket, device or fifo at the site");
                    continue;
                }
                into.entry(name.path.name(), facts(name.facts, targets.get(name.path)));
                if (name.facts.kind() == Kind.DIRECTORY) {
                    submit(threads, name.path, listings);
                }
            }
            kept.clear();
        }

        void end() throws IOException, InterruptedException {
            if (listing != null) {
                listing.end();
            }
        }
    }

    private static Facts facts(RemoteFacts there, byte @Nullable [] target) {
        EntryKind kind = switch (there.kind()) {
            case FILE -> EntryKind.FILE;
            case DIRECTORY -> EntryKind.DIRECTORY;
            case LINK -> EntryKind.LINK;
            case OTHER -> throw new IllegalArgumentException("no entry: " + there);
        };
        return Facts.told(
                kind,
                there.sizeBytes(),
                TimeUnit.SECONDS.toNanos(there.modifiedSeconds()),
                Facts.UNKNOWN_NANOS,
                there.mode(),
                1,
                0,
                target,
                null);
    }
}
