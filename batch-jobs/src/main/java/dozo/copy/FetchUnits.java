package dozo.copy;

import dozo.copy.LocalTree.Refused;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Cuts files into units as they are found, as {@link Units} does for the way there, and fetches several at a time. Folders are
 * made at once, before anything that is in them is found. Whoever finds files faster than they can be fetched waits.
 * Folders and links are remembered to the end.
 */
final class FetchUnits implements AutoCloseable {

    /** Units under way: some are fetched, some are proven. */
    private static final int UNDER_WAY_MAX = 12;

    private static final int LINKS_AT_ONCE = 1_000;

    private final Fetch fetch;
    private final LocalTree local;
    private final Fetch.Outcomes outcomes;
    private final Semaphore room = new Semaphore(UNDER_WAY_MAX);
    private final Crew crew = new Crew();
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private final List<Found> folders = new ArrayList<>();
    private final List<Found> links = new ArrayList<>();
    private List<Found> bundle = new ArrayList<>();
    private long bundleBytes;

    FetchUnits(Fetch fetch, LocalTree local, Fetch.Outcomes outcomes) {
        this.fetch = fetch;
        this.local = local;
        this.outcomes = outcomes;
    }

    /** Takes what was found; may be called by several threads at once. */
    void add(Found found) throws IOException, InterruptedException {
        lock.lockInterruptibly();
        try {
            switch (found.facts().kind()) {
                case DIRECTORY -> addFolder(found);
                case LINK -> links.add(found);
                case FILE -> addFile(found);
                case OTHER -> throw new IllegalArgumentException("cannot be copied: " + found.path());
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits until all that was added is done; then makes the links, and gives the folders their modes and times. */
    void end() throws IOException, InterruptedException {
        flush();
        crew.join();
        for (int i = 0; i < links.size(); i += LINKS_AT_ONCE) {
            fetch.links(links.subList(i, Math.min(links.size(), i + LINKS_AT_ONCE)));
        }
        local.end();
        folders.sort(Comparator.comparing(Found::local).reversed());
        for (Found folder : folders) {
            finish(folder);
        }
    }

    @Override
    public void close() {
        crew.close();
    }

    private void addFolder(Found folder) throws IOException {
        try {
            FilePath name = folder.local();
            if (!name.isRoot()) {
                local.makeFolder(name);
            }
            folders.add(folder);
        } catch (Refused e) {
            outcomes.failed(folder, Problem.DESTINATION_REFUSED, String.valueOf(e.getMessage()));
        }
    }

    private void addFile(Found file) throws IOException, InterruptedException {
        long size = file.facts().sizeBytes();
        if (size > Units.LARGE_BYTES) {
            start(List.of(file));
            return;
        }
        if (bundle.size() == Units.BUNDLE_ENTRIES_MAX
                || (!bundle.isEmpty() && bundleBytes + size > Units.BUNDLE_BYTES_MAX)) {
            flush();
        }
        bundle.add(file);
        bundleBytes += size;
    }

    private void flush() throws IOException, InterruptedException {
        if (!bundle.isEmpty()) {
            start(bundle);
            bundle = new ArrayList<>();
            bundleBytes = 0;
        }
    }

    private void start(List<Found> unit) throws IOException, InterruptedException {
        room.acquire();
        crew.start(() -> {
            try {
                fetch.files(unit);
            } finally {
                room.release();
            }
        });
    }

    private void finish(Found folder) throws IOException {
        try {
            local.finishFolder(folder);
            outcomes.verified(folder);
        } catch (Refused e) {
            outcomes.failed(folder, Problem.DESTINATION_REFUSED, String.valueOf(e.getMessage()));
        }
    }
}
