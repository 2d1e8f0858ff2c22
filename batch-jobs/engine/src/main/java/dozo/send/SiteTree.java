package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.RemoteFile;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The folders at a site that are filled: creates them, gives verified files their final names, and handles existing
 * files as the route says. A backup keeps them: every rename refuses an existing target, and an existing file is first
 * moved to the versions. A copy replaces them atomically. Safe to repeat after a crash at any point, because an
 * existing file is recognised by its digest.
 */
final class SiteTree {

    /** How many existing folders are remembered; at the limit all are forgotten. */
    private static final int FOLDERS_KNOWN_MAX = 100_000;

    /** How many versions of one name are kept per manifest. */
    static final int VERSIONS_MAX = 1_000;

    private static final int TRIES = 3;
    private static final int FOLDER_MODE = 0700;

    private final KnownSite site;
    private final ListedNames listed;

    /** Existing folders, and whether this process created them, so that nothing else can be in them. */
    private final Map<FilePath, CompletableFuture<Boolean>> known = new ConcurrentHashMap<>();

    SiteTree(KnownSite site) {
        this.site = site;
        this.listed = new ListedNames(site);
    }

    /**
     * Gives a verified file its final name. Returns where the file is now that had this name; empty: none was moved aside.
     *
     * @param facts those of the file under its temporary name; null for a generated file, whose time is meaningless
     * @param shared whether a file that has the final name may have other names, too: then its facts are not changed
     */
    Optional<FilePath> publish(
            Lane lane,
            Route route,
            FilePath temporary,
            FilePath finalName,
            Digest proven,
            @Nullable SiteFacts facts,
            boolean shared)
            throws RemoteException, InterruptedException {
        makeFolders(lane, route, finalName.parent());
        Optional<FilePath> aside = Optional.empty();
        boolean replaces = replaces(route);
        for (int i = 0; i < TRIES; i++) {
            try {
                if (replaces) {
                    lane.sftp().replace(temporary, finalName);
                } else {
                    lane.sftp().rename(temporary, finalName);
                }
                return aside;
            } catch (RemoteException e) {
                if (!Set.of(Reason.EXISTS, Reason.NO_SUCH_FILE, Reason.UNSUPPORTED)
                        .contains(e.reason())) {
                    throw e;
                }
                listed.requireOwn(lane, finalName);
                if (route.versions().isEmpty() && !replaces) {
                    replaces = true;
                    continue;
                }
                if (settleStanding(lane, temporary, finalName, proven, facts, shared)) {
                    return aside;
                }
                if (e.reason() != Reason.EXISTS) {
                    throw e;
                }
            }
            aside = clear(lane, route, finalName);
        }
        throw inTheWay(finalName);
    }

    /**
     * Gives verified files their final names, if nothing has these names and their folders exist.
     *
     * @param names temporary names to final names
     * @return the temporary names of those renamed; the others must be {@linkplain #publish published}
     */
    Set<FilePath> publishAll(Lane lane, Route route, Map<FilePath, FilePath> names)
            throws RemoteException, InterruptedException {
        return lane.sftp().renameAll(names, replaces(route));
    }

    /** Returns whether an existing file is replaced without a look: it can only be an earlier one of the same name. */
    private boolean replaces(Route route) throws RemoteException, InterruptedException {
        return route.versions().isEmpty() && !site.foldsNames();
    }

    /** Returns the facts of a file with this size and time, if it exists: it is probably this one. */
    Optional<RemoteFacts> standing(Lane lane, FilePath name, Entry file) throws RemoteException, InterruptedException {
        Optional<RemoteFacts> standing = lane.sftp()
                .lstat(name)
                .filter(there -> there.kind() == Kind.FILE
                        && there.sizeBytes() == file.facts().sizeBytes()
                        && there.modifiedSeconds() == SiteFacts.of(file).modifiedSeconds());
        if (standing.isPresent()) {
            listed.requireOwn(lane, name);
        }
        return standing;
    }

