package dozo.source;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Walks a folder of this machine with several threads, and reports what it contains. The folder is only read. Links are
 * reported and never followed, not even those that somebody creates meanwhile, nor on the way to the root: resolve
 * those before. Names are raw bytes.
 *
 * <p>Memory grows with the names of the folders beside the way down ({@link Waiting}), not with files. Linux on x86-64
 * and aarch64 only, because it uses system calls (ADR 0017).
 */
public final class Crawl {

    /** More threads might help with a distant file server; not tested. */
    private static final int WORKERS_MAX = 16;

    private final Path root;
    private final int workers;

    /** Creates a crawl with the best number of threads for a local file system: two per processor, at most 16. */
    public Crawl(Path root) {
        this(root, Math.clamp(2L * Runtime.getRuntime().availableProcessors(), 2, WORKERS_MAX));
    }

    /** Creates a crawl with at most this many threads, including the caller's. Each has one folder open at a time. */
    public Crawl(Path root, int workers) {
        if (workers < 1) {
            throw new IllegalArgumentException("a crawl by " + workers + " threads");
        }
        this.root = root;
        this.workers = workers;
    }

    /**
     * Walks the whole tree. The root itself is reported as a folder, not as an entry. A folder that vanishes before it
     * can be opened is reported as an entry and not as a folder; one that cannot be read completely is a problem.
     *
     * @throws IOException what the listings throw; or if the root cannot be read, or the machine cannot open another
     *     folder
     * @throws InterruptedException if this thread is interrupted. As with any failure, all other threads have ended and
     *     nothing is open then
     */
    public void into(Listings listings) throws IOException, InterruptedException {
        if (!Kernel.isHere()) {
            throw new IOException("walking a source requires Linux on x86-64 or aarch64");
        }
        try (Kernel kernel = new Kernel()) {
            int folder = FolderOpener.open(kernel, FilePath.between(OpenFile.TOP, root), true);
            if (folder < 0) {
                throw Errno.failure(-folder, root.toString());
            }
            try {
                walk(folder, listings);
            } finally {
                kernel.close(folder);
            }
        }
    }

    /**
     * Walks with this thread; others help as soon as folders wait. For a small tree, starting threads would be most of
     * the work.
     */
    private void walk(int rootFolder, Listings listings) throws IOException, InterruptedException {
        // Platform threads: a virtual thread has no advantage in a system call.
        try (Crew crew = new Crew(rootFolder, listings)) {
            crew.work();
            crew.awaitHelpers();
        }
    }

    /** The threads that walk one tree. */
    private final class Crew implements AutoCloseable {

        private final ExecutorService helpers = Executors.newThreadPerTaskExecutor(
                Thread.ofPlatform().name("crawl-", 1).daemon().factory());
        private final int rootFolder;
        private final Listings listings;
        private final Waiting waiting = new Waiting(this::help);

        /** Used only within {@link Waiting}'s lock. */
        private int helping;

        Crew(int rootFolder, Listings listings) {
            this.rootFolder = rootFolder;
            this.listings = listings;
        }

        private void help() {
            if (helping < workers - 1) {
                helping++;
                helpers.execute(this::work);
            }
        }

        /** Works until nothing waits or a thread has failed, possibly this one. */
        void work() {
            try (Kernel kernel = new Kernel()) {
                new CrawlWorker(kernel, rootFolder, listings, waiting).work();
            } catch (Throwable e) {
                waiting.fail(e);
                helpers.shutdownNow();
            }
        }

        /** Returns when all threads have ended, and throws the first failure. */
        void awaitHelpers() throws IOException, InterruptedException {
            helpers.shutdown();
            helpers.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
            switch (waiting.failure()) {
                case null -> {}
                case IOException io -> throw io;
                case InterruptedException interrupted -> throw interrupted;
                case RuntimeException defect -> throw defect;
                case Error error -> throw error;
                case Throwable other -> throw new IllegalStateException(other);
            }
        }

        /** Returns when all other threads have ended. */
        @Override
        public void close() {
            helpers.shutdownNow();
            helpers.close();
        }
    }
}
