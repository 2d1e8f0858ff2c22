package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.SiteCache;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads stored copies again and says of each whether it is as it was proven. Knows no database. Thread-safe: several callers keep
 * several commands at the site busy.
 *
 * <p>Nothing is damage before it was looked at twice, the second time over another lane and, where that is affordable, by reading
 * the bytes back: an answer that is short, wrong or lost is not damage, and never a pass.
 */
public final class SiteReader {

    /** A file is read back for the second look up to here; a larger one is digested at the site again. */
    private static final long READ_BACK_BYTES_MAX = 64 << 20;

    private final Lanes lanes;
    private final Workers workers;
    private final KnownSite site;
    private final RemoteDigest digest;
    private final Optional<SiteCache> cache;
    private final RemoteDigest readBack = RemoteDigest.readBack();

    /** What is known of a copy after reading it. */
    public sealed interface Seen {

        SiteCopy copy();

        /** Whether nothing has its name. */
        default boolean missing() {
            return this instanceof Damaged(var copy, var kind, var found, var message) && kind == DamageKind.MISSING;
        }

        /** It is as it was proven. */
        record AsProven(SiteCopy copy) implements Seen {}

        /**
         * It is not, and was looked at twice.
         *
         * @param found the digest it has now; null where there are no bytes
         */
        record Damaged(
                SiteCopy copy, DamageKind kind, @Nullable Digest found, String message) implements Seen {}

        /** Nobody knows: the site did not say, or said two things. */
        record Unknown(SiteCopy copy, String message) implements Seen {}
    }

    /** Takes what lies in a folder; called by one thread. */
    public interface Listing {
        void take(FilePath path, RemoteFacts facts);
    }

    SiteReader(Lanes lanes, Workers workers, KnownSite site) throws RemoteException, InterruptedException {
        this.lanes = lanes;
        this.workers = workers;
        this.site = site;
        this.digest = site.digest();
        this.cache = site.cache();
    }

    /** How copies are read; goes into the evidence. */
    public String method() {
        return digest.method();
    }

    /** Has the site drop these copies from its memory; whether all of them are gone from it, so that its disk is read next. */
    public boolean drop(List<SiteCopy> copies) throws RemoteException, InterruptedException {
        List<FilePath> files = files(copies);
        if (cache.isEmpty() || files.isEmpty()) {
            return false;
        }
        try {
            return lanes.over(lane -> cache.get().drop(lane, files, bytes(copies)));
        } catch (RemoteException e) {
            if (e.reason() != Reason.STUCK) {
                throw e;
            }
            return false;
        }
    }

    /**
     * Reads copies.
     *
     * @return what is known of each, in their order
     * @throws RemoteException when the site as a whole cannot be used; nothing is then said of any of them
     */
    public List<Seen> read(List<SiteCopy> copies) throws RemoteException, InterruptedException {
        List<FilePath> files = files(copies);
        Map<SiteCopy, Seen> seen = new HashMap<>();
        Map<FilePath, Digest> first = Map.of();
        try {
            first = files.isEmpty() ? first : lanes.over(lane -> site.digests(lane, files, bytes(copies)));
        } catch (RemoteException e) {
            if (e.reason() != Reason.STUCK) {
                throw e;
            }
            copies.stream()
                    .filter(copy -> copy.kind() == EntryKind.FILE)
                    .forEach(copy -> seen.put(copy, new Seen.Unknown(copy, "could not be read: " + e.getMessage())));
        }
        List<SiteCopy> toLookAt = new ArrayList<>();
        for (SiteCopy copy : copies) {
            Digest found = copy.kind() == EntryKind.FILE ? first.get(copy.path()) : null;
            if (found != null && found.equals(copy.digest())) {
                seen.put(copy, new Seen.AsProven(copy));
            } else if (!seen.containsKey(copy)) {
                toLookAt.add(copy);
            }
        }
        Map<FilePath, Digest> said = first;
        seen.putAll(workers.each(toLookAt, copy -> answered(look(copy, said.get(copy.path())), said)));
        return copies.stream().map(copy -> requireNonNull(seen.get(copy))).toList();
    }

