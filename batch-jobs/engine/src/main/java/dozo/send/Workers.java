package dozo.send;

import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Threads that work at a site, limited by the files that may be open there. After {@link #close} all work is LOST. */
final class Workers implements AutoCloseable {

    private final Lanes lanes;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    interface Each<K, T> {
        T of(K one) throws RemoteException, InterruptedException;
    }

    Workers(Lanes lanes) {
        this.lanes = lanes;
    }

    /** Does the same work for each, concurrently, as far as files may be open at the site. */
    <K, T> Map<K, T> each(Collection<K> all, Each<K, T> work) throws RemoteException, InterruptedException {
        Map<K, Future<T>> running = new LinkedHashMap<>();
        Map<K, T> results = new HashMap<>();
        try {
            for (K one : all) {
                running.put(one, begin(() -> {
                    lanes.files().acquire();
                    try {
                        return work.of(one);
                    } finally {
                        lanes.files().release();
                    }
                }));
            }
            for (Map.Entry<K, Future<T>> one : running.entrySet()) {
                results.put(one.getKey(), join(one.getValue()));
            }
        } finally {
            running.values().forEach(one -> one.cancel(true));
        }
        return results;
    }

    /** Returns those for which a check holds; all are checked concurrently. */
    <K> Set<K> which(Collection<K> all, Each<K, Boolean> check) throws RemoteException, InterruptedException {
        Set<K> which = new HashSet<>();
        each(all, check).forEach((one, holds) -> {
            if (holds) {
                which.add(one);
            }
        });
        return which;
    }

    /** Begins work, to be {@linkplain #join waited for}. */
    <T extends @Nullable Object> Future<T> begin(Callable<T> work) throws RemoteException {
        try {
            return threads.submit(() -> {
                try {
                    return work.call();
                } catch (InterruptedException e) {
                    throw threads.isShutdown() ? closed(e) : e;
                }
            });
        } catch (RejectedExecutionException e) {
            throw closed(e);
        }
    }

    private static RemoteException closed(Exception cause) {
        return new RemoteException(Reason.LOST, "the connections to the site were closed during the work", cause);
    }

    /** Waits for another thread's work, and throws its failure: the very same exception. */
    static <T extends @Nullable Object> T join(Future<T> running) throws RemoteException, InterruptedException {
        try {
            return running.get();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RemoteException site -> throw site;
                case InterruptedException stopped -> throw stopped;
                case RuntimeException bug -> throw bug;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException(e.getCause());
            }
        }
    }

    /** Interrupts all work, which fails with LOST. */
    @Override
    public void close() {
        threads.shutdownNow();
    }
}
