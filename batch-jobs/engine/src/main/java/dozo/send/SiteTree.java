package dozo.send;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * The folders at a site that we fill: makes them, gives proven files their final names, and does with what is in the way what
 * the route says. For a backup that is kept: every rename refuses an existing target, and what is in the way is moved to the
 * versions first. For a copy it is replaced, atomically. Safe to repeat after a crash at any point, because what already stands
 * is recognised by its digest.
 */
final class SiteTree {

    /** Folders known to exist are remembered up to here, then all over again. */
    private static final int FOLDERS_KNOWN_MAX = 100_000;

    /** So many of one name are kept for a manifest. */
    static final int VERSIONS_MAX = 1_000;

    private static final int TRIES = 3;
    private static final int FOLDER_MODE = 0700;

    private final KnownSite site;

    /** Folders that are there, and whether we have made them, so that nothing else can be in them. */
    private final Map<FilePath, CompletableFuture<Boolean>> known = new ConcurrentHashMap<>();

    SiteTree(KnownSite site) {
        this.site = site;
    }

    /**
     * Gives a proven file its final name.
     *
     * @param facts those the file has under its temporary name; null for a file of Dozo's own, whose time says nothing
     */
    void publish(
            Lane lane, Route route, FilePath temporary, FilePath finalName, Digest proven, @Nullable SiteFacts facts)
            throws RemoteException, InterruptedException {
        makeFolders(lane, route, finalName.parent());
        for (int i = 0; i < TRIES; i++) {
            try {
                if (route.versions().isPresent()) {
                    lane.sftp().rename(temporary, finalName);
                } else {
                    lane.sftp().replace(temporary, finalName);
                }
                return;
            } catch (RemoteException e) {
                boolean mayStand = e.reason() == Reason.EXISTS || e.reason() == Reason.NO_SUCH_FILE;
                if (!mayStand) {
                    throw e;
                }
                if (settleStanding(lane, temporary, finalName, proven, facts)) {
                    return;
                }
                if (e.reason() == Reason.NO_SUCH_FILE) {
                    throw e;
                }
            }
            clear(lane, route, finalName);
        }
        throw inTheWay(finalName);
    }

    /**
     * Gives proven files their final names where nothing is in the way and their folders are there.
     *
     * @param names the temporary ones and the final ones
     * @return the temporary names of those that have their final names now; the others have to be {@linkplain #publish published}
     */
    static Set<FilePath> publishAll(Lane lane, Route route, Map<FilePath, FilePath> names)
            throws RemoteException, InterruptedException {
        return lane.sftp().renameAll(names, route.versions().isEmpty());
    }

    /** Makes a link, atomically, under its final name. */
    void link(Lane lane, Route route, byte[] target, FilePath temporary, FilePath finalName)
            throws RemoteException, InterruptedException {
        makeFolders(lane, route, finalName.parent());
        for (int i = 0; i < TRIES; i++) {
            Optional<RemoteFacts> there = lane.sftp().lstat(finalName);
            if (there.isEmpty()) {
                lane.sftp().symlink(target, finalName);
                return;
            }
            boolean link = there.get().kind() == Kind.LINK;
            if (link && Arrays.equals(lane.sftp().readlink(finalName), target)) {
                return;
            }
            if (route.versions().isEmpty() && there.get().kind() != Kind.DIRECTORY) {
                removeIfThere(lane, temporary);
                makeFolders(lane, route, temporary.parent());
                lane.sftp().symlink(target, temporary);
                lane.sftp().replace(temporary, finalName);
                return;
            }
            clear(lane, route, finalName);
        }
        throw inTheWay(finalName);
    }

    /**
     * Makes a folder and all above it; never through a link, and a file in the way is cleared away.
     * Whoever asks for a folder that is being made waits for it.
     */
    void makeFolders(Lane lane, Route route, FilePath folder) throws RemoteException, InterruptedException {
        if (folder.isRoot()) {
            return;
        }
        CompletableFuture<Boolean> mine = new CompletableFuture<>();
        CompletableFuture<Boolean> others = known.putIfAbsent(folder, mine);
        if (others != null) {
            RemoteException.join(others);
            return;
        }
        try {
            makeFolders(lane, route, folder.parent());
            mine.complete(makeOrClear(lane, route, folder));
        } catch (RemoteException e) {
            known.remove(folder, mine);
            mine.completeExceptionally(e);
            throw e;
        } catch (InterruptedException | RuntimeException e) {
            known.remove(folder, mine);
            mine.completeExceptionally(
                    new RemoteException(Reason.LOST, "whoever was making the folder " + folder + " was stopped"));
            throw e;
        }
        if (known.size() >= FOLDERS_KNOWN_MAX) {
            known.clear();
        }
    }

    private boolean makeOrClear(Lane lane, Route route, FilePath folder) throws RemoteException, InterruptedException {
        Optional<Boolean> made = makeFolder(lane, folder);
        if (made.isEmpty()) {
            clear(lane, route, folder);
            made = makeFolder(lane, folder);
        }
        return made.orElseThrow(() -> inTheWay(folder));
    }

    /** Notes that the root itself was made by us a moment ago. */
    void rootIsNew() {
        known.put(FilePath.ROOT, CompletableFuture.completedFuture(true));
    }

    /** Whether we have made this folder, or one above it, so that only what we put there can be there. */
    boolean isNew(FilePath folder) {
        for (FilePath above = folder; ; above = above.parent()) {
            CompletableFuture<Boolean> making = known.get(above);
            if (making != null && making.state() == Future.State.SUCCESS && making.resultNow()) {
                return true;
            }
            if (above.isRoot()) {
                return false;
            }
        }
    }

