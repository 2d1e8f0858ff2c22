package dozo.copy;

import static java.util.Objects.requireNonNull;

import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.copy.Destination.Refused;
import dozo.copy.RetrievedFiles.Expected;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteFacts;
import dozo.remote.SiteAddress;
import dozo.send.SiteFacts;
import dozo.send.SiteFolders;
import dozo.send.Throttle;
import dozo.source.OpenFolder;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The engine of restores: takes entries, and restores each into a folder as the manifest describes it. A file gets its
 * name only if its bytes have their verified digest, from whatever place at the site they come. Nothing here is
 * overwritten; files that are equal already are kept. Nothing outside the folder is written, whatever names occur.
 *
 * <p>Not thread-safe: files are fetched concurrently, but added by one thread, after their folders.
 */
final class Retrieval implements AutoCloseable {

    /** Units in progress: some are fetched, some are verified. */
    private static final int UNDER_WAY_MAX = 12;

    private final SiteFolders folders;
    private final Lanes lanes;
    private final Throttle throttle;
    private final Tally tally;
    private final Units<Expected> units = new Units<>(UNDER_WAY_MAX, unit -> files().fetch(unit));
    private final Rights rights;
    private final LostFacts lost;
    private @Nullable FileLock lock;
    private @Nullable LocalTree local;
    private volatile @Nullable RetrievedFiles files;

    /** The folder checked last: entries of a folder come together. */
    private FilePath checked = FilePath.ROOT;

    /** Creates a retrieval from these folders at a site. */
    Retrieval(SiteAddress site, SiteFolders folders, Options options, Tally tally) {
        this.tally = tally;
        this.folders = folders;
        this.lanes = options.lanesTo(site);
        this.throttle = new Throttle(options.limitBytesPerSecond());
        this.rights = new Rights(options.owners());
        this.lost = new LostFacts(tally, rights);
    }

    /** A question about the folder that is filled. */
    interface Check {
        boolean holds() throws InterruptedException;
    }

    /**
     * Begins to fill a folder, which must be new or empty, or filled before with the same key.
     *
     * @param isTopName whether a coming entry has this name at the top: temporary files use another name
     * @param isComplete whether everything is in the folder already
     * @throws IOException if it contains something else, or is being filled
     */
    void begin(Path target, String key, Predicate<FilePath> isTopName, Check isComplete)
            throws IOException, InterruptedException {
        lock = RunningCopies.lockFolder(target);
        FilePath temporary = Incoming.name(key, isTopName::test);
        if (!LocalTree.isNew(target, temporary) && !isComplete.holds()) {
            throw new IOException("%s is not empty; choose an empty or new folder".formatted(target));
        }
        begin(LocalTree.open(target, temporary, rights));
    }

    /**
     * Begins to fill a folder that is held open; see {@link #mayFill}.
     *
     * @param target its path
     * @throws IOException if it is being filled
     */
    void begin(OpenFolder held, Path target, String key, Predicate<FilePath> isTopName)
            throws IOException, InterruptedException {
        lock = RunningCopies.lockFolder(target);
        begin(LocalTree.open(held, Incoming.name(key, isTopName::test), rights));
    }

    /**
     * Begins to restore into a folder that people use, and that is held open.
     *
     * @param target its path
     * @param aside an open folder, which nobody else may enter, for what is put aside
     * @throws IOException if another restore fills it, or nothing can be put aside there
     */
    void beginInPlace(OpenFolder held, Path target, OpenFolder aside, String key)
            throws IOException, InterruptedException {
        lock = RunningCopies.lockFolder(target);
        begin(LocalTree.openInPlace(held, aside, Incoming.name(key, _ -> false), rights));
    }

    /** Returns whether a folder may be filled with this key: it does not exist, is empty, or was begun with it. */
    static boolean mayFill(Path target, String key, Predicate<FilePath> isTopName) throws IOException {
        try {
            return LocalTree.isNew(target, Incoming.name(key, isTopName::test));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while looking into " + target);
        }
    }

