package dozo.copy;

import static java.util.Objects.requireNonNull;

import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.remote.SiteAddress;
import dozo.send.SiteFolders;
import dozo.source.DirectoryTree;
import dozo.source.OpenFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Restores one manifest of an experiment, or what is selected of it, into a folder: its content is then what the source contained
 * when the manifest was sealed, byte for byte, with names, modes, times to the nanosecond, hard links, ACLs and extended attributes; and with owners, if they are wanted
 * and this process may set them. Entries that cannot be restored
 * are reported by name. A restore that was interrupted is completed by running it again.
 *
 * <p>What is selected of the inventory is read three times, a page at a time: folders and files; then links, so that nothing is
 * ever written through one; then the modes and times of folders, which creating files in them would change. The places of copies are
 * needed only the first time, unless there are hard links. Only folders whose mode denies us access are kept in memory.
 */
public final class Restore implements Copy {

    /** The name, or its begin, of the folders below {@code aside} with what a restore in place has put aside. */
    public static final String PUT_ASIDE = "put-aside";

    /** The limit of known hard link groups; files of further groups are restored one by one. */
    private static final int HARD_LINK_GROUPS_MAX = 100_000;

    /** The mode of a folder whose owner may read, write and enter it. */
    private static final int OPEN = 0700;

    private final ManifestPart part;
    private final Path target;
    private final Options options;
    private final Tally tally = new Tally(Copy.Proofs.NONE);
    private final Retrieval retrieval;
    private final Map<Long, Item> hardLinks = new HashMap<>();

    /** Names of hard link groups beyond the limit. */
    private long ungrouped;

    /**
     * Creates a restore of a manifest of {@code project/experiment} from a site.
     *
     * @param selection what is restored; everything keeps its path below the target
     * @param target a folder that does not exist or is empty, or that an earlier run of the same restore left, also one that was
     *     complete: then everything is verified
     */
    public Restore(
            Inventory inventory,
            String experiment,
            int manifest,
            Selection selection,
            SiteAddress site,
            Path target,
            Options options) {
        this.part = new ManifestPart(inventory, experiment, manifest, selection);
        this.target = target.toAbsolutePath().normalize();
        this.options = options;
        this.retrieval = new Retrieval(site, SiteFolders.of(experiment), options, tally);
    }

    @Override
    public Progress run(Consumer<Finding> findings) throws IOException, InterruptedException {
        tally.tell(findings);
        part.select();
        if (options.dryRun()) {
            part.entries(this::count);
            tally.counted();
            return progress();
        }
        retrieval.begin(target, key(), part::isTopName, this::isComplete);
        part.reportUnmatched(tally::finding);
        return bringBack();
    }

    /**
     * Restores into the target, which is held open: nothing else is filled, wherever its path leads meanwhile. Nothing is
     * written there after this has returned or thrown.
     *
     * @param held may be filled: {@link #mayFill}
     */
    public Progress run(OpenFolder held, Consumer<Finding> findings) throws IOException, InterruptedException {
        tally.tell(findings);
        part.select();
        try {
            retrieval.begin(held, target, key(), part::isTopName);
            part.reportUnmatched(tally::finding);
            return bringBack();
        } finally {
            retrieval.stopFiles();
        }
    }

    /**
     * Restores into the source of the experiment, or what is left of it. What stands there with the same bytes, size and time is left
     * untouched. What differs is put aside once its successor is verified: renamed to its own path below {@link #PUT_ASIDE}. A name
     * that is not in the manifest is left alone.
     *
     * @param held the source's folder
     * @param aside a folder on the same file system, outside of the source, which nobody else may enter
     * @throws IOException if nothing can be put aside there, or the restore cannot go on
     */
    public Progress runInPlace(OpenFolder held, OpenFolder aside, Consumer<Finding> findings)
            throws IOException, InterruptedException {
        tally.tell(findings);
        part.select();
        try {
            retrieval.beginInPlace(held, target, aside, key());
            part.reportUnmatched(tally::finding);
            return bringBack();
        } finally {
            retrieval.stopFiles();
        }
    }

    /** Returns whether a folder may be the target: it does not exist, is empty, or this restore left it. */
    public boolean mayFill(Path folder) throws IOException {
        return Retrieval.mayFill(folder, key(), part::isTopName);
    }

    /** Returns whether there may be something to restore: a pattern, or a path that the manifest has. */
    public boolean mayMatch() {
        return part.mayMatch();
    }

    /**
     * Returns whether everything is there, as far as kinds, sizes and times tell: then no other content can be mixed with it. A
     * restore that was killed just after its end leaves no other sign.
     */
    private boolean isComplete() throws InterruptedException {
        // Folders alone may be anybody's.
        boolean[] hasFile = new boolean[1];
        return part.all(entry -> {
                    hasFile[0] |= entry.facts().kind() == EntryKind.FILE;
                    return stands(entry);
                })
                && hasFile[0];
    }