    /** Creates a file, replacing what a dead run left under its temporary name. */
    static RemoteFile create(Lane lane, FilePath name) throws RemoteException, InterruptedException {
        try {
            return lane.sftp().create(name);
        } catch (RemoteException e) {
            if (e.reason() != Reason.EXISTS) {
                throw e;
            }
            lane.sftp().remove(name);
            return lane.sftp().create(name);
        }
    }

    /** Creates a link atomically under its final name. */
    void link(Lane lane, Route route, byte[] target, FilePath temporary, FilePath finalName)
            throws RemoteException, InterruptedException {
        makeFolders(lane, route, finalName.parent());
        for (int i = 0; i < TRIES; i++) {
            Optional<RemoteFacts> there = lane.sftp().lstat(finalName);
            if (there.isEmpty()) {
                try {
                    lane.sftp().symlink(target, finalName);
                    return;
                } catch (RemoteException e) {
                    if (e.reason() != Reason.EXISTS) {
                        throw e;
                    }
                    continue;
                }
            }
            listed.requireOwn(lane, finalName);
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
            var _ = clear(lane, route, finalName);
        }
        throw inTheWay(finalName);
    }

    /**
     * Creates a folder and its parents, never through a link; a file in the way is moved aside if the route keeps
     * versions. Callers wait for a folder that is being created.
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
            if (e.reason() != Reason.EXISTS) {
                known.remove(folder, mine);
            }
            mine.completeExceptionally(e);
            throw e;
        } catch (InterruptedException | RuntimeException e) {
            known.remove(folder, mine);
            mine.completeExceptionally(
                    new RemoteException(Reason.LOST, "creation of the folder " + folder + " was interrupted"));
            throw e;
        }
        if (known.size() >= FOLDERS_KNOWN_MAX) {
            known.clear();
        }
    }

    private boolean makeOrClear(Lane lane, Route route, FilePath folder) throws RemoteException, InterruptedException {
        Optional<Boolean> made = makeFolder(lane, folder);
        if (!made.orElse(false)) {
            listed.requireOwn(lane, folder);
        }
        if (made.isEmpty()) {
            var _ = clear(lane, route, folder);
            made = makeFolder(lane, folder);
        }
        return made.orElseThrow(() -> inTheWay(folder));
    }

    /** Records that this process has just created the root itself. */
    void rootIsNew() {
        known.put(FilePath.ROOT, CompletableFuture.completedFuture(true));
    }

    /**
     * Returns whether this process has created this folder or one above it, so that it contains only what this process
     * put there.
     */
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

    /** Returns whether the folder was created now; empty if something else has its name. */
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
     * Returns whether the file with the final name already has the verified content: a run died between rename and
     * record, or the lane between request and answer, or the source changed only the file's mode or time.
     */
    private boolean settleStanding(
            Lane lane, FilePath temporary, FilePath finalName, Digest proven, @Nullable SiteFacts facts, boolean shared)
            throws RemoteException, InterruptedException {
        Optional<RemoteFacts> standing = lane.sftp().lstat(finalName);
        Optional<RemoteFacts> fresh = lane.sftp().lstat(temporary);
        if (standing.isEmpty() || standing.get().kind() != Kind.FILE) {
            return false;
        }
        if (fresh.isPresent() && fresh.get().sizeBytes() != standing.get().sizeBytes()) {
            return false;
        }
        // NB: the same file may be an earlier version, whose facts must stay.
        if (shared && facts != null && !facts.areOf(standing.get())) {
            return false;
        }
        if (!hasContent(lane, finalName, standing.get(), proven)) {
            return false;
        }
        if (facts != null && !shared) {
            facts.set(lane, finalName);
        }
        if (fresh.isPresent()) {
            lane.sftp().remove(temporary);
        }
        return true;
    }

    /** Returns whether a file at the site has this digest, computed there now. */
    boolean hasContent(Lane lane, FilePath name, RemoteFacts there, Digest proven)
            throws RemoteException, InterruptedException {
        return Objects.equals(
                site.digests(lane, List.of(name), there.sizeBytes()).get(name), proven);
    }