    /** A file of which the site's command said nothing is not read, whatever is found by reading it back: the evidence names one way. */
    private Seen answered(Seen seen, Map<FilePath, Digest> said) {
        boolean passed = seen instanceof Seen.AsProven && seen.copy().kind() == EntryKind.FILE;
        return passed && !said.containsKey(seen.copy().path())
                ? new Seen.Unknown(
                        seen.copy(),
                        "has the right bytes when read back, but the site gave no digest of it by " + method())
                : seen;
    }

    /** Looks at copies one by one, and at what kind of thing they are: nothing else than a regular file can pass for one. */
    public List<Seen> lookAt(List<SiteCopy> copies) throws RemoteException, InterruptedException {
        Map<SiteCopy, Seen> seen = workers.each(copies, copy -> look(copy, null));
        return copies.stream().map(copy -> requireNonNull(seen.get(copy))).toList();
    }

    /**
     * Looks for what is missing elsewhere among what is kept of the experiment: a night that died may have moved it aside. What is
     * found there, with its digest, is as it was proven.
     */
    public List<Seen> search(SiteFolders folders, List<Seen> seen) throws RemoteException, InterruptedException {
        List<SiteCopy> missing = seen.stream()
                .filter(one -> one.missing() && one.copy().kind() != EntryKind.DIRECTORY)
                .map(Seen::copy)
                .toList();
        if (missing.isEmpty()) {
            return seen;
        }
        OtherPlaces places = lanes.over(lane -> OtherPlaces.at(lane, folders));
        Map<SiteCopy, Seen> elsewhere = workers.each(missing, copy -> lookElsewhere(places, copy));
        return seen.stream().map(one -> elsewhere.getOrDefault(one.copy(), one)).toList();
    }

    /**
     * Of copies that should stand in the bag and are not there, those that were moved aside by a night that died, with the place where
     * they lie; and folders that are not there, with their own.
     */
    Map<SiteCopy, FilePath> movedAside(SiteFolders folders, List<SiteCopy> standing)
            throws RemoteException, InterruptedException {
        Map<SiteCopy, FilePath> aside = new LinkedHashMap<>();
        Map<SiteCopy, Seen> there = workers.each(
                standing,
                copy -> lanes.over(lane -> lane.sftp().lstat(copy.path())).isPresent()
                        ? new Seen.AsProven(copy)
                        : new Seen.Unknown(copy, "is not there"));
        List<SiteCopy> missing = standing.stream()
                .filter(copy -> there.get(copy) instanceof Seen.Unknown)
                .toList();
        if (missing.isEmpty()) {
            return aside;
        }
        OtherPlaces places = lanes.over(lane -> OtherPlaces.at(lane, folders));
        for (SiteCopy copy : missing) {
            Optional<FilePath> lies =
                    copy.kind() == EntryKind.DIRECTORY ? Optional.of(copy.path()) : elsewhere(places, copy);
            lies.ifPresent(path -> aside.put(copy, path));
        }
        return aside;
    }

    /** Names everything below a folder, and nothing where it is not there; a link is not followed. */
    public void list(FilePath folder, Listing listing) throws RemoteException, InterruptedException {
        new SiteListing(lanes, folder).into(listing);
    }

    /** What lies in a folder, by name; nothing where it is not there. */
    public Map<FilePath, RemoteFacts> names(FilePath folder) throws RemoteException, InterruptedException {
        return lanes.over(lane -> {
            Map<FilePath, RemoteFacts> names = new LinkedHashMap<>();
            try {
                lane.sftp().list(folder, names::put);
            } catch (RemoteException e) {
                if (e.reason() != Reason.NO_SUCH_FILE) {
                    throw e;
                }
            }
            return names;
        });
    }

    private static List<FilePath> files(List<SiteCopy> copies) {
        return copies.stream()
                .filter(copy -> copy.kind() == EntryKind.FILE)
                .map(SiteCopy::path)
                .toList();
    }

    private static long bytes(List<SiteCopy> copies) {
        return copies.stream().mapToLong(SiteCopy::sizeBytes).sum();
    }

