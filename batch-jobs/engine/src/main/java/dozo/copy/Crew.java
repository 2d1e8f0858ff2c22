package dozo.copy;

import dozo.remote.RemoteException;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Threads for one common task: the first failure stops all of them, and is thrown to whoever waits for them. */
final class Crew implements AutoCloseable {

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition none = lock.newCondition();
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
        lock.lockInterruptibly();
        try {
            while (running > 0) {
                none.await();
            }
        } finally {
            lock.unlock();
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

    private void count(int more) {
        lock.lock();
        try {
            running += more;
            if (running == 0) {
                none.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    private void fail(Throwable e) {
        if (failure.compareAndSet(null, e)) {
            threads.shutdownNow();
        }
    }
}
