package dozo.send;

import dozo.remote.RemoteException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Threads for one common task: the first failure stops all of them, and is thrown to whoever waits for them. */
public final class Crew implements AutoCloseable {

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore room;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    /** Guarded by this. */
    private int running;

    public interface Task {
        void run() throws IOException, InterruptedException;
    }

    /** Work on one thing. */
    public interface Work<T> {
        void on(T one) throws IOException, InterruptedException;
    }

    /** Work on one thing, with a result. */
    public interface Each<A, B> {
        B of(A one) throws IOException, InterruptedException;
    }

    /** Does the same work for each, all at once. Returns the results in this order, or throws the first failure. */
    public static <A, B> List<B> each(List<A> all, Each<A, B> work) throws IOException, InterruptedException {
        Map<Integer, B> results = new ConcurrentSkipListMap<>();
        try (Crew crew = new Crew()) {
            for (int i = 0; i < all.size(); i++) {
                int number = i;
                crew.start(() -> results.put(number, work.of(all.get(number))));
            }
            crew.join();
        }
        return List.copyOf(results.values());
    }

    /** Creates one without a limit. */
    public Crew() {
        this(Integer.MAX_VALUE);
    }

    /** @param atOnceMax tasks; whoever starts another one waits until one of them has ended */
    public Crew(int atOnceMax) {
        this.room = new Semaphore(atOnceMax);
    }

    /** Starts a thread. Throws the failure if there was one. */
    public void start(Task task) throws IOException, InterruptedException {
        throwFailure();
        room.acquire();
        boolean started = false;
        try {
            throwFailure();
            count(1);
            threads.execute(() -> {
                try {
                    task.run();
                } catch (Throwable e) {
                    fail(e);
                } finally {
                    room.release();
                    count(-1);
                }
            });
            started = true;
        } catch (RejectedExecutionException stopped) {
            count(-1);
            throwFailure();
            throw stopped;
        } finally {
            if (!started) {
                // Otherwise whoever waits for it now would do so for ever.
                room.release();
            }
        }
    }

    /** Waits until everything started has ended. */
    public void join() throws IOException, InterruptedException {
        synchronized (this) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            while (running > 0) {
                wait();
            }
        }
        throwFailure();
    }

    private void throwFailure() throws IOException, InterruptedException {
        switch (failure.get()) {
            case null -> {}
            case RemoteException site ->
                throw new RemoteException(site.reason(), String.valueOf(site.getMessage()), site);
            case IOException here -> throw new IOException(String.valueOf(here.getMessage()), here);
            case InterruptedException stopped -> throw stopped;
            case RuntimeException defect -> throw defect;
            case Error error -> throw error;
            case Throwable other -> throw new IllegalStateException(other);
        }
    }

    /** Stops what is still running, and waits for its end: resources of the tasks may be closed afterwards. */
    @Override
    public void close() {
        threads.shutdownNow();
        threads.close();
    }

    private synchronized void count(int more) {
        running += more;
        if (running == 0) {
            notifyAll();
        }
    }

    private void fail(Throwable e) {
        if (failure.compareAndSet(null, e)) {
            threads.shutdownNow();
        }
    }
}
