package dozo.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings.Finding;
import dozo.manifest.Catalogue.Tree;
import dozo.manifest.Ingest.Ingested;
import dozo.source.Listed;
import dozo.source.Listings.Listing;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a night finds new, changed and gone, and what it leaves unchanged. */
class IngestTest {

    @TempDir
    Path source;

    private Catalogue catalogue;
    private Tree tree;

    @BeforeEach
    void startWithATree() {
        catalogue = new Catalogue(source);
        tree = new Tree()
                .put("a", 1, 1)
                .put("sub/b", 2, 1)
                .put("sub/deep/c", 3, 1)
                .put("other/d", 4, 1);
        tree.put(FilePath.of("empty"), Catalogue.folder());
    }

    @Test
    void theFirstNightSealsEverything() {
        assertThat(catalogue.night(tree).sealed()).isTrue();

        assertThat(catalogue.manifests.current(1)).hasValueSatisfying(manifest -> {
            assertThat(manifest.files()).isEqualTo(4);
            assertThat(manifest.bytes()).isEqualTo(10);
            assertThat(manifest.folders()).isEqualTo(4);
        });
        assertThat(catalogue.holds(1))
                .containsExactly(
                        "a:1", "empty:0", "other:0", "other/d:4", "sub:0", "sub/b:2", "sub/deep:0", "sub/deep/c:3");
    }

    @Test
    void anUnchangedNightWritesNothing() {
        catalogue.night(tree);
        String rows =
                "select sum(xmin::text::bigint) from (select xmin from entry union all select xmin from directory) all_rows";
        long before = catalogue.count(rows);

        assertThat(catalogue.night(tree).sealed()).isFalse();

        assertThat(catalogue.count(rows)).isEqualTo(before);
        assertThat(catalogue.count("select count(*) from manifest")).isEqualTo(1);
    }

    @Test
    void onlyWhatChangedGetsRows() {
        catalogue.night(tree);
        tree.put("sub/b", 5, 2).put("sub/new", 6, 2).remove("sub/deep/c");

        catalogue.night(tree);

        assertThat(catalogue.lastDifferences()).containsExactly(1L, 1L, 0L, 1L);
        assertThat(catalogue.count("select count(*) from entry where since_manifest = 2"))
                .isEqualTo(2);
        assertThat(catalogue.count("select count(*) from ended_entry where until_manifest = 2"))
                .isEqualTo(2);
        assertThat(catalogue.holds(1)).contains("sub/b:2", "sub/deep/c:3").doesNotContain("sub/new:6");
        assertThat(catalogue.holds(2))
                .containsExactly(
                        "a:1", "empty:0", "other:0", "other/d:4", "sub:0", "sub/b:5", "sub/deep:0", "sub/new:6");
        assertTotalsAreThoseOfTheEntries();
    }

    @Test
    void aFolderThatGoesAndComesBackAsItWasIsGoneAndNew() {
        catalogue.night(tree);
        List<Map.Entry<FilePath, Facts>> sub = tree.entries().entrySet().stream()
                .filter(entry -> entry.getKey().startsWith(FilePath.of("sub")))
                .toList();
        Tree without = new Tree();
        tree.entries().forEach(without::put);
        without.remove("sub");

        catalogue.night(without);
        assertThat(catalogue.lastDifferences()).containsExactly(0L, 0L, 0L, (long) sub.size());

        catalogue.night(tree);
        assertThat(catalogue.lastDifferences()).containsExactly((long) sub.size(), 0L, 0L, 0L);
        assertThat(catalogue.holds(3)).isEqualTo(catalogue.holds(1));
        assertTotalsAreThoseOfTheEntries();
    }

    @Test
    void aFileThatBecomesAFolderOrALinkChangesItsType() {
        catalogue.night(tree);
        tree.remove("a").put("a/inside", 9, 2);
        tree.put(FilePath.of("other/d"), new Facts(EntryKind.LINK, 0, 1, 0, 0777, null, new byte[] {'x'}));

        catalogue.night(tree);

        assertThat(catalogue.lastDifferences()).containsExactly(1L, 2L, 2L, 0L);
        assertTotalsAreThoseOfTheEntries();
    }

