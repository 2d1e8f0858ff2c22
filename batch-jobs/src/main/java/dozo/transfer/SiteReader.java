package dozo.transfer;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.SiteCache;
import dozo.verify.Copies.Copy;
import dozo.verify.Damages.DamageKind;
import dozo.verify.SiteFolders;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Reads stored copies again and says of each whether it is as it was proven. Knows no database. Thread-safe: several callers keep
 * several commands at the site busy.
 *
 * <p>Nothing is damage before it was looked at twice, the second time over another lane and, where that is affordable, by reading
 * the bytes back: an answer that is short, wrong or lost is not damage, and never a pass.
 */
public final class SiteReader {

    /** How often something is tried on another lane when one dies under it. */
    private static final int TRIES = 3;

    /** A file is read back for the second look up to here; a larger one is digested at the site again. */
    private static final long READ_BACK_BYTES_MAX = 64 << 20;

    private final Lanes lanes;
    private final RemoteDigest digest;
    private final Optional<SiteCache> cache;
    private final RemoteDigest readBack = RemoteDigest.readBack();

    /** What is known of a copy after reading it. */
    public sealed interface Seen {

        Copy copy();

        /** It is as it was proven. */
        record AsProven(Copy copy) implements Seen {}

        /**
         * It is not, and was looked at twice.
         *
         * @param found the digest it has now; null where there are no bytes
         */
        record Damaged(Copy copy, DamageKind kind, @Nullable Digest found, String message) implements Seen {}

        /** Nobody knows: the site did not say, or said two things. */
        record Unknown(Copy copy, String message) implements Seen {}
    }

    private interface Work<T> {
        T over(Lane lane) throws IOException, InterruptedException;
    }

    private interface Look {
        Seen at(Copy copy) throws RemoteException, InterruptedException;
    }

    /** Takes what lies in a folder; called by one thread. */
    public interface Listing {
        void take(FilePath path, RemoteFacts facts);
    }

    /**
     * @param digest how digests are computed there
     * @param cache what has the site forget what it keeps of files in memory
     */
    SiteReader(Lanes lanes, RemoteDigest digest, Optional<SiteCache> cache) {
        this.lanes = lanes;
        this.digest = digest;
        this.cache = cache;
    }

    /** How copies are read; goes into the evidence. */
    public String method() {
        return digest.method();
    }

    /** Has the site drop these copies from its memory; whether all of them are gone from it, so that its disk is read next. */
    public boolean drop(List<Copy> copies) throws RemoteException, InterruptedException {
        List<FilePath> files = files(copies);
        return cache.isPresent() && !files.isEmpty() && over(lane -> cache.get().drop(lane, files));
    }

    /**
     * Reads copies.
     *
     * @return what is known of each, in their order
     * @throws RemoteException when the site as a whole cannot be used; nothing is then said of any of them
     */
    public List<Seen> read(List<Copy> copies) throws RemoteException, InterruptedException {
        List<FilePath> files = files(copies);
        Map<FilePath, Digest> first = files.isEmpty() ? Map.of() : over(lane -> digest.digests(lane, files));
        Map<Copy, Seen> seen = new HashMap<>();
        List<Copy> toLookAt = new ArrayList<>();
        for (Copy copy : copies) {
            Digest found = copy.kind() == EntryKind.FILE ? first.get(copy.path()) : null;
            if (found != null && found.equals(copy.digest())) {
                seen.put(copy, new Seen.AsProven(copy));
            } else {
                toLookAt.add(copy);
            }
        }
        seen.putAll(each(toLookAt, copy -> look(copy, first.get(copy.path()))));
        return copies.stream().map(copy -> requireNonNull(seen.get(copy))).toList();
    }

    /** Looks at copies one by one, and at what kind of thing they are: nothing else than a regular file can pass for one. */
    public List<Seen> lookAt(List<Copy> copies) throws RemoteException, InterruptedException {
        Map<Copy, Seen> seen = each(copies, copy -> look(copy, null));
        return copies.stream().map(copy -> requireNonNull(seen.get(copy))).toList();
    }

    /**
     * Looks for what is missing elsewhere among what is kept of the experiment: a night that died may have moved it aside. What is
     * found there, with its digest, is as it was proven.
     */
    public List<Seen> search(SiteFolders folders, List<Seen> seen) throws RemoteException, InterruptedException {
        List<Copy> missing = seen.stream()
                .filter(one -> one instanceof Seen.Damaged(var copy, var kind, var found, var message)
                        && kind == DamageKind.MISSING
                        && copy.kind() != EntryKind.DIRECTORY)
                .map(Seen::copy)
                .toList();
        if (missing.isEmpty()) {
            return seen;
        }
        OtherPlaces places = over(lane -> OtherPlaces.at(lane, folders));
        Map<Copy, Seen> elsewhere = each(missing, copy -> lookElsewhere(places, copy));
        return seen.stream().map(one -> elsewhere.getOrDefault(one.copy(), one)).toList();
    }

