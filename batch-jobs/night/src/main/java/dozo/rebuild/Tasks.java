package dozo.rebuild;

import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Tasks of which some run at a time. After the first failure no more begin. */
final class Tasks implements AutoCloseable {

    private final int most;
    private final Semaphore room;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    /** One task. */
    interface Task {
        void run() throws IOException, InterruptedException;
    }

    Tasks(int most) {
        this.most = most;
        this.room = new Semaphore(most);
    }

    /** Begins a task; waits while there is no room for it. */
    void begin(Task task) throws IOException, InterruptedException {
        room.acquire();
        rethrow();
        threads.execute(() -> {
            try {
                task.run();
            } catch (IOException | InterruptedException | RuntimeException | Error e) {
                failure.compareAndSet(null, e);
            } finally {
                room.release();
            }
        });
    }

    /** Waits until all have ended. */
    void await() throws IOException, InterruptedException {
        room.acquire(most);
        room.release(most);
        rethrow();
    }

    private void rethrow() throws IOException, InterruptedException {
        switch (failure.get()) {
            case null -> {}
            case IOException site -> throw site;
            case InterruptedException stopped -> throw stopped;
            case RuntimeException defect -> throw defect;
            case Throwable other -> throw new IllegalStateException(other);
        }
    }

    /** Interrupts what still runs, and waits for its end. */
    @Override
    public void close() {
        threads.shutdownNow();
        threads.close();
    }
}
