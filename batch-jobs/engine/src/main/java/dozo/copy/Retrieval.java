package dozo.copy;

import static java.util.Objects.requireNonNull;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.copy.Destination.Refused;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lane;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.SiteAddress;
import dozo.send.OtherPlaces;
import dozo.send.SiteFolders;
import dozo.send.Throttle;
import dozo.source.OpenFolder;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The engine of restores: takes entries, and restores each into a folder as the manifest describes it. A file gets its
 * name only if its bytes have their verified digest, from whatever place at the site they come. Nothing here is
 * overwritten; files that are equal already are kept. Nothing outside the folder is written, whatever names occur.
 *
 * <p>Not thread-safe: files are fetched concurrently, but added by one thread, after their folders.
 */
public final class Retrieval implements AutoCloseable {

    /** Units in progress: some are fetched, some are verified. */
    private static final int UNDER_WAY_MAX = 12;

    /** How long a file may wait for its name while others arrive. */
    private static final long NAME_AFTER_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** setuid, setgid and sticky. */
    private static final int SPECIAL_BITS = 07000;

    /** How many entries whose time is lost are findings of their own; the others are counted. */
    private static final int TIMES_NAMED_MAX = 100;

    private final SiteFolders folders;
    private final Lanes lanes;
    private final Throttle throttle;
    private final Tally tally = new Tally();
    private final Units<Expected> units = new Units<>(UNDER_WAY_MAX, this::fetch);

    /** The number of entries that can never be restored there because their paths would be too long. */
    private final LongAdder tooLong = new LongAdder();

    /** Names of hard link groups that are files of their own here. */
    private final LongAdder unlinked = new LongAdder();

    /** Names of hard link groups beyond the limit. */
    private final LongAdder ungrouped = new LongAdder();

    /** The limit of groups, once it is reached. */
    private volatile int groupsMax;

    /** Entries whose setuid, setgid or sticky bit this file system did not take. */
    private final LongAdder bitsLost = new LongAdder();

    /** Entries whose time this file system, or Dozo, cannot store. */
    private final LongAdder timesLost = new LongAdder();

    private final Rights rights;
    private @Nullable FileLock lock;
    private @Nullable LocalTree local;
    private volatile @Nullable SiteFiles site;
    private volatile @Nullable OtherPlaces otherPlaces;

    /** The folder checked last: entries of a folder come together. */
    private FilePath checked = FilePath.ROOT;

    private record Expected(Found file, Digest digest) {}

    /** Why a place does not provide the file. */
    private record Miss(Problem problem, String message) {}

    /** Creates a retrieval from these folders at a site. */
    public Retrieval(SiteAddress site, SiteFolders folders, Options options) {
        this.folders = folders;
        this.lanes = options.lanesTo(site);
        this.throttle = new Throttle(options.limitBytesPerSecond());
        this.rights = new Rights(options.owners());
    }

    /** A question about the folder that is filled. */
    public interface Check {

        /** Returns whether it is so. */
        boolean holds() throws InterruptedException;
    }

    /**
     * Begins to fill a folder, which must be new or empty, or filled before with the same key.
     *
     * @param isTopName whether a coming entry has this name at the top: temporary files use another name
     * @param isComplete whether everything is in the folder already
     * @throws IOException if it contains something else, or is being filled
     */
    public void begin(
            Path target, String key, Predicate<FilePath> isTopName, Check isComplete, Consumer<Finding> findings)
            throws IOException, InterruptedException {
        lock = RunningCopies.lockFolder(target);
        FilePath temporary = Incoming.name(key, isTopName::test);
        if (!LocalTree.isNew(target, temporary) && !isComplete.holds()) {
            throw new IOException("%s is not empty; choose an empty or new folder".formatted(target));
        }
        begin(LocalTree.open(target, temporary, rights), findings);
    }

    /**
     * Begins to fill a folder that is held open; see {@link #mayFill}.
     *
     * @param target its path
     * @throws IOException if it is being filled
     */
    public void begin(
            OpenFolder held, Path target, String key, Predicate<FilePath> isTopName, Consumer<Finding> findings)
            throws IOException, InterruptedException {
        lock = RunningCopies.lockFolder(target);
        begin(LocalTree.open(held, Incoming.name(key, isTopName::test), rights), findings);
    }

