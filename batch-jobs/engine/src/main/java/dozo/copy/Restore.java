package dozo.copy;

import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.SiteAddress;
import dozo.send.SiteFolders;
import dozo.source.OpenFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Brings one manifest of an experiment back into a folder: what stands there then is what the source held when the manifest was
 * sealed, byte for byte, with names, modes, times to the nanosecond and hard links. What cannot be had is told by name. Run again
 * after it was cut off, it finishes the rest.
 *
 * <p>The inventory is gone through three times, a page at a time: folders and files; then links, so that nothing is ever written
 * through one; then the folders' modes and times, which what is made in them would change. Only folders that their mode closes to
 * us wait in memory.
 */
public final class Restore implements Copy {

    private static final int PAGE = 500;

    /** Groups of hard links that are known as such; files of any further ones are brought back one by one. */
    private static final int HARD_LINK_GROUPS_MAX = 100_000;

    private static final int KEY_BYTES = 8;

    /** Longer names no file system has. */
    private static final int NAME_BYTES_MAX = 255;

    /** A folder whose owner may read, write and enter it. */
    private static final int OPEN = 0700;

    private final Inventory inventory;
    private final String name;
    private final Path target;
    private final Options options;
    private final Retrieval retrieval;
    private final Map<Long, Item> hardLinks = new HashMap<>();

    /** Does something with an item. */
    private interface Deed {
        void with(Item item) throws IOException, InterruptedException;
    }

    /**
     * A restore of a manifest of {@code project/experiment} from a site.
     *
     * @param target a folder that is not there yet, or empty, or what an earlier run of the same restore left
     */
    public Restore(
            Inventory inventory, String experiment, int manifest, SiteAddress site, Path target, Options options) {
        this.inventory = inventory;
        this.name = experiment + "#" + manifest;
        this.target = target.toAbsolutePath().normalize();
        this.options = options;
        this.retrieval = new Retrieval(site, SiteFolders.of(experiment), options);
    }

    @Override
    public Progress run(Consumer<Finding> findings) throws IOException, InterruptedException {
        if (options.dryRun()) {
            each(item -> retrieval.count(item.entry()));
            retrieval.counted();
            return progress();
        }
        retrieval.begin(target, key(), this::isTopName, findings);
        return bringBack();
    }

    /**
     * Restores into the target, which is held open: whatever its path leads to meanwhile, nothing else is filled.
     *
     * @param held may be filled: {@link #mayFill}
     */
    public Progress run(OpenFolder held, Consumer<Finding> findings) throws IOException, InterruptedException {
        retrieval.begin(held, key(), this::isTopName, findings);
        return bringBack();
    }

    /** Whether a folder, as far as it is there, may be the target: it is empty, or what this restore left. */
    public boolean mayFill(Path folder) throws IOException {
        return Retrieval.mayFill(folder, key(), this::isTopName);
    }

    private Progress bringBack() throws IOException, InterruptedException {
        each(this::first);
        retrieval.counted();
        retrieval.awaitFiles();
        each(this::second);
        retrieval.awaitFiles();
        finishFolders();
        retrieval.end();
        return progress();
    }

    @Override
    public Progress progress() {
        return retrieval.progress();
    }

    @Override
    public void close() {
        retrieval.close();
    }

    private void first(Item item) throws IOException, InterruptedException {
        Entry entry = item.entry();
        retrieval.count(entry);
        switch (entry.facts().kind()) {
            case DIRECTORY -> retrieval.folder(entry);
            case FILE -> {
                if (firstOfGroup(item).equals(item)) {
                    fetch(item);
                }
            }
            case LINK -> {}
        }
    }

    private void second(Item item) throws IOException, InterruptedException {
        Entry entry = item.entry();
        switch (entry.facts().kind()) {
            case DIRECTORY -> {}
            case FILE -> {
                Item first = firstOfGroup(item);
                if (!first.entry().equals(entry)
                        && !retrieval.hardLink(first.entry().path(), entry)) {
                    fetch(item);
                }
            }
            case LINK -> retrieval.link(entry);
        }
    }

    private void fetch(Item item) throws IOException, InterruptedException {
        StoredCopy copy = item.copy();
        if (copy == null) {
            retrieval.missing(
                    item.entry(),
                    Problem.UNPROVEN,
                    item.entry().path() + ": was never proven at the site, so there is no copy to restore from");
        } else {
            retrieval.file(item.entry(), copy.place(), copy.digest());
        }
    }

    /** The file that this one is made one with: itself, unless another one was the same file at the source. */
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

    /** Two file systems may number alike, and what was written to between two looks may differ. */
    private static boolean isSame(Item one, Item other) {
        return one.copy() != null
                && other.copy() != null
                && one.copy().digest().equals(other.copy().digest())
                && one.entry().facts().equals(other.entry().facts());
    }

    private void finishFolders() throws IOException, InterruptedException {
        List<Entry> closed = new ArrayList<>();
        each(item -> {
            Entry entry = item.entry();
            if (entry.facts().kind() != EntryKind.DIRECTORY) {
                return;
            }
            if ((entry.facts().mode() & OPEN) == OPEN) {
                retrieval.finishFolder(entry);
            } else {
                closed.add(entry);
            }
        });
        // The deepest first: a folder comes after those it lies in.
        for (Entry folder : closed.reversed()) {
            retrieval.finishFolder(folder);
        }
    }

    private void each(Deed deed) throws IOException, InterruptedException {
        FilePath after = FilePath.ROOT;
        while (true) {
            List<Item> page = inventory.page(after, PAGE);
            if (page.isEmpty()) {
                return;
            }
            for (Item item : page) {
                deed.with(item);
            }
            after = page.getLast().entry().path();
        }
    }

    /** Whether the manifest has an entry with this name at its top. */
    private boolean isTopName(FilePath name) {
        byte[] before = name.bytes();
        int length = before.length;
        before = Arrays.copyOf(before, NAME_BYTES_MAX);
        before[length - 1]--;
        Arrays.fill(before, length, NAME_BYTES_MAX, (byte) 0xff);
        // No name can come between: what comes next is the name, or nothing has it.
        return inventory.page(FilePath.of(before), 1).stream()
                .anyMatch(item -> item.entry().path().equals(name));
    }

    /** The same for the same restore, another for any other. */
    private String key() {
        MessageDigest digest = Digest.algorithm();
        digest.update((name + "\0").getBytes(StandardCharsets.UTF_8));
        digest.update(FilePath.rawBytes(target));
        return HexFormat.of().formatHex(digest.digest(), 0, KEY_BYTES);
    }
}
