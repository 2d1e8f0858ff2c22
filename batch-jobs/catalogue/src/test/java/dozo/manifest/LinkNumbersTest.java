package dozo.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.manifest.Catalogue.Tree;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On another file system hard links have other inode numbers; which names are one file is what counts. */
class LinkNumbersTest {

    @TempDir
    Path source;

    private Catalogue catalogue;

    @BeforeEach
    void start() {
        catalogue = new Catalogue(source);
    }

    @Test
    void otherNumbersOfTheSameGroupsAreNoChange() {
        night(Map.of("a", 5L, "deep/b", 5L, "c", 9L, "d", 9L, "outside", 3L));

        assertThat(night(Map.of("a", 9L, "deep/b", 9L, "c", 5L, "d", 5L, "outside", 8L)))
                .isFalse();

        // What joins a group later has its number.
        assertThat(night(Map.of("a", 9L, "deep/b", 9L, "c", 5L, "d", 5L, "outside", 8L, "new", 9L)))
                .isTrue();
        assertThat(catalogue.lastDifferences()).containsExactly(1L, 0L, 0L, 0L);
        assertThat(groups(2)).isEqualTo(Set.of(Set.of("a", "deep/b", "new"), Set.of("c", "d"), Set.of("outside")));
    }

    @Test
    void otherGroupsAreAChange() {
        for (Map<String, Long> other : List.of(
                Map.of("a", 6L, "deep/b", 7L, "c", 9L),
                Map.of("a", 6L, "deep/b", 6L, "c", 6L),
                Map.of("a", 9L, "deep/b", 9L, "c", 9L))) {
            start();
            night(Map.of("a", 5L, "deep/b", 5L, "c", 9L));
            assertThat(night(other)).as("%s", other).isTrue();
            assertThat(groups(2)).as("%s", other).isEqualTo(groups(other));
        }
    }

    /** All files have the same size, time and mode, and few numbers. */
    @Test
    void everyManifestKeepsItsGroupsHoweverOftenNumbersChange() {
        for (int seed = 0; seed < 8; seed++) {
            start();
            Random random = new Random(seed);
            List<Set<Set<String>>> sealed = new ArrayList<>();
            Map<String, Long> names = new TreeMap<>();
            for (int night = 0; night < 12; night++) {
                if (night % 3 == 2) {
                    List<Long> numbers = new ArrayList<>(List.of(1L, 2L, 3L, 4L, 5L, 6L));
                    Collections.shuffle(numbers, random);
                    names.replaceAll((_, number) -> numbers.get(number.intValue() - 1));
                } else {
                    for (int i = 0; i < 3; i++) {
                        String name = random.nextInt(3) + "/" + random.nextInt(4);
                        names.remove(name);
                        if (random.nextInt(3) > 0) {
                            names.put(name, 1L + random.nextInt(6));
                        }
                    }
                }
                Set<Set<String>> present = groups(names);
                boolean isNew = !names.isEmpty() && night(names);
                if (night % 3 == 2) {
                    assertThat(isNew).as("seed %d, night %d", seed, night).isFalse();
                } else if (isNew) {
                    sealed.add(present);
                }
                for (int i = 0; i < sealed.size(); i++) {
                    assertThat(groups(i + 1))
                            .as("seed %d, night %d", seed, night)
                            .isEqualTo(sealed.get(i));
                }
            }
        }
    }

    /** Returns whether there is a new manifest. */
    private boolean night(Map<String, Long> numbers) {
        Tree tree = new Tree();
        numbers.forEach(
                (path, number) -> tree.put(FilePath.of(path), new Facts(EntryKind.FILE, 1, 1, 7, 0644, number, null)));
        return catalogue.night(tree).sealed();
    }

    private Set<Set<String>> groups(int manifest) {
        Map<String, Long> numbers = new HashMap<>();
        catalogue.jdbc.sql("""
                        select entry_path(d.path, e.name) as path, l.hard_link
                        from entry_version e join directory d using (experiment_id, directory_no)
                        join entry_link l using (experiment_id, entry_no)
                        where since_manifest <= :manifest and (until_manifest is null or until_manifest > :manifest)
                        """).param("manifest", manifest).query(row -> {
            numbers.put(FilePath.of(row.getBytes("path")).toString(), row.getLong("hard_link"));
        });
        return groups(numbers);
    }

    private static Set<Set<String>> groups(Map<String, Long> numbers) {
        Map<Long, Set<String>> groups = new HashMap<>();
        numbers.forEach((path, number) ->
                groups.computeIfAbsent(number, _ -> new HashSet<>()).add(path));
        return new HashSet<>(groups.values());
    }
}
