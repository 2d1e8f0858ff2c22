package dozo.send;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The names that a site's folders list. At a site that takes different names for one, only these show whose file has a
 * name; at any other site nothing is listed. A folder is usually listed once.
 */
final class ListedNames {

    /** How many names are remembered, in about 60 bytes each; at the limit all are forgotten. */
    private static final int NAMES_MAX = 500_000;

    private final KnownSite site;
    private final ReentrantLock lock = new ReentrantLock();

    /** Hashes of listed names. */
    private final Set<Long> listed = ConcurrentHashMap.newKeySet();

    ListedNames(KnownSite site) {
        this.site = site;
    }

    /**
     * Checks that this name and those of its folders, as far as they are in use, are listed as they are.
     *
     * @throws RemoteException EXISTS if it is in use by another name, which the message gives
     */
    void requireOwn(Lane lane, FilePath name) throws RemoteException, InterruptedException {
        if (name.isRoot() || !site.foldsNames()) {
            return;
        }
        requireOwn(lane, name.parent());
        lock.lockInterruptibly();
        try {
            if (!listed.contains(hash(name))) {
                list(lane, name);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Records that this name was freed. */
    void movedAside(FilePath name) {
        listed.remove(hash(name));
    }

    private void list(Lane lane, FilePath name) throws RemoteException, InterruptedException {
        String wanted = folded(name);
        List<FilePath> same = new ArrayList<>();
        Set<Long> found = new HashSet<>();
        lane.sftp().list(name.parent(), (each, _) -> {
            if (found.size() < NAMES_MAX) {
                found.add(hash(each));
            }
            if (folded(each).equals(wanted)) {
                same.add(each);
            }
        });
        if (same.contains(name)) {
            if (listed.size() + found.size() > NAMES_MAX) {
                listed.clear();
            }
            listed.addAll(found);
        } else if (!same.isEmpty() || lane.sftp().lstat(name).isPresent()) {
            throw new RemoteException(
                    Reason.EXISTS,
                    "the site does not distinguish %s from %s, which exists there; give one of them another name"
                            .formatted(name, same.isEmpty() ? "another name" : same.getFirst()));
        }
    }

    private static long hash(FilePath name) {
        return ByteBuffer.wrap(Digest.ofContent(name.bytes()).bytes()).getLong();
    }

    private static String folded(FilePath name) {
        String text = Normalizer.normalize(new String(name.name(), StandardCharsets.UTF_8), Normalizer.Form.NFC);
        return text.toUpperCase(Locale.ROOT).toLowerCase(Locale.ROOT);
    }
}
