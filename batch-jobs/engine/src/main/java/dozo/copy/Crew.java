package dozo.copy;

import dozo.remote.RemoteException;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Threads for one common task: the first failure stops all of them, and is thrown to whoever waits for them. */
final class Crew implements AutoCloseable {

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    /** Guarded by this. */
    private int running;

    interface Task {
        void run() throws IOException, InterruptedException;
    }

    /** Work on one thing. */
    interface Work<T> {
        void on(T one) throws IOException, InterruptedException;
    }

    /** Starts a thread. Throws the failure if there was one. */
    void start(Task task) throws IOException, InterruptedException {
        throwFailure();
        count(1);
        try {
            threads.execute(() -> {
                try {
                    task.run();
                } catch (Throwable e) {
                    fail(e);
                } finally {
                    count(-1);
                }
            });
        } catch (RejectedExecutionException stopped) {
            count(-1);
            throwFailure();
            throw stopped;
        }
    }

    /** Waits until everything started has ended. */
    void join() throws IOException, InterruptedException {
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

    void throwFailure() throws IOException, InterruptedException {
        switch (failure.get()) {
            case null -> {}
            case RemoteException site ->
                throw new RemoteException(site.reason(), String.valueOf(site.getMessage()), site);
            case IOException here -> throw new IOException(String.valueOf(here.getMessage()), here);
            case InterruptedException stopped -> throw stopped;
            case Error error -> throw error;
            case Throwable bug -> throw new IllegalStateException(bug);
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