    @Test
    void theChangeTimeAloneIsNoChange() {
        catalogue.night(tree);
        tree.put(FilePath.of("a"), new Facts(EntryKind.FILE, 1, 1, 12_345, 0644, null, null));

        assertThat(catalogue.night(tree).sealed()).isFalse();
    }

    @Test
    void timesBefore1970AndFarInTheFutureAreKept() {
        tree.put("old", 1, Long.MIN_VALUE + 1).put("new", 1, Long.MAX_VALUE);
        catalogue.night(tree);

        assertThat(catalogue.count("select min(modified_ns) from entry")).isEqualTo(Long.MIN_VALUE + 1);
        assertThat(catalogue.count("select max(modified_ns) from entry")).isEqualTo(Long.MAX_VALUE);
        assertThat(catalogue.night(tree).sealed()).isFalse();
    }

    @Test
    void theLongestNameInTheLongestPathIsKept() {
        String name = "n".repeat(255);
        String path = String.join("/", Collections.nCopies(15, name)) + "/" + "m".repeat(255);
        catalogue.night(tree.put(path, 1, 1));

        assertThat(catalogue.holds(1)).contains(path + ":1");
        assertThat(catalogue.night(tree).sealed()).isFalse();
    }

    @Test
    void belowAFolderThatCannotBeReadNothingIsGone() {
        catalogue.night(tree);
        Ingest.Walk unreadable = listings -> {
            listings.problem(FilePath.of("sub"), Problem.UNREADABLE, "no");
            Listing root = listings.folder(FilePath.ROOT);
            root.entry(name("a"), Catalogue.file(1, 1));
            root.entry(name("sub"), Catalogue.folder());
            root.entry(name("other"), Catalogue.folder());
            root.entry(name("empty"), Catalogue.folder());
            root.end();
            listings.folder(FilePath.of("other")).end();
            listings.folder(FilePath.of("empty")).end();
        };

        Ingested night = catalogue.night(unreadable);

        assertThat(night.findings()).extracting(finding -> finding.reason()).containsExactly(Problem.UNREADABLE);
        assertThat(catalogue.holds(2)).contains("sub/b:2", "sub/deep/c:3").doesNotContain("other/d:4");
    }

    @Test
    void ofAFolderThatWasNotToldToItsEndNothingIsGone() {
        catalogue.night(tree);

        catalogue.night(listings -> {
            Listing root = listings.folder(FilePath.ROOT);
            root.entry(name("a"), Catalogue.file(1, 1));
            root.entry(name("sub"), Catalogue.folder());
            root.end();
            Listing sub = listings.folder(FilePath.of("sub"));
            sub.entry(name("new"), Catalogue.file(8, 1));
        });

        assertThat(catalogue.holds(2))
                .containsExactly("a:1", "sub:0", "sub/b:2", "sub/deep:0", "sub/deep/c:3", "sub/new:8");
    }

    @Test
    void aFileThatCannotBeLookedAtIsKeptUntilItIsKnownToBeGone() {
        catalogue.night(tree);
        Tree without = new Tree();
        tree.entries().forEach(without::put);
        without.remove("sub/b");
        Tree unreadable = new Tree();
        without.entries().forEach(unreadable::put);
        unreadable.first(listings -> listings.problem(FilePath.of("sub/b"), Problem.UNREADABLE, "no"));

        assertThat(catalogue.night(unreadable).sealed()).isFalse();
        assertThat(catalogue.holds(1)).contains("sub/b:2");

        catalogue.night(without);
        assertThat(catalogue.lastDifferences()).containsExactly(0L, 0L, 0L, 1L);
    }

