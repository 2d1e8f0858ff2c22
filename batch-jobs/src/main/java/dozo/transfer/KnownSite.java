package dozo.transfer;

import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.SiteCheck;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** What is known of a site, or will be as soon as the look at it is over: whoever asks earlier waits for that. */
final class KnownSite {

    private final Future<SiteCheck> check;

    KnownSite(Future<SiteCheck> check) {
        this.check = check;
    }

    RemoteDigest digest() throws RemoteException, InterruptedException {
        return check().digest();
    }

    boolean namesAreBytes() throws RemoteException, InterruptedException {
        return check().namesAreBytes();
    }

    boolean syncsAtOnce() throws RemoteException, InterruptedException {
        return check().syncsAtOnce();
    }

    private SiteCheck check() throws RemoteException, InterruptedException {
        try {
            return check.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RemoteException failed) {
                throw new RemoteException(failed.reason(), String.valueOf(failed.getMessage()), failed);
            }
            throw new IllegalStateException(e.getCause());
        }
    }
}