    /**
     * Gives a stored file another name. If a file with the same content and facts has that name, it stays: this was done
     * before, or it was sent as a file of its own.
     */
    void hardLink(Lane lane, Route route, FilePath stored, FilePath name, Digest proven, SiteFacts facts)
            throws RemoteException, InterruptedException {
        makeFolders(lane, route, name.parent());
        for (int i = 0; i < TRIES; i++) {
            try {
                lane.sftp().hardLink(stored, name);
                return;
            } catch (RemoteException e) {
                if (e.reason() != Reason.EXISTS) {
                    throw e;
                }
            }
            listed.requireOwn(lane, name);
            Optional<RemoteFacts> standing = lane.sftp().lstat(name);
            if (standing.isPresent() && facts.areOf(standing.get()) && hasContent(lane, name, standing.get(), proven)) {
                return;
            }
            var _ = clear(lane, route, name);
        }
        throw inTheWay(name);
    }

    /**
     * Creates the folders of these names at the same time, as far as possible; for the others, each name fails later.
     *
     * @return the folders that exist
     */
    Set<FilePath> makeFoldersOf(Engine engine, Route route, Collection<FilePath> names)
            throws RemoteException, InterruptedException {
        Set<FilePath> folders = names.stream().map(FilePath::parent).collect(Collectors.toSet());
        return engine.workers().which(folders, folder -> {
            try {
                engine.lanes().doOver(lane -> makeFolders(lane, route, folder));
                return true;
            } catch (RemoteException e) {
                if (e.retryable()) {
                    throw e;
                }
                return false;
            }
        });
    }

    /** Records that folders below this one may have been removed. */
    void forget(FilePath folder) {
        known.keySet().removeIf(each -> each.startsWith(folder));
    }

    /** Moves what has this name aside, if anything does. Returns where it is now. */
    Optional<FilePath> putAside(Lane lane, Route route, FilePath name) throws RemoteException, InterruptedException {
        return lane.sftp().lstat(name).isPresent() ? clear(lane, route, name) : Optional.empty();
    }

    /** Frees a name, if the route says how. Returns where what had it is now. */
    private Optional<FilePath> clear(Lane lane, Route route, FilePath name)
            throws RemoteException, InterruptedException {
        return keepVersion(lane, route, route.versions().orElseThrow(() -> inTheWay(name)), name);
    }

    /** Moves what has a name to the versions, under the same path, with {@code ~2}, {@code ~3} … if that is in use. */
    private Optional<FilePath> keepVersion(Lane lane, Route route, FilePath versions, FilePath name)
            throws RemoteException, InterruptedException {
        if (!name.startsWith(route.top()) || name.equals(route.top())) {
            throw inTheWay(name);
        }
        FilePath kept = versions.resolve(name.below(route.top()));
        makeFolders(lane, route, kept.parent());
        for (int i = 1; i <= VERSIONS_MAX; i++) {
            FilePath free = kept.parent().resolve(numbered(kept.name(), i));
            // A rename keeps an existing file or folder; it may replace a dangling link.
            if (lane.sftp().lstat(free).isPresent()) {
                continue;
            }
            try {
                lane.sftp().rename(name, free);
                listed.movedAside(name);
                // It may have been a folder with folders in it.
                forget(name);
                return Optional.of(free);
            } catch (RemoteException e) {
                if (e.reason() == Reason.NO_SUCH_FILE && lane.sftp().lstat(name).isEmpty()) {
                    return Optional.empty();
                }
                if (e.reason() != Reason.EXISTS) {
                    throw e;
                }
            }
        }
        throw inTheWay(kept);
    }

    /** Renames a version back to its final name if that is free. Returns whether it was renamed. */
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

    /** Returns the name of the first, second, third … version: {@code x}, {@code x~2}, {@code x~3} …. */
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
                Reason.REFUSED,
                "the name %s is in use at the site and could not be freed; check it there".formatted(name));
    }
}