    private void begin(LocalTree tree) throws IOException, InterruptedException {
        local = tree;
        SiteFiles site = new SiteFiles(lanes, RemoteDigest.readOnly(lanes.next()), throttle);
        files = new RetrievedFiles(folders, lanes, site, tree, tally, lost);
    }

    /** Reports an entry that has no copy to restore from. */
    void missing(Entry entry, Problem problem, String message) {
        tally.failed(found(entry, FilePath.ROOT), problem, message);
    }

    /** Creates a folder. */
    void folder(Entry entry) throws IOException {
        inFolder(entry, FilePath.ROOT, folder -> local().makeFolder(folder.local()));
    }

    /** Fetches a file, now or soon. */
    void file(Entry entry, FilePath place, Digest digest) throws IOException, InterruptedException {
        Found[] wanted = new Found[1];
        inFolder(entry, place, file -> wanted[0] = file);
        if (wanted[0] != null) {
            units.add(new Expected(wanted[0], digest), entry.facts().sizeBytes());
        }
    }

    /** Waits until all files added so far have arrived or failed. */
    void awaitFiles() throws IOException, InterruptedException {
        units.end();
    }

    /** Stops fetching, and returns when nothing is written any more. */
    void stopFiles() {
        units.close();
    }

    /** Creates a link. Only after all files have arrived, so that none is written through it. */
    void link(Entry entry) throws IOException {
        byte[] text = requireNonNull(entry.facts().linkTarget());
        inFolder(entry, FilePath.ROOT, link -> {
            local().newLink(text, link);
            lost.verified(local(), link);
        });
    }

    /**
     * Creates a hard link to a file that has arrived. Returns false if it has not, or no link is possible; then the file
     * is to be fetched.
     */
    boolean hardLink(FilePath first, Entry entry) throws IOException {
        boolean[] missing = new boolean[1];
        inFolder(entry, FilePath.ROOT, file -> {
            local().checkFolders(first.parent());
            if (local().newHardLink(first, file.local())) {
                tally.verified(file);
            } else {
                missing[0] = true;
                if (local().isFile(first)) {
                    lost.unlinked();
                }
            }
        });
        return !missing[0];
    }

    /**
     * Sets a folder's owner, mode and time: after everything in it has arrived, and after the folders in it are finished if
     * its mode denies us access.
     */
    void finishFolder(Entry entry) throws IOException {
        if (local().isTooLong(entry.path())) {
            // Reported when it could not be created.
            return;
        }
        inFolder(entry, FilePath.ROOT, folder -> lost.verified(local(), local().finishFolder(folder)));
    }

    /**
     * Ends the restore. If every possible entry has arrived, all temporary files and folders are removed. Otherwise an
     * empty folder remains, by which the same restore recognises that it may continue.
     */
    void end() throws IOException, InterruptedException {
        local().syncNames();
        lost.report();
        Progress progress = progress();
        if (progress.entriesVerified() + lost.tooLong() == progress.entries()) {
            local().incoming().end();
        } else {
            local().incoming().clear();
        }
    }

    Progress progress() {
        RetrievedFiles begun = files;
        return tally.progress(begun == null ? 0 : begun.bytesMoved(), lanes.open());
    }

    /** Returns when the first content byte arrived, by {@link System#nanoTime}; null: none has. */
    @Nullable
    Long firstByteAt() {
        RetrievedFiles begun = files;
        return begun == null ? null : begun.firstByteAt();
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
            lost.refused(local(), found, e);
        }
    }

    static long seconds(long nanos) {
        return Math.floorDiv(nanos, TimeUnit.SECONDS.toNanos(1));
    }

    private LocalTree local() {
        return requireNonNull(local, "not begun");
    }

    private RetrievedFiles files() {
        return requireNonNull(files, "not begun");
    }

    private static Found found(Entry entry, FilePath place) {
        var facts = entry.facts();
        RemoteFacts wanted = new RemoteFacts(
                SiteFacts.kind(facts.kind()), facts.sizeBytes(), facts.mode(), seconds(facts.modifiedNanos()), -1, -1);
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
}
