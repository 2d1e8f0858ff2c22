package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Writes everything that the site has acknowledged to its disk, including names, by one command or request for the
 * whole file system. Concurrent callers share it: those who come while one is running wait for the next, which serves all of them.
 */
public final class SiteSync {

    private static final Duration TIMEOUT = Duration.ofHours(1);

    private final ReentrantLock running = new ReentrantLock();
    private volatile long begun;
    private volatile long ended;

    /** Returns when everything that was acknowledged before the call is on the site's disk. */
    public void sync(Lane lane) throws RemoteException, InterruptedException {
        long enough = begun + 1;
        running.lockInterruptibly();
        try {
            if (ended >= enough) {
                return;
            }
            long mine = begun + 1;
            begun = mine;
            run(lane);
            ended = mine;
        } finally {
            running.unlock();
        }
    }

    /** Returns whether the site has the command and allows its use. */
    static boolean offeredBy(Lane lane) throws RemoteException, InterruptedException {
        try {
            run(lane);
            return true;
        } catch (RemoteException e) {
            if (e.reason() == Reason.UNSUPPORTED || e.reason() == Reason.REFUSED) {
                return false;
            }
            throw e;
        }
    }

    private static void run(Lane lane) throws RemoteException, InterruptedException {
        if (lane.sftp().channel().syncsAtOnce()) {
            lane.sftp().channel().syncAll(TIMEOUT);
            return;
        }
        CommandResult result = AtRoot.run(lane, "exec sync -f .", new byte[0], 0, TIMEOUT);
        if (result.exitStatus() != 0) {
            throw new RemoteException(
                    Reason.REFUSED,
                    "%s cannot sync files to its disk (exit status %d): %s"
                            .formatted(
                                    lane.site(),
                                    result.exitStatus(),
                                    result.errors().strip()));
        }
    }
}