    /** Returns whether a folder may be filled with this key: it does not exist, is empty, or was begun with it. */
    public static boolean mayFill(Path target, String key, Predicate<FilePath> isTopName) throws IOException {
        try {
            return LocalTree.isNew(target, Incoming.name(key, isTopName::test));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while looking into " + target);
        }
    }

    private void begin(LocalTree tree, Consumer<Finding> findings) throws IOException, InterruptedException {
        tally.tell(findings);
        local = tree;
        site = new SiteFiles(lanes, RemoteDigest.readOnly(lanes.next()), throttle);
    }

    /** Counts an entry that is to come. */
    public void count(Entry entry) {
        tally.found(entry.facts().sizeBytes());
    }

    /** Records that all entries have been counted. */
    public void counted() {
        tally.counted();
    }

    /** Reports an entry that has no copy to restore from. */
    public void missing(Entry entry, Problem problem, String message) {
        tally.failed(found(entry, FilePath.ROOT), problem, message);
    }

    /** Reports something about a restore as a whole, or about what it was asked for. */
    public void finding(FilePath path, Problem problem, String message) {
        tally.finding(path, problem, message);
    }

    /** Creates a folder. */
    public void folder(Entry entry) throws IOException {
        inFolder(entry, FilePath.ROOT, folder -> local().makeFolder(folder.local()));
    }

    /** Fetches a file, now or soon. */
    public void file(Entry entry, FilePath place, Digest digest) throws IOException, InterruptedException {
        Found[] wanted = new Found[1];
        inFolder(entry, place, file -> wanted[0] = file);
        if (wanted[0] != null) {
            units.add(new Expected(wanted[0], digest), entry.facts().sizeBytes());
        }
    }

    /** Waits until all files added so far have arrived or failed. */
    public void awaitFiles() throws IOException, InterruptedException {
        units.end();
    }

    /** Stops fetching, and returns when nothing is written any more. */
    public void stopFiles() {
        units.close();
    }

    /** Creates a link. Only after all files have arrived, so that none is written through it. */
    public void link(Entry entry) throws IOException {
        byte[] text = requireNonNull(entry.facts().linkTarget());
        inFolder(entry, FilePath.ROOT, link -> {
            local().newLink(text, link);
            verified(link);
        });
    }

    /**
     * Creates a hard link to a file that has arrived. Returns false if it has not, or no link is possible; then the file
     * is to be fetched.
     */
    public boolean hardLink(FilePath first, Entry entry) throws IOException {
        boolean[] missing = new boolean[1];
        inFolder(entry, FilePath.ROOT, file -> {
            local().checkFolders(first.parent());
            if (local().newHardLink(first, file.local())) {
                tally.verified(file);
            } else {
                missing[0] = true;
                if (local().isFile(first)) {
                    unlinked.increment();
                }
            }
        });
        return !missing[0];
    }

    /**
     * Sets a folder's owner, mode and time: after everything in it has arrived, and after the folders in it are finished if
     * its mode denies us access.
     */
    public void finishFolder(Entry entry) throws IOException {
        if (local().isTooLong(entry.path())) {
            // Reported when it could not be created.
            return;
        }
        inFolder(entry, FilePath.ROOT, folder -> {
            verified(local().finishFolder(folder));
        });
    }

    /**
     * Ends the restore. If every possible entry has arrived, all temporary files and folders are removed. Otherwise an
     * empty folder remains, by which the same restore recognises that it may continue.
     */
    public void end() throws IOException {
        reportFacts();
        Progress progress = progress();
        if (progress.entriesVerified() + tooLong.sum() == progress.entries()) {
            local().incoming().end();
        } else {
            local().incoming().clear();
        }
    }

    /** Counts a name of a hard link group beyond a limit: it is a file of its own. */
    public void ungrouped(int groupsMax) {
        this.groupsMax = groupsMax;
        ungrouped.increment();
    }

