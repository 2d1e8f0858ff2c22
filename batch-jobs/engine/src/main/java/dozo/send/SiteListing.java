package dozo.send;

import dozo.file.FilePath;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts.Kind;
import dozo.send.FolderQueue.Name;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Lists everything below a folder at a site, many folders at once. The number of names not yet received is limited; only
 * the list of folders still to read grows. Names from a lane that is lost are listed again.
 */
final class SiteListing {

    private static final int FOLDERS_AT_ONCE = 32;
    private static final int NAMES_ON_THE_WAY = 4_096;
    private static final long LOOK_UP_MILLIS = 50;

    private final Lanes lanes;
    private final BlockingQueue<Name> names = new ArrayBlockingQueue<>(NAMES_ON_THE_WAY);
    private final FolderQueue<FilePath> folders = new FolderQueue<>(FOLDERS_AT_ONCE, this::list);

    SiteListing(Lanes lanes) {
        this.lanes = lanes;
    }

    /** Lists all names below a folder, in no particular order, some perhaps twice. */
    void into(FilePath top, SiteReader.Listing listing) throws RemoteException, InterruptedException {
        try (folders) {
            folders.add(top);
            while (true) {
                boolean over = folders.isOver();
                Name name = names.poll(LOOK_UP_MILLIS, TimeUnit.MILLISECONDS);
                folders.throwFailure();
                if (name != null) {
                    listing.take(name.path(), name.facts());
                } else if (over) {
                    return;
                }
            }
        } catch (RemoteException e) {
            throw e;
        } catch (IOException e) {
            throw new IllegalStateException("listing writes no file", e);
        }
    }

    private void list(FilePath folder) throws RemoteException, InterruptedException {
        for (int i = 1; ; i++) {
            try {
                lanes.next().sftp().<RemoteException>list(folder, (path, facts) -> {
                    names.put(new Name(path, facts));
                    if (facts.kind() == Kind.DIRECTORY) {
                        folders.add(path);
                    }
                });
                return;
            } catch (RemoteException e) {
                if (e.reason() == Reason.NO_SUCH_FILE) {
                    return;
                }
                if (!e.retryable() || i == FolderQueue.TRIES) {
                    throw e;
                }
            }
        }
    }
}
