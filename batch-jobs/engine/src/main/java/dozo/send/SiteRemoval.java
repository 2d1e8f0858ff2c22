package dozo.send;

import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Removes whole folders at a site: for erasures, and for nothing else (ADR 0093). A link is removed and never followed, neither in
 * the folder nor on the way to it. Safe to repeat after a crash at any point.
 *
 * <p>Memory: the names of all folders in it, and some hundred names of files in each that is emptied at the moment.
 */
record SiteRemoval(Lanes lanes, Workers workers) {

    private static final int FOLDERS_AT_ONCE = 1_000;
    private static final int NAMES_AT_ONCE = 512;

    /** A server may skip names while others are removed. */
    private static final int PASSES = 3;

    /** What the owner of a folder needs to remove what is in it. */
    private static final int OWNER_MODE = 0700;

    /**
     * Removes a folder with everything in it; does nothing if it does not exist.
     *
     * @param top of at least two names, so that a root, or a folder of Dozo's own, is never meant
     * @throws RemoteException if something of it could not be removed: REFUSED if the folder, or one on the way to it, is none
     */
    void remove(FilePath top) throws RemoteException, InterruptedException {
        if (top.isRoot() || top.parent().isRoot()) {
            throw new IllegalArgumentException("not a folder in a folder: " + top);
        }
        for (int i = 1; isFolder(top); i++) {
            List<List<FilePath>> levels = new ArrayList<>();
            for (List<FilePath> level = List.of(top); !level.isEmpty(); level = emptied(level)) {
                levels.add(level);
            }
            for (List<FilePath> level : levels.reversed()) {
                removeFolders(level, i >= PASSES);
            }
        }
    }

    /** Removes files and links; those that do not exist are removed already. */
    void removeFiles(List<FilePath> files) throws RemoteException, InterruptedException {
        lanes.doOver(lane -> removeNames(lane, files));
    }

    /** Returns whether there is such a folder. */
    boolean isFolder(FilePath folder) throws RemoteException, InterruptedException {
        if (folder.isRoot()) {
            return true;
        }
        if (!isFolder(folder.parent())) {
            return false;
        }
        Optional<RemoteFacts> facts = lanes.over(lane -> lane.sftp().lstat(folder));
        if (facts.isPresent() && facts.get().kind() != Kind.DIRECTORY) {
            throw new RemoteException(Reason.REFUSED, folder + " is not a folder; nothing behind it was removed");
        }
        return facts.isPresent();
    }

    /** Removes what is in folders, except folders, and returns these. */
    private List<FilePath> emptied(List<FilePath> folders) throws RemoteException, InterruptedException {
        List<FilePath> below = new ArrayList<>();
        for (int i = 0; i < folders.size(); i += FOLDERS_AT_ONCE) {
            List<FilePath> some = folders.subList(i, Math.min(folders.size(), i + FOLDERS_AT_ONCE));
            workers.each(some, folder -> lanes.over(lane -> emptied(lane, folder)))
                    .values()
                    .forEach(below::addAll);
        }
        return below;
    }

    private static List<FilePath> emptied(Lane lane, FilePath folder) throws RemoteException, InterruptedException {
        List<FilePath> folders = new ArrayList<>();
        List<FilePath> names = new ArrayList<>();
        if (!makeWritable(lane, folder)) {
            return folders;
        }
        lane.sftp().<RemoteException>list(folder, (path, facts) -> {
            if (facts.kind() == Kind.DIRECTORY) {
                folders.add(path);
                return;
            }
            names.add(path);
            if (names.size() == NAMES_AT_ONCE) {
                removeNames(lane, names);
                names.clear();
            }
        });
        removeNames(lane, names);
        return folders;
    }

    /** Folders have the modes that they have at the source. Returns whether the folder exists. */
    private static boolean makeWritable(Lane lane, FilePath folder) throws RemoteException, InterruptedException {
        Optional<RemoteFacts> facts = lane.sftp().lstat(folder);
        if (facts.isPresent() && facts.get().kind() != Kind.DIRECTORY) {
            // NB: listing a link would list what it leads to.
            throw new RemoteException(
                    Reason.REFUSED, folder + " has just been replaced by something else than a folder");
        }
        if (facts.isPresent() && (facts.get().mode() & OWNER_MODE) != OWNER_MODE) {
            lane.sftp().setFacts(folder, OWNER_MODE, facts.get().modifiedSeconds());
        }
        return facts.isPresent();
    }

    private static void removeNames(Lane lane, List<FilePath> names) throws RemoteException, InterruptedException {
        if (!lane.sftp().removeAll(names, List.of())) {
            // Again one by one, for the reason.
            for (FilePath name : names) {
                SiteTree.removeIfThere(lane, name);
            }
        }
    }

    /** @param last whether one that is not empty is a failure */
    private void removeFolders(List<FilePath> folders, boolean last) throws RemoteException, InterruptedException {
        for (int i = 0; i < folders.size(); i += FOLDERS_AT_ONCE) {
            List<FilePath> some = folders.subList(i, Math.min(folders.size(), i + FOLDERS_AT_ONCE));
            if (lanes.<Boolean, RemoteException>over(lane -> lane.sftp().removeAll(List.of(), some))) {
                continue;
            }
            for (FilePath folder : some) {
                removeFolder(folder, last);
            }
        }
    }

    private void removeFolder(FilePath folder, boolean last) throws RemoteException, InterruptedException {
        try {
            lanes.doOver(lane -> lane.sftp().rmdir(folder));
        } catch (RemoteException e) {
            boolean perhapsFull = e.reason() == Reason.REFUSED || e.reason() == Reason.EXISTS;
            if (e.reason() != Reason.NO_SUCH_FILE && (last || !perhapsFull)) {
                throw e;
            }
        }
    }
}
