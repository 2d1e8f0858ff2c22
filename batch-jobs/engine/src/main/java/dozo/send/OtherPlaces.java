package dozo.send;

import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Other places of a copy than its receipts say: a run may have moved it aside before it died, or two had the same name.
 * The places are in the bag, or among the versions of any manifest, under its name or, if that was in use, with {@code
 * ~2}, {@code ~3} … appended to the name or to a folder's name. The digest tells which of them is the copy.
 */
public final class OtherPlaces {

    private static final int DIGITS_MAX = 9;

    /** No site supports longer names. */
    private static final int NAME_BYTES_MAX = 255;

    private final SiteFolders folders;
    private final List<FilePath> versions;

    private OtherPlaces(SiteFolders folders, List<FilePath> versions) {
        this.folders = folders;
        this.versions = versions;
    }

    /** Returns the places of an experiment, with the versions that exist now. */
    public static OtherPlaces at(Lane lane, SiteFolders folders) throws RemoteException, InterruptedException {
        TreeSet<Integer> manifests = new TreeSet<>(Comparator.reverseOrder());
        try {
            lane.sftp().listToKeep(folders.versions(), (path, facts) -> {
                String name = new String(path.name(), StandardCharsets.ISO_8859_1);
                if (name.length() <= DIGITS_MAX && name.chars().allMatch(c -> c >= '0' && c <= '9')) {
                    manifests.add(Integer.valueOf(name));
                }
            });
        } catch (RemoteException e) {
            if (e.reason() != Reason.NO_SUCH_FILE) {
                throw e;
            }
        }
        return new OtherPlaces(
                folders, manifests.stream().map(folders::versionsOfData).toList());
    }

    /**
     * Returns every file and link that may be the copy that is not at its place: first the one in the bag, then those among the
     * versions, the latest manifest first; none for a place of another experiment. Sends requests for each folder on the way, so
     * use it only for missing files.
     *
     * @param place in the bag or among the versions, below the site's root
     */
    public List<FilePath> of(Lane lane, FilePath place) throws RemoteException, InterruptedException {
        Optional<FilePath> below = folders.below(place);
        if (below.isEmpty()) {
            return List.of();
        }
        FilePath name = below.get();
        List<FilePath> found = new ArrayList<>();
        for (FilePath folder : ways(lane, List.of(folders.data()), name.parent(), 1)) {
            addNumbered(lane, folder, name.name(), 1, false, found);
        }
        for (FilePath version : versions) {
            for (FilePath folder : ways(lane, List.of(version), name.parent(), SiteTree.VERSIONS_MAX)) {
                addNumbered(lane, folder, name.name(), SiteTree.VERSIONS_MAX, false, found);
            }
        }
        return found;
    }

    /** Returns the folders that may be this folder, below one of these. */
    private static List<FilePath> ways(Lane lane, List<FilePath> tops, FilePath folder, int most)
            throws RemoteException, InterruptedException {
        if (folder.isRoot()) {
            return tops;
        }
        List<FilePath> found = new ArrayList<>();
        for (FilePath above : ways(lane, tops, folder.parent(), most)) {
            addNumbered(lane, above, folder.name(), most, true, found);
        }
        return found;
    }

    /** Adds what has this name in a folder, or the name with a number: numbers have no gaps. */
    private static void addNumbered(
            Lane lane, FilePath folder, byte[] name, int most, boolean folders, List<FilePath> found)
            throws RemoteException, InterruptedException {
        for (int i = 1; i <= most; i++) {
            byte[] numbered = SiteTree.numbered(name, i);
            if (numbered.length > NAME_BYTES_MAX) {
                return;
            }
            FilePath path = folder.resolve(numbered);
            Optional<RemoteFacts> there = lane.sftp().lstat(path);
            if (there.isEmpty()) {
                return;
            }
            Kind kind = there.get().kind();
            if (folders ? kind == Kind.DIRECTORY : kind == Kind.FILE || kind == Kind.LINK) {
                found.add(path);
            }
        }
    }
}