    @Test
    void anUnreadableSourceSealsNothing() {
        catalogue.night(tree);

        Ingested night = catalogue.night(listings -> {
            listings.folder(FilePath.ROOT).entry(name("a"), Catalogue.file(9, 9));
            throw new IOException("gone");
        });

        assertThat(night.sealed()).isFalse();
        assertThat(night.findings().getFirst().reason()).isEqualTo(Problem.UNREADABLE);
        assertThat(catalogue.night(tree).sealed()).isFalse();
    }

    @Test
    void whatAFailedFirstNightToldIsNotKept() {
        Ingested night = catalogue.night(listings -> {
            listings.folder(FilePath.ROOT).entry(name("a"), Catalogue.file(9, 9));
            throw new IOException("gone");
        });

        assertThat(night.sealed()).isFalse();
        assertThat(catalogue.count("select count(*) from entry")).isZero();
        assertThat(catalogue.night(tree).sealed()).isTrue();
        assertThat(catalogue.holds(1)).hasSize(8);
    }

    @Test
    void aFolderOfMoreThanAFewMegabytesIsComparedToo() {
        Ingest.Walk large = large(100_000, 1);
        catalogue.night(large);
        assertThat(catalogue.manifests.current(1).orElseThrow().files()).isEqualTo(100_000);
        assertThat(catalogue.manifests.page(1, 1, FilePath.of("file-0050000"), 2))
                .extracting(entry -> entry.path().toString())
                .containsExactly("file-0050001", "file-0050002");
        assertThat(catalogue.count("select max(directory_no) from directory")).isEqualTo(-1);

        assertThat(catalogue.night(large).sealed()).isFalse();

        catalogue.night(large(100_000, 2));
        assertThat(catalogue.lastDifferences()).containsExactly(0L, 1L, 0L, 0L);
        assertTotalsAreThoseOfTheEntries();
    }

    @Test
    void severalThreadsTellAtOnce() {
        int folders = 5_000;
        Ingest.Walk walk = listings -> {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int i = 0; i < folders; i++) {
                String folder = "f" + i;
                tasks.add(() -> {
                    Listing listing = listings.folder(FilePath.of(folder));
                    for (int n = 0; n < 10; n++) {
                        listing.entry(name("n" + n), Catalogue.file(n, 1));
                    }
                    listing.end();
                    return null;
                });
            }
            try (var threads = Executors.newFixedThreadPool(8)) {
                for (Future<Void> done : threads.invokeAll(tasks)) {
                    assertThat(done).succeedsWithin(java.time.Duration.ofMinutes(1));
                }
            }
        };
        catalogue.night(walk);