    private void reportFacts() {
        if (ungrouped.sum() > 0) {
            tally.finding(
                    FilePath.ROOT,
                    Problem.NOT_SET,
                    "%d names of hard links are files of their own: only the first %d groups are linked; restore the others separately"
                            .formatted(ungrouped.sum(), groupsMax));
        }
        reportFacts(
                unlinked.sum(),
                "%d names of hard links are files of their own: the folder's file system refused the links");
        rights.lost().forEach(lost -> reportFacts(lost.entries(), lost.format()));
        reportFacts(bitsLost.sum(), "setuid, setgid or sticky could not be set on %d folders or files");
        reportFacts(
                timesLost.sum() - TIMES_NAMED_MAX, "%d more modification times are outside of what can be stored here");
    }

    @SuppressWarnings("AnnotateFormatMethod") // each format has one number
    private void reportFacts(long entries, String format) {
        if (entries > 0) {
            tally.finding(FilePath.ROOT, Problem.NOT_SET, format.formatted(entries));
        }
    }

    public Progress progress() {
        SiteFiles from = site;
        return tally.progress(from == null ? 0 : from.bytesMoved(), lanes.open());
    }

    /** Returns when the first content byte arrived, by {@link System#nanoTime}; null: none has. */
    public @Nullable Long firstByteAt() {
        SiteFiles from = site;
        return from == null ? null : from.firstByteAt();
    }

    @Override
    public void close() {
        units.close();
        lanes.close();
        if (local != null) {
            local.close();
        }
        try {
            if (lock != null) {
                lock.close();
            }
        } catch (IOException e) {
            throw new IllegalStateException("a lock that cannot be given up", e);
        }
    }

    private interface Deed {
        void with(Found found) throws IOException, Refused;
    }

    /** Works on an entry after checking its folder; a refusal is a finding. */
    private void inFolder(Entry entry, FilePath place, Deed deed) throws IOException {
        Found found = found(entry, place);
        try {
            FilePath folder = found.local().parent();
            if (!folder.equals(checked)) {
                local().checkFolders(folder);
                checked = folder;
            }
            deed.with(found);
        } catch (Refused e) {
            refused(found, e);
        }
    }

    /** A file under its temporary name. */
    private record Arrived(Found file, Path temporary) {}

    /**
     * Files that have arrived. They get their names together, after one sync; from time to time, so that little is fetched again if
     * a slow restore is cut off.
     */
    private final class Arrivals {

        private final Queue<Arrived> waiting = new ConcurrentLinkedQueue<>();
        private final ReentrantLock naming = new ReentrantLock();
        private volatile long namedAt = System.nanoTime();

        void add(Arrived one) throws IOException, InterruptedException {
            waiting.add(one);
            if (System.nanoTime() - namedAt > NAME_AFTER_NANOS && naming.tryLock()) {
                try {
                    nameAll();
                } finally {
                    naming.unlock();
                }
            }
        }

        void nameAll() throws IOException, InterruptedException {
            namedAt = System.nanoTime();
            List<Arrived> synced = new ArrayList<>();
            for (Arrived one = waiting.poll(); one != null; one = waiting.poll()) {
                synced.add(one);
            }
            if (synced.isEmpty()) {
                return;
            }
            local().sync();
            for (Arrived one : synced) {
                name(one);
            }
        }
    }

    private void fetch(List<Expected> files) throws IOException, InterruptedException {
        Arrivals arrived = new Arrivals();
        Set<Expected> together = fetchTogether(files, arrived);
        try (Crew crew = new Crew()) {
            for (Expected file : files) {
                if (!together.contains(file)) {
                    crew.start(() -> fetch(file, arrived));
                }
            }
            crew.join();
        }
        arrived.nameAll();
    }

    /** Fetches files as one archive. Returns those that have arrived; what is wrong with the others is found one by one. */
    private Set<Expected> fetchTogether(List<Expected> files, Arrivals arrived)
            throws IOException, InterruptedException {
        Map<FilePath, Expected> absent = new LinkedHashMap<>();
        for (Expected file : files) {
            if (!Units.isLarge(file.file.facts().sizeBytes()) && local().isFree(file.file.local())) {
                absent.put(file.file.remote(), file);
            }
        }
        Set<Expected> come = new HashSet<>();
        requireNonNull(site)
                .readTogether(
                        List.copyOf(absent.keySet()),
                        absent.values().stream()
                                .mapToLong(wanted -> wanted.file.facts().sizeBytes())
                                .sum(),
                        (place, sizeBytes, content) -> {
                            Expected wanted = requireNonNull(absent.get(place));
                            if (sizeBytes == wanted.file.facts().sizeBytes() && arrives(wanted, content, arrived)) {
                                come.add(wanted);
                            }
                        });
        return come;
    }

