package dozo.transfer;

import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.SiteCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** What earlier runs left under temporary names. */
final class Leftovers {

    private final Lane lane;
    private final Route route;

    Leftovers(Lane lane, Route route) {
        this.lane = lane;
        this.route = route;
    }

    /** Removes them, but for the files with these numbers. Of a copy nothing is left then, unless others copy to the same place. */
    void sweep(Set<Integer> keep) throws RemoteException, InterruptedException {
        if (keep.isEmpty() && removeIfEmpty(route.incoming())) {
            removeParent();
            return;
        }
        Set<String> kept = keep.stream().map(String::valueOf).collect(Collectors.toSet());
        List<FilePath> leftovers = new ArrayList<>();
        List<FilePath> probes = new ArrayList<>();
        lane.sftp().list(route.incoming(), (path, facts) -> {
            if (SiteCheck.isProbe(path) && facts.kind() == RemoteFacts.Kind.DIRECTORY) {
                probes.add(path);
            } else if (!kept.contains(FilePath.render(path.name())) && facts.kind() != RemoteFacts.Kind.DIRECTORY) {
                leftovers.add(path);
            }
        });
        for (FilePath leftover : leftovers) {
            lane.sftp().remove(leftover);
        }
        for (FilePath probe : probes) {
            SiteCheck.removeProbe(lane, probe);
        }
        if (keep.isEmpty()) {
            var _ = removeIfEmpty(route.incoming());
            removeParent();
        }
    }

    /** The folder that the temporary folders of copies lie in; a backup's stays. */
    private void removeParent() throws RemoteException, InterruptedException {
        if (route.versions().isEmpty()) {
            var _ = removeIfEmpty(route.incoming().parent());
        }
    }

    /** Whether it is gone; if not, something lies in it. */
    private boolean removeIfEmpty(FilePath folder) throws RemoteException, InterruptedException {
        try {
            lane.sftp().rmdir(folder);
            return true;
        } catch (RemoteException e) {
            if (e.reason() != Reason.REFUSED && e.reason() != Reason.EXISTS && e.reason() != Reason.NO_SUCH_FILE) {
                throw e;
            }
            return e.reason() == Reason.NO_SUCH_FILE;
        }
    }
}
