package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.Spool;
import dozo.remote.Challenge;
import dozo.remote.Lanes;
import dozo.remote.Patience;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.Sftp;
import dozo.remote.SiteCache;
import dozo.source.Listings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads stored copies again and reports of each whether it is in its verified state. Uses no database. Thread-safe:
 * several callers keep several commands at the site busy.
 *
 * <p>A copy counts as damaged only after a second look, over another lane and, for files up to a limit, by reading the
 * bytes back: an answer that is incomplete, wrong or lost is not damage, and never a pass.
 */
public final class SiteReader {

    /** Files up to this size are read back for the second look; larger ones are digested at the site again. */
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

        /** Returns whether its name does not exist. */
        default boolean missing() {
            return this instanceof Damaged(var copy, var kind, var found, var message) && kind == DamageKind.MISSING;
        }

        /** The copy is in its verified state. */
        record AsProven(SiteCopy copy) implements Seen {}

        /**
         * The copy is not in its verified state, as two looks have shown.
         *
         * @param found its current digest; null if there are no bytes
         */
        record Damaged(
                SiteCopy copy, DamageKind kind, @Nullable Digest found, String message) implements Seen {}

        /** The state is unknown: the site gave no digest, or contradicting ones. */
        record Unknown(SiteCopy copy, String message) implements Seen {}
    }

    /** Receives what is in a folder; called by one thread. */
    public interface Listing {
        void take(FilePath path, RemoteFacts facts);
    }

    SiteReader(Lanes lanes, Workers workers, KnownSite site) throws RemoteException, InterruptedException {
        this(lanes, workers, site, site.cache());
    }

    private SiteReader(Lanes lanes, Workers workers, KnownSite site, Optional<SiteCache> cache)
            throws RemoteException, InterruptedException {
        this.lanes = lanes;
        this.workers = workers;
        this.site = site;
        this.digest = site.digest();
        this.cache = cache;
    }

    /** Returns a reader of a site where nothing may be written; the caller closes the lanes. */
    public static SiteReader readOnly(Lanes lanes, Patience patience) throws RemoteException, InterruptedException {
        RemoteDigest digest = lanes.over(RemoteDigest::readOnly);
        return new SiteReader(lanes, new Workers(lanes), KnownSite.readOnly(digest, patience), Optional.empty());
    }

    /** Returns how copies are read, for the evidence. */
    public String method() {
        return digest.method();
    }

    /**
     * Drops these copies from the site's memory. Returns whether all of them are gone from it, so that the site's disk
     * is read next.
     */
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
     * @throws RemoteException if the site as a whole cannot be used; the copies then have no result
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

    /**
     * Turns a pass into unknown if the site's command gave no digest of the file, although reading it back succeeded:
     * the evidence names one method.
     */
    private Seen answered(Seen seen, Map<FilePath, Digest> said) {
        boolean passed = seen instanceof Seen.AsProven && seen.copy().kind() == EntryKind.FILE;
        return passed && !said.containsKey(seen.copy().path())
                ? new Seen.Unknown(seen.copy(), "reads back correctly, but the site returned no digest by " + method())
                : seen;
    }

    /** Checks copies one by one, including their kind: only a regular file can pass for one. */
    public List<Seen> lookAt(List<SiteCopy> copies) throws RemoteException, InterruptedException {
        Map<SiteCopy, Seen> seen = workers.each(copies, copy -> look(copy, null));
        return copies.stream().map(copy -> requireNonNull(seen.get(copy))).toList();
    }

    /**
     * Searches for missing copies among everything kept of the experiment: a run may have moved them aside before it
     * died. Among the versions, another copy may have the name. A copy found elsewhere by its digest is in its verified state.
     */
    public List<Seen> search(SiteFolders folders, List<Seen> seen) throws RemoteException, InterruptedException {
        return search(folders, seen, false);
    }

    /**
     * Searches likewise.
     *
     * @param replaced whether also a copy in the bag may have been replaced without the caller's knowledge
     */
    public List<Seen> search(SiteFolders folders, List<Seen> seen, boolean replaced)
            throws RemoteException, InterruptedException {
        List<SiteCopy> wanted = seen.stream()
                .filter(one -> one instanceof Seen.Damaged
                        && one.copy().kind() != EntryKind.DIRECTORY
                        && (one.missing() || replaced || !one.copy().standing()))
                .map(Seen::copy)
                .toList();
        if (wanted.isEmpty()) {
            return seen;
        }
        OtherPlaces places = lanes.over(lane -> OtherPlaces.at(lane, folders));
        Set<SiteCopy> elsewhere =
                workers.which(wanted, copy -> elsewhere(places, copy).isPresent());
        return seen.stream()
                .map(one -> elsewhere.contains(one.copy()) ? new Seen.AsProven(one.copy()) : one)
                .toList();
    }

    /**
     * Returns copies that should be in the bag and are missing there, but were moved aside by a run that died, with
     * their current places; and missing folders, with their own paths.
     */
    Map<SiteCopy, FilePath> movedAside(SiteFolders folders, List<SiteCopy> standing)
            throws RemoteException, InterruptedException {
        Map<SiteCopy, FilePath> aside = new LinkedHashMap<>();
        Set<SiteCopy> there = workers.which(
                standing,
                copy -> lanes.over(lane -> lane.sftp().lstat(copy.path())).isPresent());
        List<SiteCopy> missing =
                standing.stream().filter(copy -> !there.contains(copy)).toList();
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

    /** Lists everything below a folder, without following links; nothing if it does not exist. */
    public void list(FilePath folder, Listing listing) throws RemoteException, InterruptedException {
        new SiteListing(lanes).into(folder, listing);
    }

    /** Reports what is below a folder as if it were a source, see {@link SiteWalk}. */
    public void walk(FilePath folder, Listings listings) throws IOException, InterruptedException {
        new SiteWalk(lanes, workers, folder, listings).run();
    }

    /** Returns the content of a file, see {@link Sftp#content}; the caller closes it. */
    public Spool content(FilePath file, long bytesMax) throws IOException, InterruptedException {
        return lanes.over(lane -> lane.sftp().content(file, bytesMax));
    }

    /** Returns the beginnings of these files, up to a length; nothing of one that does not exist or cannot be read. */
    public Map<FilePath, byte[]> contents(Collection<FilePath> files, int bytesMax)
            throws RemoteException, InterruptedException {
        return workers.each(files, file -> {
            try {
                return lanes.over(lane -> {
                    ByteArrayOutputStream content = new ByteArrayOutputStream();
                    lane.sftp().read(file, 0, bytesMax, content::write);
                    return content.toByteArray();
                });
            } catch (RemoteException e) {
                if (e.retryable()) {
                    throw e;
                }
                return new byte[0];
            } catch (IOException e) {
                throw new UncheckedIOException("memory does not fail", e);
            }
        });
    }

    /** Returns the site's digests of ranges of a file, see {@link RemoteDigest#ranges}. */
    Map<Integer, Digest> ranges(FilePath file, long rangeBytes, Collection<Integer> numbers)
            throws RemoteException, InterruptedException {
        return lanes.over(lane -> digest.ranges(lane, file, rangeBytes, numbers));
    }

    /**
     * The site's answers to challenges.
     *
     * @param method how they were computed, as text for the evidence
     * @param why why none came; empty: the site answered, perhaps not every challenge
     */
    public record Answers(String method, Map<Challenge, Digest> digests, String why) {}

    /**
     * Asks the site challenges. One without an answer in time is left out: nothing is known about it. If the connection is lost, no
     * answer counts, and none is asked again: the site would have had the time until then.
     *
     * @throws RemoteException if the site as a whole cannot be used
     */
    public Answers answers(List<Challenge> challenges) throws RemoteException, InterruptedException {
        String method = lanes.over(digest::answering);
        Duration limit = site.patience()
                .of(
                        challenges.size(),
                        challenges.stream().mapToLong(Challenge::length).sum());
        long began = System.nanoTime();
        try {
            Map<Challenge, Digest> digests = lanes.over(lane -> digest.answers(lane, challenges));
            return System.nanoTime() - began <= limit.toNanos()
                    ? new Answers(method, digests, "")
                    : new Answers(
                            method, Map.of(), "the answers did not come within %d s".formatted(limit.toSeconds()));
        } catch (RemoteException e) {
            return new Answers(method, Map.of(), String.valueOf(e.getMessage()));
        }
    }

    /**
     * Fetches a whole copy, and returns the right answers to challenges about it by what was fetched.
     *
     * @return empty: it cannot be read, or does not have the digest in its receipt
     * @throws RemoteException if the site as a whole cannot be used
     */
    public Optional<Map<Challenge, Digest>> fetchedAnswers(SiteCopy copy, List<Challenge> challenges)
            throws RemoteException, InterruptedException {
        try {
            return lanes.over(lane -> {
                RightAnswers answers = new RightAnswers(challenges);
                lane.sftp().read(copy.path(), 0, copy.sizeBytes() + 1, answers::take);
                return answers.of(copy.digest());
            });
        } catch (RemoteException e) {
            var _ = problem(e);
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("memory does not fail", e);
        }
    }

    /** Returns bytes of a file, as far as it reaches. */
    byte[] bytes(FilePath file, long offset, int length) throws IOException, InterruptedException {
        return lanes.over(lane -> {
            ByteArrayOutputStream content = new ByteArrayOutputStream(length);
            lane.sftp().read(file, offset, length, content::write);
            return content.toByteArray();
        });
    }

    /** Returns what is in a folder, by path; nothing if it does not exist. */
    public Map<FilePath, RemoteFacts> names(FilePath folder) throws RemoteException, InterruptedException {
        return lanes.over(lane -> {
            Map<FilePath, RemoteFacts> names = new LinkedHashMap<>();
            try {
                lane.sftp().listToKeep(folder, names::put);
            } catch (RemoteException e) {
                if (e.reason() != Reason.NO_SUCH_FILE) {
                    throw e;
                }
            }
            return names;
        });
    }

    /**
     * Returns the problem of one file or folder at a site.
     *
     * @throws RemoteException the same, if it concerns the whole site
     */
    public static Problem problem(RemoteException e) throws RemoteException {
        return switch (e.reason()) {
            case NO_SUCH_FILE -> Problem.VANISHED;
            case EXISTS, PERMISSION_DENIED, REFUSED, UNSUPPORTED -> Problem.UNREADABLE;
            case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, STUCK, READ_ONLY, FULL, PROTOCOL -> throw e;
        };
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

    /** Returns where else a copy is, recognised by its digest. */
    private Optional<FilePath> elsewhere(OtherPlaces places, SiteCopy copy)
            throws RemoteException, InterruptedException {
        for (FilePath path : lanes.over(lane -> places.of(lane, copy.path()))) {
            if (look(copy.at(path), null) instanceof Seen.AsProven) {
                return Optional.of(path);
            }
        }
        return Optional.empty();
    }

    private Seen look(SiteCopy copy, @Nullable Digest first) throws RemoteException, InterruptedException {
        try {
            Optional<RemoteFacts> there = lanes.over(lane -> lane.sftp().lstat(copy.path()));
            if (there.isEmpty()) {
                return new Seen.Damaged(copy, DamageKind.MISSING, null, "no longer exists");
            }
            Kind kind = there.get().kind();
            if (kind != SiteFacts.kind(copy.kind())) {
                return new Seen.Damaged(copy, DamageKind.REPLACED, null, "is no longer of the same kind: " + kind);
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

    /** Takes the second look: one file, over another lane, and by reading its bytes back if it is not too large. */
    private Seen lookAtBytes(SiteCopy copy, @Nullable Digest first, long sizeBytes)
            throws RemoteException, InterruptedException {
        RemoteDigest second = sizeBytes <= READ_BACK_BYTES_MAX ? readBack : digest;
        List<FilePath> alone = List.of(copy.path());
        Digest found = lanes.over(lane -> second.equals(readBack)
                        ? readBack.digests(lane, alone, sizeBytes)
                        : site.digests(lane, alone, sizeBytes))
                .get(copy.path());
        if (found == null) {
            return new Seen.Unknown(copy, "exists, but the site returned no digest");
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
                "has digest %s and %d bytes instead of the verified %s and %d bytes; check the site's disks"
                        .formatted(found, sizeBytes, copy.digest(), copy.sizeBytes()));
    }

    private Seen lookAtTarget(SiteCopy copy) throws RemoteException, InterruptedException {
        Digest found = Digest.ofContent(lanes.over(lane -> lane.sftp().readlink(copy.path())));
        return found.equals(copy.digest())
                ? new Seen.AsProven(copy)
                : new Seen.Damaged(copy, DamageKind.RELINKED, found, "is a link with another target");
    }
}
