package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Brings everything that the site has acknowledged to its disk, names included, by one command for the whole file system.
 * Callers at the same time share it: whoever comes while one is under way waits for the next, which does for all of them.
 */
public final class SiteSync {

    private static final Duration TIMEOUT = Duration.ofHours(1);

    private final ReentrantLock running = new ReentrantLock();
    private volatile long begun;
    private volatile long ended;

    /** Returns when all that was acknowledged before the call is on the site's disk. */
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

    /** Whether the site has the command and lets us use it. */
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
        CommandResult result = AtRoot.run(lane, "exec sync -f .", new byte[0], TIMEOUT);
        if (result.exitStatus() != 0) {
            throw new RemoteException(
                    Reason.REFUSED,
                    "%s cannot bring files to its disk (exit %d): %s"
                            .formatted(
                                    lane.site(),
                                    result.exitStatus(),
                                    result.errors().strip()));
        }
    }
}