    /** Whether we have made the folder now; empty when something else has its name. */
    private static Optional<Boolean> makeFolder(Lane lane, FilePath folder)
            throws RemoteException, InterruptedException {
        try {
            return Optional.of(lane.sftp().mkdir(folder, FOLDER_MODE));
        } catch (RemoteException e) {
            Optional<RemoteFacts> there = lane.sftp().lstat(folder);
            if (there.isEmpty()) {
                throw e;
            }
            return there.get().kind() == Kind.DIRECTORY ? Optional.of(false) : Optional.empty();
        }
    }

    /**
     * Whether the file with the final name has the proven content already: a run died between rename and record, or the lane
     * between request and answer, or the source changed only the file's mode or time.
     */
    private boolean settleStanding(
            Lane lane, FilePath temporary, FilePath finalName, Digest proven, @Nullable SiteFacts facts)
            throws RemoteException, InterruptedException {
        Optional<RemoteFacts> standing = lane.sftp().lstat(finalName);
        Optional<RemoteFacts> fresh = lane.sftp().lstat(temporary);
        if (standing.isEmpty() || standing.get().kind() != Kind.FILE) {
            return false;
        }
        if (fresh.isPresent() && fresh.get().sizeBytes() != standing.get().sizeBytes()) {
            return false;
        }
        Digest found = site.digests(lane, List.of(finalName), standing.get().sizeBytes())
                .get(finalName);
        if (found == null || !found.equals(proven)) {
            return false;
        }
        if (facts != null) {
            lane.sftp().setFacts(finalName, facts.mode(), facts.modifiedSeconds());
        }
        if (fresh.isPresent()) {
            lane.sftp().remove(temporary);
        }
        return true;
    }

    /** Notes that folders below this one may have been removed. */
    void forget(FilePath folder) {
        known.keySet().removeIf(each -> each.startsWith(folder));
    }

    /** Makes a name free, if something has it. */
    void putAside(Lane lane, Route route, FilePath name) throws RemoteException, InterruptedException {
        if (lane.sftp().lstat(name).isPresent()) {
            clear(lane, route, name);
        }
    }

    /** Makes a name free, if the route says how. */
    private void clear(Lane lane, Route route, FilePath name) throws RemoteException, InterruptedException {
        keepVersion(lane, route, route.versions().orElseThrow(() -> inTheWay(name)), name);
    }

    /** Moves what has a name to the versions, under the same path there, with {@code ~2}, {@code ~3} … where taken. */
    private void keepVersion(Lane lane, Route route, FilePath versions, FilePath name)
            throws RemoteException, InterruptedException {
        if (!name.startsWith(route.top()) || name.equals(route.top())) {
            throw inTheWay(name);
        }
        byte[] all = name.bytes();
        FilePath inBag = FilePath.of(Arrays.copyOfRange(all, route.top().bytes().length + 1, all.length));
        FilePath kept = versions.resolve(inBag);
        makeFolders(lane, route, kept.parent());
        for (int i = 1; i <= VERSIONS_MAX; i++) {
            FilePath free = kept.parent().resolve(numbered(kept.name(), i));
            // A rename spares what is there only where that is a file or folder; a dangling link it may replace.
            if (lane.sftp().lstat(free).isPresent()) {
                continue;
            }
            try {
                lane.sftp().rename(name, free);
                // What stood here may have been a folder with folders in it.
                forget(name);
                return;
            } catch (RemoteException e) {
                if (e.reason() == Reason.NO_SUCH_FILE && lane.sftp().lstat(name).isEmpty()) {
                    return;
                }
                if (e.reason() != Reason.EXISTS) {
                    throw e;
                }
            }
        }
        throw inTheWay(kept);
    }

    /** Renames a version back to its final name, if that is free; whether it has it now. */
    boolean putBack(Lane lane, Route route, FilePath version, FilePath finalName)
            throws RemoteException, InterruptedException {
        makeFolders(lane, route, finalName.parent());
        // NB: a rename may replace a dangling link.
        if (lane.sftp().lstat(finalName).isPresent()) {
            return false;
        }
        try {
            lane.sftp().rename(version, finalName);
            return true;
        } catch (RemoteException e) {
            if (e.reason() != Reason.EXISTS && e.reason() != Reason.NO_SUCH_FILE) {
                throw e;
            }
            return false;
        }
    }

    static void removeIfThere(Lane lane, FilePath name) throws RemoteException, InterruptedException {
        try {
            lane.sftp().remove(name);
        } catch (RemoteException e) {
            if (e.reason() != Reason.NO_SUCH_FILE) {
                throw e;
            }
        }
    }

    /** What the first, second, third … of this name is called: {@code x}, {@code x~2}, {@code x~3} …. */
    static byte[] numbered(byte[] name, int number) {
        if (number == 1) {
            return name;
        }
        byte[] suffix = ("~" + number).getBytes(StandardCharsets.US_ASCII);
        byte[] numbered = Arrays.copyOf(name, name.length + suffix.length);
        System.arraycopy(suffix, 0, numbered, name.length, suffix.length);
        return numbered;
    }

    private static RemoteException inTheWay(FilePath name) {
        return new RemoteException(
                Reason.REFUSED, "something at the site keeps the name %s; look at it there".formatted(name));
    }
}
