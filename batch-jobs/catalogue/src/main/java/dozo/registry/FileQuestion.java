package dozo.registry;

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
 * A question to file systems for which somebody waits. A file server that does not answer holds a thread of ours for as long as it
 * likes, but not whoever asked, nor their connection to the database. What hangs is asked once, however many ask.
 *
 * @param <T> the answer
 */
public final class FileQuestion<T> {

    /** How long a person waits. */
    public static final Duration PERSON = Duration.ofSeconds(5);

    // NB: platform threads. A virtual one that hangs in a file system keeps its carrier, and there are few of those.
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(
            Thread.ofPlatform().name("file-question-", 0).daemon().factory());

    /** What lies beside something that was answered for so short a time ago is asked on the spot: files have 100,000 lines. */
    private static final Duration LATELY = Duration.ofSeconds(1);

    private final Asking<T> asking;
    private final Map<Path, FutureTask<T>> open = new ConcurrentHashMap<>();
    private volatile @Nullable Answered last;

    /** What asks a file system, and may hang in it. */
    @FunctionalInterface
    public interface Asking<T> {
        T of(Path path) throws IOException;
    }

    private record Answered(@Nullable Path folder, long nanos) {

        boolean isLately(Path path) {
            return folder != null && folder.equals(path.getParent()) && System.nanoTime() - nanos < LATELY.toNanos();
        }
    }

    /** No answer in time: nothing is known about the path. */
    public static final class Unanswered extends Refusal {

        private static final long serialVersionUID = 1L;

        Unanswered(String field, Path path, Duration most) {
            super(field, "%s does not answer within %d s", Experiments.shown(path), most.toSeconds());
        }
    }

    public FileQuestion(Asking<T> asking) {
        this.asking = asking;
    }

    /**
     * The answer about a path.
     *
     * @param field of which it is refused
     * @param most whole seconds
     * @throws IOException it could not be told
     * @throws Unanswered when nothing was told in time
     * @throws Refusal when whoever waits is interrupted: nothing is known then either
     */
    public T about(String field, Path path, Duration most) throws IOException {
        Answered before = last;
        return before != null && before.isLately(path) ? asking.of(path) : asked(field, path, most);
    }

    /**
     * The answers about several paths, which are all asked at the same time.
     *
     * @param field of which it is refused
     * @param most for all of them together
     * @return by path; nothing where it could not be told. A path that is missing was silent: nothing is known about it
     * @throws Refusal when whoever waits is interrupted
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
                // It is missing in what is given back.
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
            throw failure(e.getCause());
        }
    }

    private static IOException failure(@Nullable Throwable cause) {
        if (cause instanceof IOException answer) {
            return answer;
        }
        throw new IllegalStateException(cause);
    }
}
