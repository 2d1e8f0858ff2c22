package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Inventory.Item;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Selection;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SelectedTest {

    private static final Comparator<FilePath> ORDER =
            Comparator.comparing(FilePath::parent).thenComparing(path -> path);

    /** Names that sort before and after a slash, and one within another. */
    private static final List<String> NAMES = List.of("a", "a-b", "a0", "ab", "b", "!", "\u00ff");

    private final TreeMap<FilePath, Entry> entries = new TreeMap<>(ORDER);
    private final AtomicInteger read = new AtomicInteger();

    @Test
    void whatIsSelectedByPathsIsExactlyThoseWithTheirContentAndTheFoldersAboveThem() {
        Random dice = new Random(20261126);
        for (int round = 0; round < 300; round++) {
            entries.clear();
            IntStream.range(0, 60).forEach(_ -> addRandom(dice));
            List<FilePath> all = List.copyOf(entries.keySet());
            List<FilePath> chosen = dice.ints(dice.nextInt(1, 6), 0, all.size())
                    .mapToObj(all::get)
                    .toList();
            List<FilePath> expected = all.stream()
                    .filter(path -> chosen.stream().anyMatch(one -> path.startsWith(one) || one.startsWith(path)))
                    .toList();
            for (int limit : new int[] {1, 2, 7, 1_000}) {
                assertThat(paths(new Selected(new Selection(chosen, List.of()), inventory()).inventory(), limit))
                        .as("%s, %d at a time", chosen, limit)
                        .isEqualTo(expected);
            }
        }
    }

    @Test
    void oneFileOfManyIsFoundWithoutReadingTheOthers() {
        IntStream.range(0, 20_000).forEach(i -> add("f%03d/file%d".formatted(i / 100, i)));
        FilePath one = FilePath.of("f123/file12345");
        Inventory found = new Selected(Selection.of(one), inventory()).inventory();
        assertThat(paths(found, 100)).containsExactly(FilePath.of("f123"), one);
        assertThat(read).hasValueLessThan(500);
    }

    @Test
    void aPathThatDoesNotExistIsUnmatchedAndSelectsNothing() {
        add("a/b");
        Selected selected = new Selected(Selection.of(FilePath.of("a/c")), inventory());
        assertThat(selected.isEmpty()).isTrue();
        assertThat(selected.unmatchedPaths()).containsExactly(FilePath.of("a/c"));
        assertThat(paths(selected.inventory(), 10)).isEmpty();
    }

    private void addRandom(Random dice) {
        StringBuilder path = new StringBuilder(NAMES.get(dice.nextInt(NAMES.size())));
        for (int depth = dice.nextInt(4); depth > 0; depth--) {
            path.append('/').append(NAMES.get(dice.nextInt(NAMES.size())));
        }
        add(path.toString());
    }

    private void add(String path) {
        FilePath added = FilePath.of(path);
        entries.putIfAbsent(added, entry(added, EntryKind.FILE));
        for (FilePath above = added.parent(); !above.isRoot(); above = above.parent()) {
            entries.put(above, entry(above, EntryKind.DIRECTORY));
        }
    }

    private static Entry entry(FilePath path, EntryKind kind) {
        return new Entry(1, path, Facts.told(kind, 0, 0, 0, 0755, 1, 0, null, null));
    }

    private Inventory inventory() {
        return (after, limit) -> {
            List<Item> page = entries.tailMap(after, false).values().stream()
                    .limit(limit)
                    .map(entry -> new Item(entry, null))
                    .toList();
            read.addAndGet(page.size());
            return page;
        };
    }

    private static List<FilePath> paths(Inventory inventory, int limit) {
        List<FilePath> paths = new ArrayList<>();
        List<Entry> page = inventory.entries(FilePath.ROOT, limit);
        while (!page.isEmpty()) {
            page.forEach(entry -> paths.add(entry.path()));
            page = inventory.entries(page.getLast().path(), limit);
        }
        return paths;
    }
}
