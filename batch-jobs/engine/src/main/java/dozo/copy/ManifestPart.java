package dozo.copy;

import dozo.copy.Copy.Finding;
import dozo.copy.Inventory.Item;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.PathPattern;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.send.Crew.Work;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What of a manifest is restored: all of it, or what is selected. It is read a page at a time. */
public final class ManifestPart {

    private static final int PAGE = 5_000;

    private static final int KEY_BYTES = 8;

    private final Inventory whole;
    private final String name;
    private final Selection selection;

    /** What of the whole is restored, once it is known. */
    private Inventory part;

    private @Nullable Selected selected;

    /** A question about an entry. */
    interface Check {
        boolean holds(Entry entry) throws InterruptedException;
    }

    public ManifestPart(Inventory whole, String experiment, int manifest, Selection selection) {
        this.whole = whole;
        this.part = whole;
        this.name = experiment + "#" + manifest;
        this.selection = selection;
    }

    /**
     * Finds what is selected.
     *
     * @throws IOException if that is nothing
     */
    public void select() throws IOException {
        if (selection.isAll()) {
            return;
        }
        Selected found = new Selected(selection, whole);
        if (found.isEmpty()) {
            throw new IOException(name + " has nothing with this path, or that matches this pattern");
        }
        part = found.inventory();
        selected = found;
    }

    /** Reports the selected paths and patterns that nothing matches. */
    public void reportUnmatched(Consumer<Finding> findings) {
        if (selected == null) {
            return;
        }
        for (FilePath path : selected.unmatchedPaths()) {
            findings.accept(
                    new Finding(path, Problem.NO_MATCH, "%s: %s has nothing with this path".formatted(path, name)));
        }
        for (PathPattern pattern : selected.unmatchedPatterns()) {
            findings.accept(new Finding(
                    FilePath.ROOT, Problem.NO_MATCH, "pattern \"%s\": nothing in %s matches".formatted(pattern, name)));
        }
    }

    /** Returns whether there may be something to restore: a pattern, or a path that the manifest has. */
    public boolean mayMatch() {
        return selection.isAll()
                || !selection.patterns().isEmpty()
                || selection.paths().stream().anyMatch(path -> whole.find(path).isPresent());
    }

    /** Returns whether nothing is left out. */
    public boolean isWhole() {
        return selection.isAll();
    }

    /** Finds an item of the whole manifest, also if it is not selected. */
    public Optional<Item> find(FilePath path) {
        return whole.page(path.justBefore(), 1).stream()
                .filter(item -> item.entry().path().equals(path))
                .findFirst();
    }

    /** Reads all entries with the places of their copies. */
    public void items(Work<Item> work) throws IOException, InterruptedException {
        each(part::page, Item::entry, work);
    }

    /** Reads all entries. */
    void entries(Work<Entry> work) throws IOException, InterruptedException {
        each(part::entries, Function.identity(), work);
    }

    /** Returns whether a check holds for all entries. Reads no further than to the first for which it does not. */
    boolean all(Check check) throws InterruptedException {
        for (List<Entry> page = part.entries(FilePath.ROOT, PAGE);
                !page.isEmpty();
                page = part.entries(page.getLast().path(), PAGE)) {
            for (Entry entry : page) {
                if (!check.holds(entry)) {
                    return false;
                }
            }
        }
        return true;
    }

    private static <T> void each(BiFunction<FilePath, Integer, List<T>> pages, Function<T, Entry> entry, Work<T> work)
            throws IOException, InterruptedException {
        List<T> page = pages.apply(FilePath.ROOT, PAGE);
        while (!page.isEmpty()) {
            for (T one : page) {
                work.on(one);
            }
            page = pages.apply(entry.apply(page.getLast()).path(), PAGE);
        }
    }

    /** Returns whether the manifest has an entry with this name at its top. */
    boolean isTopName(FilePath name) {
        return whole.find(name).isPresent();
    }

    /** Returns a key that is the same for the same restore into this target, and different for any other. */
    String key(byte[] target) {
        MessageDigest digest = Digest.algorithm();
        digest.update((name + "\0").getBytes(StandardCharsets.UTF_8));
        if (!selection.isAll()) {
            digest.update((byte) 0);
            digest.update(selection.bytes());
            digest.update((byte) 0);
        }
        digest.update(target);
        return HexFormat.of().formatHex(digest.digest(), 0, KEY_BYTES);
    }
}