    private Seen lookElsewhere(OtherPlaces places, SiteCopy copy) throws RemoteException, InterruptedException {
        return elsewhere(places, copy).isPresent()
                ? new Seen.AsProven(copy)
                : new Seen.Damaged(copy, DamageKind.MISSING, null, "is not there any more");
    }

    /** Where else a copy lies, which its digest says. */
    private Optional<FilePath> elsewhere(OtherPlaces places, SiteCopy copy)
            throws RemoteException, InterruptedException {
        for (FilePath path : lanes.over(lane -> places.of(lane, copy.name()))) {
            SiteCopy there = new SiteCopy(
                    copy.entryNumber(),
                    copy.kind(),
                    copy.name(),
                    path,
                    copy.digest(),
                    copy.sizeBytes(),
                    copy.standing());
            if (look(there, null) instanceof Seen.AsProven) {
                return Optional.of(path);
            }
        }
        return Optional.empty();
    }

    private Seen look(SiteCopy copy, @Nullable Digest first) throws RemoteException, InterruptedException {
        try {
            Optional<RemoteFacts> there = lanes.over(lane -> lane.sftp().lstat(copy.path()));
            if (there.isEmpty()) {
                return new Seen.Damaged(copy, DamageKind.MISSING, null, "is not there any more");
            }
            Kind kind = there.get().kind();
            if (kind != kindOf(copy.kind())) {
                return new Seen.Damaged(copy, DamageKind.REPLACED, null, "is something else now: " + kind);
            }
            return switch (copy.kind()) {
                case FILE -> lookAtBytes(copy, first, there.get().sizeBytes());
                case LINK -> lookAtTarget(copy);
                case DIRECTORY -> new Seen.AsProven(copy);
            };
        } catch (RemoteException e) {
            return switch (e.reason()) {
                case NO_SUCH_FILE, EXISTS, PERMISSION_DENIED, REFUSED, UNSUPPORTED, STUCK ->
                    new Seen.Unknown(copy, "cannot be read: " + e.getMessage());
                case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, READ_ONLY, FULL, PROTOCOL -> throw e;
            };
        }
    }

    /** The second look: alone, over another lane, and by the bytes themselves where they are not too many. */
    private Seen lookAtBytes(SiteCopy copy, @Nullable Digest first, long sizeBytes)
            throws RemoteException, InterruptedException {
        RemoteDigest second = sizeBytes <= READ_BACK_BYTES_MAX ? readBack : digest;
        List<FilePath> alone = List.of(copy.path());
        Digest found = lanes.over(lane -> second.equals(readBack)
                        ? readBack.digests(lane, alone, sizeBytes)
                        : site.digests(lane, alone, sizeBytes))
                .get(copy.path());
        if (found == null) {
            return new Seen.Unknown(copy, "is there, but the site gave no digest of it");
        }
        if (found.equals(copy.digest())) {
            return first == null
                    ? new Seen.AsProven(copy)
                    : new Seen.Unknown(
                            copy,
                            "the site reported two digests of it: %2$s by %1$s, and then the right one by %3$s; do not trust its command"
                                    .formatted(digest.method(), first, second.method()));
        }
        DamageKind kind = sizeBytes < copy.sizeBytes() ? DamageKind.TRUNCATED : DamageKind.ALTERED;
        return new Seen.Damaged(
                copy,
                kind,
                found,
                "has the digest %s and %d bytes, and was proven with %s and %d; look at the site's disks"
                        .formatted(found, sizeBytes, copy.digest(), copy.sizeBytes()));
    }

    private Seen lookAtTarget(SiteCopy copy) throws RemoteException, InterruptedException {
        Digest found = Digest.ofContent(lanes.over(lane -> lane.sftp().readlink(copy.path())));
        return found.equals(copy.digest())
                ? new Seen.AsProven(copy)
                : new Seen.Damaged(copy, DamageKind.RELINKED, found, "is a link with another target");
    }

    private static Kind kindOf(EntryKind kind) {
        return switch (kind) {
            case FILE -> Kind.FILE;
            case LINK -> Kind.LINK;
            case DIRECTORY -> Kind.DIRECTORY;
        };
    }
}
