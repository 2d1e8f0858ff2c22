package dozo.copy;

import dozo.copy.Destination.Refused;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Fetches {@link Units} of files. Folders are created at once, before anything in them is found. Folders and links are
 * remembered to the end.
 */
final class FetchUnits implements AutoCloseable {

    /** Units in progress: some are fetched, some are verified. */
    private static final int UNDER_WAY_MAX = 12;

    private static final int LINKS_AT_ONCE = 1_000;

    private final Fetch fetch;
    private final LocalTree local;
    private final Fetch.Outcomes outcomes;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private final List<Found> folders = new ArrayList<>();
    private final List<Found> links = new ArrayList<>();
    private final Units<Found> units;

    FetchUnits(Fetch fetch, LocalTree local, Fetch.Outcomes outcomes) {
        this.fetch = fetch;
        this.local = local;
        this.outcomes = outcomes;
        this.units = new Units<>(UNDER_WAY_MAX, fetch::files);
    }

    /** Adds what was found; may be called by several threads at once. */
    void add(Found found) throws IOException, InterruptedException {
        lock.lockInterruptibly();
        try {
            switch (found.facts().kind()) {
                case DIRECTORY -> addFolder(found);
                case LINK -> links.add(found);
                case FILE -> units.add(found, found.facts().sizeBytes());
                case OTHER -> throw new IllegalArgumentException("cannot be copied: " + found.path());
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits until everything added is done; then creates the links, and sets modes and times of the folders. */
    void end() throws IOException, InterruptedException {
        units.end();
        for (int i = 0; i < links.size(); i += LINKS_AT_ONCE) {
            fetch.links(links.subList(i, Math.min(links.size(), i + LINKS_AT_ONCE)));
        }
        local.incoming().end();
        folders.sort(Comparator.comparing(Found::local).reversed());
        for (Found folder : folders) {
            finish(folder);
        }
    }

    @Override
    public void close() {
        units.close();
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

    private void finish(Found folder) throws IOException {
        try {
            local.finishFolder(folder);
            outcomes.verified(folder);
        } catch (Refused e) {
            outcomes.failed(folder, Problem.DESTINATION_REFUSED, String.valueOf(e.getMessage()));
        }
    }
}