    private boolean stands(Entry entry) {
        Facts wanted = entry.facts();
        try {
            Facts there = DirectoryTree.facts(entry.path().under(target));
            return there.kind() == wanted.kind()
                    && (wanted.kind() != EntryKind.FILE
                            || (there.sizeBytes() == wanted.sizeBytes()
                                    && Retrieval.seconds(there.modifiedNanos())
                                            == Retrieval.seconds(wanted.modifiedNanos())));
        } catch (IOException absent) {
            return false;
        }
    }

    private Progress bringBack() throws IOException, InterruptedException {
        part.items(this::first);
        tally.counted();
        retrieval.awaitFiles();
        if (hardLinks.isEmpty()) {
            part.entries(this::link);
        } else {
            part.items(this::second);
            retrieval.awaitFiles();
        }
        finishFolders();
        reportUngrouped();
        retrieval.end();
        return progress();
    }

    @Override
    public Progress progress() {
        return retrieval.progress();
    }

    /** Returns when the first content byte arrived, by {@link System#nanoTime}; null: none has. */
    public @Nullable Long firstByteAt() {
        return retrieval.firstByteAt();
    }

    @Override
    public void close() {
        retrieval.close();
    }

    private void count(Entry entry) {
        tally.found(entry.facts().sizeBytes());
    }

    private void first(Item item) throws IOException, InterruptedException {
        Entry entry = item.entry();
        count(entry);
        switch (entry.facts().kind()) {
            case DIRECTORY -> retrieval.folder(entry);
            case FILE -> {
                if (firstOfGroup(item).equals(item)) {
                    fetch(item);
                    countUngrouped(item);
                }
            }
            case LINK -> {}
        }
    }

    private void second(Item item) throws IOException, InterruptedException {
        Entry entry = item.entry();
        if (entry.facts().kind() != EntryKind.FILE) {
            link(entry);
            return;
        }
        Item first = firstOfGroup(item);
        if (!first.entry().equals(entry) && !retrieval.hardLink(first.entry().path(), entry)) {
            fetchAsFirst(item);
        }
    }

    private void link(Entry entry) throws IOException {
        if (entry.facts().kind() == EntryKind.LINK) {
            retrieval.link(entry);
        }
    }

    /** Fetches a file that cannot become a hard link to the first of its group; the next ones can become links to it. */
    private void fetchAsFirst(Item item) throws IOException, InterruptedException {
        fetch(item);
        retrieval.awaitFiles();
        hardLinks.put(requireNonNull(item.entry().facts().hardLink()), item);
    }

    private void fetch(Item item) throws IOException, InterruptedException {
        StoredCopy copy = item.copy();
        if (copy == null) {
            retrieval.missing(
                    item.entry(),
                    Problem.UNPROVEN,
                    item.entry().path() + ": was never verified at the site, so there is no copy to restore");
        } else {
            retrieval.file(item.entry(), copy.place(), copy.digest());
        }
    }

    /**
     * Returns the file that this one becomes a hard link to: itself, unless an earlier one was the same file at the
     * source.
     */
    private Item firstOfGroup(Item item) {
        Long inode = item.entry().facts().hardLink();
        if (inode == null || item.copy() == null) {
            return item;
        }
        Item first = hardLinks.get(inode);
        if (first == null && hardLinks.size() < HARD_LINK_GROUPS_MAX) {
            hardLinks.put(inode, item);
        }
        return first != null && isSame(first, item) ? first : item;
    }

    /** Counts a name of a group that is not known: its other names become files of their own. */
    private void countUngrouped(Item item) {
        Long inode = item.entry().facts().hardLink();
        if (inode != null && item.copy() != null && !hardLinks.containsKey(inode)) {
            ungrouped++;
        }
    }

    private void reportUngrouped() {
        if (ungrouped > 0) {
            tally.finding(
                    FilePath.ROOT,
                    Problem.NOT_SET,
                    "%d names of hard links are files of their own: only the first %d groups are linked; restore the others separately"
                            .formatted(ungrouped, hardLinks.size()));
        }
    }

    /** Two file systems may use the same numbers, and a file may have been changed between two looks. */
    private static boolean isSame(Item one, Item other) {
        return one.copy() != null
                && other.copy() != null
                && one.copy().digest().equals(other.copy().digest())
                && one.entry().facts().sameContentAs(other.entry().facts())
                && one.entry().facts().mode() == other.entry().facts().mode();
    }

    private void finishFolders() throws IOException, InterruptedException {
        List<Entry> closed = new ArrayList<>();
        part.entries(entry -> {
            if (entry.facts().kind() != EntryKind.DIRECTORY) {
                return;
            }
            if ((entry.facts().mode() & OPEN) == OPEN) {
                retrieval.finishFolder(entry);
            } else {
                closed.add(entry);
            }
        });
        // The deepest first: a folder comes after its parents.
        for (Entry folder : closed.reversed()) {
            retrieval.finishFolder(folder);
        }
    }

    private String key() {
        return part.key(FilePath.rawBytes(target));
    }
}
