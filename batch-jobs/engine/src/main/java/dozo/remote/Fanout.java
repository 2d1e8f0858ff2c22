package dozo.remote;

import dozo.file.Digest;
import dozo.remote.RemoteException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Does many things at once at a site. */
final class Fanout {

    private static final int AT_ONCE = 64;

    /** Digests one file, or a range of one. */
    @FunctionalInterface
    interface OneDigest<T> {
        Digest of(T file) throws RemoteException, InterruptedException;
    }

    /** A request without a result. */
    @FunctionalInterface
    interface Try {
        void run() throws RemoteException, InterruptedException;
    }

    private Fanout() {}

    /** Does all of it at the same time, and returns it when all has ended, well or not. */
    static <T> List<Future<T>> ended(List<Callable<T>> work) {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            return work.stream().map(threads::submit).toList();
        }
    }

    /** Does all of it at the same time. Throws the first failure, if any, after all has ended. */
    static void all(List<Try> tries) throws RemoteException, InterruptedException {
        List<Callable<Boolean>> work = new ArrayList<>();
        for (Try each : tries) {
            work.add(() -> {
                each.run();
                return true;
            });
        }
        for (Future<Boolean> over : ended(work)) {
            var _ = RemoteException.join(over);
        }
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted during a site check");
        }
    }

    /**
     * Digests files, a bounded number at a time, and returns the digests that could be computed. Throws if the lane is lost or the method is not offered; any other
     * failure leaves out one file.
     */
    static <T> Map<T, Digest> digests(List<T> files, OneDigest<T> one) throws RemoteException, InterruptedException {
        Map<T, Digest> digests = new ConcurrentHashMap<>();
        AtomicReference<@Nullable RemoteException> end = new AtomicReference<>();
        Semaphore room = new Semaphore(AT_ONCE);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            try {
                for (T file : files) {
                    room.acquire();
                    if (end.get() != null) {
                        break;
                    }
                    threads.execute(() -> {
                        try {
                            digests.put(file, one.of(file));
                        } catch (RemoteException e) {
                            if (endsItAll(e.reason())) {
                                end.compareAndSet(null, e);
                            }
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        } finally {
                            room.release();
                        }
                    });
                }
            } catch (InterruptedException e) {
                threads.shutdownNow();
                throw e;
            }
        }
        RemoteException ended = end.get();
        if (ended != null) {
            throw ended;
        }
        return digests;
    }

    private static boolean endsItAll(Reason reason) {
        return switch (reason) {
            case LOST, STUCK, UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, PROTOCOL, UNSUPPORTED -> true;
            case NO_SUCH_FILE, EXISTS, PERMISSION_DENIED, READ_ONLY, FULL, REFUSED -> false;
        };
    }
}
