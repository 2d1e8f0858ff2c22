package dozo.send;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.Patience;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SiteCache;
import dozo.remote.SiteCheck;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** The known properties of a site. If its check is still running, callers wait for the result. */
public final class KnownSite {

    /** If this many commands in a row do not end, the site is the problem and not single files. */
    private static final int STUCK_MAX = 8;

    /** Over a short distance a check takes less than this. */
    private static final Duration LOOK_PATIENCE = Duration.ofMillis(300);

    private final Told told;
    private final AtomicInteger stuck = new AtomicInteger();

    /** Checks a site; returns only after the early results are known. */
    @FunctionalInterface
    public interface Look {
        SiteCheck look(SiteCheck.Early early) throws RemoteException, InterruptedException;
    }

    private record Told(
            Future<SiteCheck> check,
            Future<Boolean> foldsNames,
            Future<Boolean> syncsAtOnce,
            Future<Boolean> unpacksTar,
            Future<RemoteDigest> digest,
            Patience patience) {}

    private KnownSite(Told told) {
        this.told = told;
    }

    /** Returns a site with a finished check. */
    public static KnownSite of(SiteCheck check) {
        return of(check, Patience.USUAL);
    }

    /** Returns a site with a finished check, with this patience for its commands. */
    public static KnownSite of(SiteCheck check, Patience patience) {
        return new KnownSite(new Told(
                CompletableFuture.completedFuture(check),
                CompletableFuture.completedFuture(check.foldsNames()),
                CompletableFuture.completedFuture(check.syncsAtOnce()),
                CompletableFuture.completedFuture(check.unpacksTar()),
                CompletableFuture.completedFuture(check.digest()),
                patience));
    }

    /** Returns a site that was not checked, because nothing may be written there: it is only read. */
    static KnownSite readOnly(RemoteDigest digest, Patience patience) {
        return new KnownSite(new Told(
                CompletableFuture.failedFuture(new IllegalStateException("the site was not checked")),
                CompletableFuture.completedFuture(true),
                CompletableFuture.completedFuture(false),
                CompletableFuture.completedFuture(false),
                CompletableFuture.completedFuture(digest),
                patience));
    }

    /** Returns a site whose check starts now, on a thread of its own. */
    public static KnownSite lookedAtMeanwhile(Look look) {
        SiteCheck.Early early = new SiteCheck.Early();
        FutureTask<SiteCheck> check = new FutureTask<>(() -> {
            try {
                return look.look(early);
            } catch (Throwable e) {
                early.fail(e);
                throw e;
            }
        });
        Thread.ofVirtual().name("look at a site").start(check);
        return new KnownSite(new Told(
                check, early.foldsNames(), early.syncsAtOnce(), early.unpacksTar(), early.digest(), Patience.USUAL));
    }

    /** Returns the same site without archives: everything is sent by SFTP. */
    public KnownSite bySftpAlone() {
        return new KnownSite(new Told(
                told.check,
                told.foldsNames,
                told.syncsAtOnce,
                CompletableFuture.completedFuture(false),
                told.digest,
                told.patience));
    }

    /** Returns when the check is over. */
    void awaitLook() throws RemoteException, InterruptedException {
        var _ = RemoteException.join(told.check);
    }

    RemoteDigest digest() throws RemoteException, InterruptedException {
        return RemoteException.join(told.digest).with(told.patience);
    }

    /**
     * Returns the site's digests of these files, as far as it computes them.
     *
     * @param bytes the total size of the files
     * @throws RemoteException STUCK if they did not come in time; LOST if too many commands in a row did not end
     */
    Map<FilePath, Digest> digests(Lane lane, List<FilePath> files, long bytes)
            throws RemoteException, InterruptedException {
        if (stuck.get() >= STUCK_MAX) {
            throw new RemoteException(
                    Reason.LOST,
                    "%d commands in a row did not end at %s (last: %s); check its disks and processes"
                            .formatted(STUCK_MAX, lane.site(), digest().method()));
        }
        try {
            Map<FilePath, Digest> digests = digest().digests(lane, files, bytes);
            stuck.set(0);
            return digests;
        } catch (RemoteException e) {
            if (e.reason() == Reason.STUCK) {
                stuck.incrementAndGet();
            }
            throw e;
        }
    }

    Optional<SiteCache> cache() throws RemoteException, InterruptedException {
        return RemoteException.join(told.check).cache().map(cache -> cache.with(told.patience));
    }

    boolean namesAreBytes() throws RemoteException, InterruptedException {
        return RemoteException.join(told.check).namesAreBytes();
    }

    /**
     * Returns whether files may be sent there as archives. Does not wait long for the check: until it is over, files
     * are sent by SFTP.
     */
    boolean unpacksTar() throws RemoteException, InterruptedException {
        try {
            var _ = told.unpacksTar.get(LOOK_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
        return RemoteException.join(told.unpacksTar) && syncsAtOnce();
    }

    /** Returns whether names that differ only in case or normal form may be one there. */
    boolean foldsNames() throws RemoteException, InterruptedException {
        return RemoteException.join(told.foldsNames);
    }

    /** Returns whether files there can get further names. */
    boolean linksFiles() throws RemoteException, InterruptedException {
        return RemoteException.join(told.check).linksFiles();
    }

    Patience patience() {
        return told.patience;
    }

    boolean syncsAtOnce() throws RemoteException, InterruptedException {
        return RemoteException.join(told.syncsAtOnce);
    }
}
