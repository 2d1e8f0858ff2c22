package dozo.copy;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.Problem;
import dozo.remote.RemoteException;
import dozo.source.DirectoryTree;
import dozo.transfer.Outcome;
import dozo.transfer.Outcome.Failed;
import dozo.transfer.Outcome.Verified;
import dozo.transfer.Route;
import dozo.transfer.Sender;
import dozo.transfer.Unit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Cuts entries into transfer units as they come and sends several units at a time, so that while one is proven the next ones
 * are on their way. Whoever brings entries faster than they can be sent waits.
 */
final class Units implements AutoCloseable {

    static final long BUNDLE_BYTES_MAX = 32 << 20;
    static final int BUNDLE_ENTRIES_MAX = 1_000;
    static final long LARGE_BYTES = 64 << 20;

    /** Units under way: one is sent, some are proven, some wait for the site's disk. */
    private static final int UNDER_WAY_MAX = 12;

    private final Sender sender;
    private final Route route;
    private final Consumer<Outcome> outcomes;
    private final Semaphore room = new Semaphore(UNDER_WAY_MAX);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    private final List<Entry> folders = Collections.synchronizedList(new ArrayList<>());
    private List<Entry> bundle = new ArrayList<>();
    private long bundleBytes;

    Units(Sender sender, Route route, Consumer<Outcome> outcomes) {
        this.sender = sender;
        this.route = route;
        this.outcomes = outcomes;
    }

    void add(Entry entry) throws IOException, InterruptedException {
        long size = entry.facts().sizeBytes();
        if (size > LARGE_BYTES) {
            start(new Unit.Large(entry));
            return;
        }
        if (bundle.size() == BUNDLE_ENTRIES_MAX || (!bundle.isEmpty() && bundleBytes + size > BUNDLE_BYTES_MAX)) {
            flush();
        }
        bundle.add(entry);
        bundleBytes += size;
    }

    /** Waits until all that was added is done. */
    void end() throws IOException, InterruptedException {
        flush();
        room.acquire(UNDER_WAY_MAX);
        throwFailure();
    }

    /** Gives the folders their modes and times, when nothing changes in them any more: only then are they verified. */
    void settleFolders() throws RemoteException, InterruptedException {
        folders.sort(Comparator.comparing(Entry::path).reversed());
        List<Failed> failed = sender.setFolderFacts(route, folders);
        failed.forEach(outcomes);
        Set<Entry> without = failed.stream().map(Failed::entry).collect(Collectors.toSet());
        for (Entry folder : folders) {
            if (!without.contains(folder)) {
                outcomes.accept(new Verified(folder, Digest.OF_NOTHING));
            }
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }

    private void flush() throws IOException, InterruptedException {
        if (!bundle.isEmpty()) {
            start(new Unit.Bundle(bundle));
            bundle = new ArrayList<>();
            bundleBytes = 0;
        }
    }

    private void start(Unit unit) throws IOException, InterruptedException {
        room.acquire();
        throwFailure();
        threads.execute(() -> {
            try {
                send(unit);
            } catch (RemoteException | InterruptedException | RuntimeException e) {
                failure.compareAndSet(null, e);
            } finally {
                room.release();
            }
        });
    }

    private void send(Unit unit) throws RemoteException, InterruptedException {
        List<Entry> changed = new ArrayList<>();
        for (Outcome outcome : sender.send(route, unit)) {
            if (outcome instanceof Failed failed && failed.problem() == Problem.CHANGED) {
                changed.add(failed.entry());
            } else if (outcome instanceof Verified && outcome.entry().facts().kind() == EntryKind.DIRECTORY) {
                folders.add(outcome.entry());
            } else {
                outcomes.accept(outcome);
            }
        }
        for (Entry entry : changed) {
            outcomes.accept(sendAgain(entry));
        }
    }

    /** A file that changed since it was found is sent as it is now, once; if it changes again it is a finding. */
    private Outcome sendAgain(Entry before) throws RemoteException, InterruptedException {
        Facts facts;
        try {
            facts = DirectoryTree.facts(before.path().under(route.source()));
        } catch (IOException e) {
            return new Failed(before, Problem.VANISHED, before.path() + ": gone since it was found");
        }
        if (facts.kind() == EntryKind.DIRECTORY) {
            return new Failed(
                    before, Problem.CHANGED, before.path() + ": a folder now; run again to have what is in it");
        }
        Entry now = new Entry(before.number(), before.path(), facts);
        boolean large = facts.sizeBytes() > LARGE_BYTES;
        return sender.send(route, large ? new Unit.Large(now) : new Unit.Bundle(List.of(now)))
                .getFirst();
    }

    private void throwFailure() throws IOException, InterruptedException {
        switch (failure.get()) {
            case null -> {}
            case RemoteException site ->
                throw new RemoteException(site.reason(), String.valueOf(site.getMessage()), site);
            case InterruptedException stopped -> throw stopped;
            case Exception bug -> throw new IllegalStateException(bug);
        }
    }
}