    private boolean arrives(Expected wanted, SiteFiles.Content content, Arrivals arrived)
            throws IOException, InterruptedException {
        return keep(wanted.file, wanted.digest, arrived, temporary -> {
                    MessageDigest read = Digest.algorithm();
                    content.into((bytes, at, length, offset) -> {
                        read.update(bytes, at, length);
                        temporary.write(bytes, at, length, offset);
                    });
                    return Digest.of(read.digest());
                })
                .isEmpty();
    }

    /** Writes a file's content, and returns its digest. */
    private interface Reader {
        Digest into(LocalFile temporary) throws IOException, InterruptedException;
    }

    /** Reads a file, and keeps it if it has this digest. Returns the digest that it has instead; empty: it was kept. */
    private Optional<Digest> keep(Found file, Digest wanted, Arrivals arrived, Reader reader)
            throws IOException, InterruptedException {
        try (LocalFile temporary = local().incoming().create(file)) {
            Digest read;
            try {
                read = reader.into(temporary);
            } catch (RemoteException e) {
                local().incoming().discard(temporary.path());
                throw e;
            }
            if (!wanted.equals(read)) {
                local().incoming().discard(temporary.path());
                return Optional.of(read);
            }
            temporary.fit(file);
            Found given = local().give(temporary, file);
            local().finish(temporary, given);
            arrived.add(new Arrived(given, temporary.path()));
            return Optional.empty();
        }
    }

    private void fetch(Expected wanted, Arrivals arrived) throws IOException, InterruptedException {
        Found file = wanted.file;
        try {
            local().checkWay(file.local());
            if (local().standing(file).filter(wanted.digest::equals).isPresent()) {
                verified(local().setFacts(file));
                return;
            }
            local().checkFree(file.local());
            Optional<Miss> miss = tryPlace(wanted, file.remote(), arrived);
            if (miss.isPresent() && !isElsewhere(wanted, arrived)) {
                tally.failed(file, miss.get().problem, miss.get().message);
            }
        } catch (Refused e) {
            refused(file, e);
        }
    }

