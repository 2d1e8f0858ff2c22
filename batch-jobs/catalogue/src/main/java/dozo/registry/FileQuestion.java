package dozo.registry;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A query of a file system while a caller waits. If a file server does not respond, one of Dozo's threads stays
 * blocked, but neither the caller nor its database connection. A path that hangs is queried once, whatever the number
 * of callers.
 *
 * @param <T> the answer
 */
public final class FileQuestion<T> {

    /** How long a person waits. */
    public static final Duration PERSON = Duration.ofSeconds(5);

    // NB: platform threads. A virtual thread that hangs in a file system keeps its carrier thread, and there are few of
    // those.
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(
            Thread.ofPlatform().name("file-question-", 0).daemon().factory());

    /**
     * A path beside one that was answered within this time is queried in the caller's thread, because files have
     * 100,000 lines.
     */
    private static final Duration LATELY = Duration.ofSeconds(1);

    private final Asking<T> asking;
    private final Map<Path, FutureTask<T>> open = new ConcurrentHashMap<>();
    private volatile @Nullable Answered last;

    /** Queries a file system, and may hang. */
    @FunctionalInterface
    public interface Asking<T> {
        T of(Path path) throws IOException;
    }

    private record Answered(@Nullable Path folder, long nanos) {

        boolean isLately(Path path) {
            return folder != null && folder.equals(path.getParent()) && System.nanoTime() - nanos < LATELY.toNanos();
        }
    }

    /** The answer timed out: nothing is known about the path. */
    public static final class Unanswered extends Refusal {

        private static final long serialVersionUID = 1L;

        Unanswered(String field, Path path, Duration most) {
            super(field, "%s did not respond within %d s", FilePath.render(FilePath.rawText(path)), most.toSeconds());
        }
    }

    public FileQuestion(Asking<T> asking) {
        this.asking = asking;
    }

    /**
     * Returns the answer about a path.
     *
     * @param field the field of a refusal
     * @param most whole seconds
     * @throws IOException if the query failed
     * @throws Unanswered if it timed out
     * @throws Refusal if the caller is interrupted: then nothing is known either
     */
    public T about(String field, Path path, Duration most) throws IOException {
        Answered before = last;
        return before != null && before.isLately(path) ? asking.of(path) : asked(field, path, most);
    }

    /**
     * Returns the answers about several paths, which are queried at the same time.
     *
     * @param field the field of a refusal
     * @param most for all of them together
     * @return by path; empty if the query failed. A missing path timed out: nothing is known about it
     * @throws Refusal if the caller is interrupted
     */
    public Map<Path, Optional<T>> aboutEach(String field, Collection<Path> paths, Duration most) {
        long end = System.nanoTime() + most.toNanos();
        Map<Path, FutureTask<T>> asked = new LinkedHashMap<>();
        paths.forEach(path -> asked.computeIfAbsent(path, this::begun));
        Map<Path, Optional<T>> answers = new LinkedHashMap<>();
        asked.forEach((path, answer) -> {
            try {
                answers.put(path, Optional.of(within(Math.max(0, end - System.nanoTime()), field, answer)));
            } catch (IOException told) {
                answers.put(path, Optional.empty());
            } catch (TimeoutException silent) {
                // The path is missing in the result.
            }
        });
        return answers;
    }

    private T asked(String field, Path path, Duration most) throws IOException {
        try {
            return within(most.toNanos(), field, begun(path));
        } catch (TimeoutException hangs) {
            throw new Unanswered(field, path, most);
        }
    }

    private FutureTask<T> begun(Path path) {
        FutureTask<T> mine = new FutureTask<>(() -> {
            try {
                return asking.of(path);
            } finally {
                last = new Answered(path.getParent(), System.nanoTime());
                open.remove(path);
            }
        });
        FutureTask<T> others = open.putIfAbsent(path, mine);
        if (others == null) {
            THREADS.execute(mine);
        }
        return others == null ? mine : others;
    }

    private T within(long nanos, String field, FutureTask<T> answer) throws IOException, TimeoutException {
        try {
            return answer.get(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Refusal.conflict(field, "interrupted while the folder was read");
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        }
    }
}
