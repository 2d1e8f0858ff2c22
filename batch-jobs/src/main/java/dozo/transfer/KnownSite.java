package dozo.transfer;

import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.SiteCache;
import dozo.remote.SiteCheck;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/** What is known of a site, or will be as soon as the look at it is over: whoever asks earlier waits for that. */
public final class KnownSite {

    private final Future<SiteCheck> check;
    private final Future<Boolean> syncsAtOnce;

    /** Looks at a site; does not come back before {@code syncsAtOnce} is known. */
    @FunctionalInterface
    public interface Look {
        SiteCheck look(CompletableFuture<Boolean> syncsAtOnce) throws RemoteException, InterruptedException;
    }

    private KnownSite(Future<SiteCheck> check, Future<Boolean> syncsAtOnce) {
        this.check = check;
        this.syncsAtOnce = syncsAtOnce;
    }

    /** A site that was looked at. */
    public static KnownSite of(SiteCheck check) {
        return new KnownSite(
                CompletableFuture.completedFuture(check), CompletableFuture.completedFuture(check.syncsAtOnce()));
    }

    /** A site that is looked at from now on, by a thread of its own. */
    public static KnownSite lookedAtMeanwhile(Look look) {
        CompletableFuture<Boolean> syncsAtOnce = new CompletableFuture<>();
        FutureTask<SiteCheck> check = new FutureTask<>(() -> {
            try {
                return look.look(syncsAtOnce);
            } catch (RemoteException | InterruptedException | RuntimeException e) {
                syncsAtOnce.completeExceptionally(e);
                throw e;
            }
        });
        Thread.ofVirtual().name("look at a site").start(check);
        return new KnownSite(check, syncsAtOnce);
    }

    /** Returns when nothing is tried out there any more. */
    void awaitLook() throws RemoteException, InterruptedException {
        var _ = RemoteException.join(check);
    }

    RemoteDigest digest() throws RemoteException, InterruptedException {
        return RemoteException.join(check).digest();
    }

    Optional<SiteCache> cache() throws RemoteException, InterruptedException {
        return RemoteException.join(check).cache();
    }

    boolean namesAreBytes() throws RemoteException, InterruptedException {
        return RemoteException.join(check).namesAreBytes();
    }

    boolean syncsAtOnce() throws RemoteException, InterruptedException {
        return RemoteException.join(syncsAtOnce);
    }
}