    private boolean isElsewhere(Expected wanted, Arrivals arrived) throws IOException, InterruptedException {
        for (FilePath place : otherPlaces(wanted.file.remote())) {
            if (!place.equals(wanted.file.remote())
                    && tryPlace(wanted, place, arrived).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    private List<FilePath> otherPlaces(FilePath place) throws IOException, InterruptedException {
        try {
            return lanes.over(lane -> otherPlaces(lane).of(lane, place));
        } catch (RemoteException e) {
            // Reported for the place where the copy should be.
            var _ = missed(place, e);
            return List.of();
        }
    }

    private OtherPlaces otherPlaces(Lane lane) throws IOException, InterruptedException {
        OtherPlaces known = otherPlaces;
        if (known == null) {
            known = OtherPlaces.at(lane, folders);
            otherPlaces = known;
        }
        return known;
    }

    /** Fetches a copy from a place, and keeps it if it is the file. Returns empty if it is. */
    private Optional<Miss> tryPlace(Expected wanted, FilePath place, Arrivals arrived)
            throws IOException, InterruptedException {
        Found file = wanted.file.at(place);
        SiteFiles from = requireNonNull(site);
        try {
            return keep(file, wanted.digest, arrived, temporary -> read(from, file, temporary))
                    .map(read -> new Miss(
                            Problem.MISMATCHED,
                            "%s: checksum mismatch: the copy %s at the site has digest %s instead of the verified %s"
                                    .formatted(file.path(), place, read, wanted.digest)));
        } catch (RemoteException e) {
            return Optional.of(missed(place, e));
        }
    }

    private static Digest read(SiteFiles from, Found file, LocalFile temporary)
            throws IOException, InterruptedException {
        if (Units.isLarge(file.facts().sizeBytes())) {
            return new LargeFetch(from, file, temporary).run();
        }
        Digest[] digest = new Digest[1];
        from.withLeave(() -> digest[0] = content(from, file, temporary));
        return requireNonNull(digest[0]);
    }

    private void name(Arrived arrived) throws IOException {
        try {
            local().publishNew(arrived.temporary, arrived.file.local());
            verified(arrived.file);
        } catch (Refused e) {
            local().incoming().discard(arrived.temporary);
            refused(arrived.file, e);
        }
    }

    /** Counts an entry, and facts of it that this file system did not take. Only unusual ones are looked at. */
    private void verified(Found found) throws IOException, Refused {
        long seconds = seconds(found.modifiedNanos());
        if ((found.mode() & SPECIAL_BITS) != 0 || seconds < 0 || seconds > Integer.MAX_VALUE) {
            Facts now = local().facts(found.local());
            if (found.facts().kind() != Kind.LINK && (now.mode() & SPECIAL_BITS) != (found.mode() & SPECIAL_BITS)) {
                bitsLost.increment();
            }
            boolean outOfRange = seconds == seconds(Long.MAX_VALUE) || seconds == seconds(Long.MIN_VALUE);
            if (outOfRange || now.modifiedNanos() != found.modifiedNanos()) {
                timeLost(found, now);
            }
        }
        tally.verified(found);
    }

    private void timeLost(Found found, Facts now) {
        timesLost.increment();
        if (timesLost.sum() <= TIMES_NAMED_MAX) {
            tally.finding(
                    found.path(),
                    Problem.NOT_SET,
                    "%s: its time of modification, %s, cannot be stored here and is %s now"
                            .formatted(found.path(), instant(found.modifiedNanos()), instant(now.modifiedNanos())));
        }
    }

    private static Instant instant(long nanos) {
        return Instant.ofEpochSecond(0, nanos);
    }

    static long seconds(long nanos) {
        return Math.floorDiv(nanos, TimeUnit.SECONDS.toNanos(1));
    }

    private static Digest content(SiteFiles from, Found file, LocalFile temporary)
            throws IOException, InterruptedException {
        MessageDigest read = Digest.algorithm();
        long sizeBytes = file.facts().sizeBytes();
        // Also reads an empty file, to check that it exists.
        from.read(file.remote(), 0, Math.max(1, sizeBytes), read::reset, (bytes, at, length, offset) -> {
            read.update(bytes, at, length);
            temporary.write(bytes, at, length, offset);
        });
        return Digest.of(read.digest());
    }

    /** Returns the problem of one place; rethrows any other failure. */
    private static Miss missed(FilePath place, RemoteException e) throws RemoteException {
        return switch (e.reason()) {
            case NO_SUCH_FILE ->
                new Miss(Problem.VANISHED, place + ": the copy no longer exists, and no other copy was found");
            case EXISTS, PERMISSION_DENIED, REFUSED, UNSUPPORTED ->
                new Miss(
                        Problem.UNREADABLE,
                        "%s: the copy at the site cannot be read: %s".formatted(place, e.getMessage()));
            case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, STUCK, READ_ONLY, FULL, PROTOCOL -> throw e;
        };
    }

    private void refused(Found found, Refused why) {
        if (local().isTooLong(found.local())) {
            tooLong.increment();
        }
        tally.failed(found, Problem.DESTINATION_REFUSED, String.valueOf(why.getMessage()));
    }

    private LocalTree local() {
        return requireNonNull(local, "not begun");
    }

    private static Found found(Entry entry, FilePath place) {
        var facts = entry.facts();
        RemoteFacts wanted = new RemoteFacts(
                kind(facts.kind()), facts.sizeBytes(), facts.mode(), seconds(facts.modifiedNanos()), -1, -1);
        return new Found(
                entry.path(),
                place,
                entry.path(),
                wanted,
                facts.modifiedNanos(),
                facts.mode(),
                facts.owner(),
                facts.attributes());
    }

    private static Kind kind(EntryKind kind) {
        return switch (kind) {
            case FILE -> Kind.FILE;
            case DIRECTORY -> Kind.DIRECTORY;
            case LINK -> Kind.LINK;
        };
    }
}
