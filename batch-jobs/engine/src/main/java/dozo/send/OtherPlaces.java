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
 * Where a copy can lie that is not where its receipts have it: a run that died had moved it aside already, or two of one name
 * were. That is in the bag, or among the versions of any manifest, under its name or, where that was taken, with {@code ~2},
 * {@code ~3} … after it or after a folder's name. Which of them it is, its digest says.
 */
public final class OtherPlaces {

    private static final int DIGITS_MAX = 9;

    /** Longer ones no site has. */
    private static final int NAME_BYTES_MAX = 255;

    private final FilePath data;
    private final List<FilePath> versions;

    private OtherPlaces(FilePath data, List<FilePath> versions) {
        this.data = data;
        this.versions = versions;
    }

    /** Those of an experiment, with the versions that are there now. */
    public static OtherPlaces at(Lane lane, SiteFolders folders) throws RemoteException, InterruptedException {
        TreeSet<Integer> manifests = new TreeSet<>(Comparator.reverseOrder());
        try {
            lane.sftp().list(folders.versions(), (path, facts) -> {
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
                folders.data(), manifests.stream().map(folders::versionsOfData).toList());
    }

    /**
     * Every file and link that a copy of this name can be: the one in the bag first, then those of the latest manifest. Asks
     * the site about each folder on the way, so it is for what is missed, and not for every file.
     *
     * @param name below the source's root
     */
    public List<FilePath> of(Lane lane, FilePath name) throws RemoteException, InterruptedException {
        List<FilePath> found = new ArrayList<>();
        for (FilePath folder : ways(lane, List.of(data), name.parent(), 1)) {
            addNumbered(lane, folder, name.name(), 1, false, found);
        }
        for (FilePath version : versions) {
            for (FilePath folder : ways(lane, List.of(version), name.parent(), SiteTree.VERSIONS_MAX)) {
                addNumbered(lane, folder, name.name(), SiteTree.VERSIONS_MAX, false, found);
            }
        }
        return found;
    }

    /** The folders that this folder can be, below one of these. */
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

    /** Adds what has this name in a folder, or the name with a number: numbers are given without a gap. */
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