    /** Names everything below a folder, and nothing where it is not there; a link is not followed. */
    public void list(FilePath folder, Listing listing) throws RemoteException, InterruptedException {
        new SiteListing(lanes, folder).into(listing);
    }

    /** What lies in a folder, by name; nothing where it is not there. */
    public Map<FilePath, RemoteFacts> names(FilePath folder) throws RemoteException, InterruptedException {
        return over(lane -> {
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

    private static List<FilePath> files(List<Copy> copies) {
        return copies.stream()
                .filter(copy -> copy.kind() == EntryKind.FILE)
                .map(Copy::path)
                .toList();
    }

    private Map<Copy, Seen> each(List<Copy> copies, Look look) throws RemoteException, InterruptedException {
        Map<Copy, Future<Seen>> running = new LinkedHashMap<>();
        Map<Copy, Seen> seen = new HashMap<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            try {
                for (Copy copy : copies) {
                    running.put(copy, threads.submit(() -> {
                        lanes.files().acquire();
                        try {
                            return look.at(copy);
                        } finally {
                            lanes.files().release();
                        }
                    }));
                }
                for (Map.Entry<Copy, Future<Seen>> one : running.entrySet()) {
                    seen.put(one.getKey(), join(one.getValue()));
                }
            } finally {
                running.values().forEach(one -> one.cancel(true));
            }
        }
        return seen;
    }

    private Seen lookElsewhere(OtherPlaces places, Copy copy) throws RemoteException, InterruptedException {
        for (FilePath path : over(lane -> places.of(lane, copy.name()))) {
            Copy there = new Copy(
                    copy.entryNumber(),
                    copy.kind(),
                    copy.name(),
                    path,
                    copy.digest(),
                    copy.sizeBytes(),
                    copy.standing());
            if (look(there, null) instanceof Seen.AsProven) {
                return new Seen.AsProven(copy);
            }
        }
        return new Seen.Damaged(copy, DamageKind.MISSING, null, "is not there any more");
    }

    private Seen look(Copy copy, @Nullable Digest first) throws RemoteException, InterruptedException {
        try {
            Optional<RemoteFacts> there = over(lane -> lane.sftp().lstat(copy.path()));
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
                case NO_SUCH_FILE, EXISTS, PERMISSION_DENIED, REFUSED, UNSUPPORTED ->
                    new Seen.Unknown(copy, "cannot be read: " + e.getMessage());
                case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, READ_ONLY, FULL, PROTOCOL -> throw e;
            };
        }
    }

    /** The second look: alone, over another lane, and by the bytes themselves where they are not too many. */
    private Seen lookAtBytes(Copy copy, @Nullable Digest first, long sizeBytes)
            throws RemoteException, InterruptedException {
        RemoteDigest second = sizeBytes <= READ_BACK_BYTES_MAX ? readBack : digest;
        Digest found = over(lane -> second.digests(lane, List.of(copy.path()))).get(copy.path());
        if (found == null) {
            return new Seen.Unknown(copy, "is there, but the site gave no digest of it");
        }
        if (found.equals(copy.digest())) {
            return first == null
                    ? new Seen.AsProven(copy)
                    : new Seen.Unknown(
                            copy,
                            "the site told two digests of it, by %s %s and then by %s the right one; do not trust its command"
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

    private Seen lookAtTarget(Copy copy) throws RemoteException, InterruptedException {
        Digest found = Digest.ofContent(over(lane -> lane.sftp().readlink(copy.path())));
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

    /** Does it on a lane, and again on another one when the lane dies under it. */
    private <T> T over(Work<T> work) throws RemoteException, InterruptedException {
        for (int i = 1; ; i++) {
            try {
                return work.over(lanes.next());
            } catch (RemoteException e) {
                if (!e.retryable() || i == TRIES) {
                    throw e;
                }
            } catch (IOException e) {
                throw new IllegalStateException("only the site throws IOException here", e);
            }
        }
    }

    private static <T> T join(Future<T> running) throws RemoteException, InterruptedException {
        try {
            return running.get();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RemoteException site -> throw site;
                case InterruptedException stopped -> throw stopped;
                case RuntimeException bug -> throw bug;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException(e.getCause());
            }
        }
    }
}
