package dozo.source;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Walks a folder of this machine, several threads side by side, and tells what it holds. It is only ever read. Links are told,
 * never followed, not even those that somebody puts into the way meanwhile, nor on the way to the root: resolve those before.
 * Names are raw bytes.
 *
 * <p>Memory grows with the names of the folders beside the way down ({@link Waiting}), not with files. Linux on x86-64
 * and aarch64 only: it asks the kernel itself (ADR 0017).
 */
public final class Crawl {

    /** A file server far away may like more: not tried. */
    private static final int WORKERS_MAX = 16;

    private final Path root;
    private final int workers;

    /** A walk by as many threads as are good for a file system of this machine: two for each of its processors. */
    public Crawl(Path root) {
        this(root, Math.clamp(2L * Runtime.getRuntime().availableProcessors(), 2, WORKERS_MAX));
    }

    /** A walk by so many threads, of which each has one folder open at a time. */
    public Crawl(Path root, int workers) {
        if (workers < 1) {
            throw new IllegalArgumentException("a crawl by " + workers + " threads");
        }
        this.root = root;
        this.workers = workers;
    }

    /**
     * Walks the whole tree. The root itself is told as a folder, not as an entry. A folder that is gone before it can be opened is
     * told as an entry and not as a folder; one that cannot be read, or not to its end, is a problem.
     *
     * @throws IOException what the listings throw; or when the root cannot be read, or the machine has no room for another
     *     open folder
     * @throws InterruptedException when this thread is interrupted. As with any failure, all other threads have
     *     ended and nothing is open any more
     */
    public void into(Listings listings) throws IOException, InterruptedException {
        if (!Kernel.isHere()) {
            throw new IOException("a crawl needs Linux on x86-64 or aarch64");
        }
        try (Kernel kernel = new Kernel()) {
            int folder = openRoot(kernel);
            if (folder < 0) {
                throw rootFailure(-folder);
            }
            try {
                walk(folder, listings);
            } finally {
                kernel.close(folder);
            }
        }
    }

    private int openRoot(Kernel kernel) {
        int top = kernel.openTop();
        if (top < 0) {
            return top;
        }
        try {
            return new FolderOpener(kernel, top).open(FilePath.between(Path.of("/"), root));
        } finally {
            kernel.close(top);
        }
    }

    private void walk(int rootFolder, Listings listings) throws IOException, InterruptedException {
        Waiting waiting = new Waiting();
        // Platform threads: a virtual one is of no use in a system call.
        try (ExecutorService crew = Executors.newFixedThreadPool(
                workers, Thread.ofPlatform().name("crawl-", 1).daemon().factory())) {
            var ended = new ExecutorCompletionService<Boolean>(crew);
            for (int i = 0; i < workers; i++) {
                ended.submit(() -> {
                    try (Kernel kernel = new Kernel()) {
                        new CrawlWorker(kernel, rootFolder, listings, waiting).work();
                    }
                    return true;
                });
            }
            try {
                for (int i = 0; i < workers; i++) {
                    ended.take().get();
                }
            } catch (ExecutionException e) {
                throw failure(e);
            } finally {
                crew.shutdownNow();
            }
        }
    }

    /** What stopped a worker, as this thread's own. */
    private static IOException failure(ExecutionException e) throws IOException, InterruptedException {
        switch (e.getCause()) {
            case IOException io -> throw io;
            case InterruptedException interrupted -> throw interrupted;
            case RuntimeException defect -> throw defect;
            case Error error -> throw error;
            case null, default -> throw new IllegalStateException(e);
        }
    }

    private IOException rootFailure(int error) {
        String name = root.toString();
        return switch (Errno.of(error)) {
            case GONE -> new NoSuchFileException(name);
            case NO_FOLDER -> new NotDirectoryException(name);
            case REFUSED -> new AccessDeniedException(name);
            case EXHAUSTED, OTHER -> new FileSystemException(name, null, Errno.reason(error));
        };
    }
}