        assertThat(catalogue.count("select count(*) from entry")).isEqualTo(folders * 10L);
        assertThat(catalogue.count("select count(distinct directory_no) from entry"))
                .isEqualTo(folders);
        assertThat(catalogue.night(walk).sealed()).isFalse();
    }

    @Test
    void aListInAnyOrderIsWhatAWalkWouldHaveTold() {
        catalogue.night(tree);
        List<Map.Entry<FilePath, Facts>> shuffled =
                new ArrayList<>(tree.entries().entrySet());
        Collections.shuffle(shuffled, new Random(1));

        Ingested night = catalogue.nightOfList(visitor -> tell(shuffled, visitor));
        assertThat(night.sealed()).isFalse();

        shuffled.removeIf(entry -> entry.getKey().equals(FilePath.of("other/d")));
        catalogue.nightOfList(visitor -> tell(shuffled, visitor));
        assertThat(catalogue.lastDifferences()).containsExactly(0L, 0L, 0L, 1L);
    }

    @Test
    void afterALineThatIsNotUnderstoodNothingIsTakenForGone() {
        catalogue.night(tree);

        Ingested night = catalogue.nightOfList(list -> {
            list.entry(FilePath.of("new"), Catalogue.file(1, 1));
            list.problem(2, null, Problem.UNPARSED, "not a record");
        });

        assertThat(catalogue.lastDifferences()).containsExactly(1L, 0L, 0L, 0L);
        assertThat(night.findings()).extracting(Finding::reason).containsExactly(Problem.UNPARSED, Problem.UNREADABLE);
    }

    @Test
    void whatAListNamesBehindALinkIsNotTheSources() throws IOException {
        Files.createSymbolicLink(source.resolve("link"), Path.of("/etc"));

        Ingested night = catalogue.nightOfList(list -> {
            list.entry(FilePath.of("a"), Catalogue.file(1, 1));
            list.entry(FilePath.of("link/hostname"), Catalogue.file(1, 1));
        });

        assertThat(catalogue.holds(1)).containsExactly("a:1");
        assertThat(night.findings()).extracting(Finding::reason).containsExactly(Problem.OUTSIDE);
    }

    @Test
    void aPathTwiceInAListCountsOnceAsItWasToldLast() {
        catalogue.nightOfList(visitor -> {
            visitor.entry(FilePath.of("a"), Catalogue.file(1, 1));
            visitor.entry(FilePath.of("a"), Catalogue.file(2, 1));
        });

        assertThat(catalogue.holds(1)).containsExactly("a:2");
    }

    @Test
    void aRealTreeIsToldAsItIs() throws IOException {
        Files.writeString(source.resolve("file"), "text");
        Files.createLink(source.resolve("second name"), source.resolve("file"));
        Files.createSymbolicLink(source.resolve("dangling"), Path.of("nowhere"));
        Files.createDirectories(source.resolve("empty/folder"));

        catalogue.night();

        assertThat(catalogue.holds(1))
                .containsExactly("dangling:0", "empty:0", "empty/folder:0", "file:4", "second name:4");
        assertThat(catalogue.count("select count(distinct hard_link) from entry_link"))
                .isEqualTo(1);
        assertThat(catalogue.night().sealed()).isFalse();
    }

    @Test
    void foldersOfAnEarlierSchemaAreComparedOnceAndThenKnown() {
        catalogue.night(tree);
        catalogue
                .jdbc
                .sql("update directory set fingerprint = null, entries = 0")
                .update();

        assertThat(catalogue.night(tree).sealed()).isFalse();
        assertThat(catalogue.count("select count(*) from directory where fingerprint is null"))
                .isZero();
    }

    @Test
    void aDatabaseThatFailsFailsTheNight() {
        catalogue.night(tree);

        assertThatThrownBy(() -> catalogue.night(listings -> {
                    Listing listing = listings.folder(FilePath.ROOT);
                    listing.entry(name("a"), Catalogue.file(1, 1));
                    listing.end();
                    listings.folder(FilePath.ROOT).end();
                    catalogue.jdbc.sql("select 1 / 0").query().singleValue();
                }))
                .isInstanceOf(org.springframework.dao.DataAccessException.class);
    }

    private void assertTotalsAreThoseOfTheEntries() {
        assertThat(catalogue.jdbc.sql("""
                        select m.files = e.files and m.bytes = e.bytes and m.folders = e.folders and m.links = e.links
                        from (select * from manifest order by manifest_no desc limit 1) m,
                             (select count(*) filter (where kind = 'f') as files, sum(size_bytes) as bytes,
                                     count(*) filter (where kind = 'd') as folders,
                                     count(*) filter (where kind = 'l') as links
                              from entry) e
                        """).query((row, n) -> row.getBoolean(1)).single())
                .isTrue();
    }

    /** Returns one folder with this number of files and the last file's time. */
    private static Ingest.Walk large(int files, long lastModified) {
        return listings -> {
            Listing listing = listings.folder(FilePath.ROOT);
            for (int i = 1; i <= files; i++) {
                listing.entry(name("file-%07d".formatted(i)), Catalogue.file(i, i == files ? lastModified : 1));
            }
            listing.end();
        };
    }

    private static void tell(List<Map.Entry<FilePath, Facts>> entries, Listed visitor)
            throws IOException, InterruptedException {
        for (Map.Entry<FilePath, Facts> entry : entries) {
            visitor.entry(entry.getKey(), entry.getValue());
        }
    }

    private static byte[] name(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
