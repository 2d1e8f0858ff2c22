package dozo.manifest;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dozo.file.Attributes;
import dozo.file.Attributes.Attribute;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Owner;
import dozo.file.Problem;
import dozo.ledger.Findings.Finding;
import dozo.manifest.Catalogue.Tree;
import dozo.manifest.SourceLook.Ingested;
import dozo.source.ExtendedAttributes;
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
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
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
    void aTreeOfOneOwnerTakesNoRowsForOwners() {
        own(new Owner(1000, 100));

        catalogue.night(tree);

        assertThat(catalogue.count("select count(*) from entry_owner")).isZero();
        assertThat(owners(1)).containsOnly(new Owner(1000, 100));
        assertThat(catalogue.night(tree).sealed()).isFalse();
    }

    @Test
    void aChangedOwnerIsAChangeOfTheEntryAndNotALoss() {
        own(new Owner(1000, 100));
        catalogue.night(tree);
        own("sub/b", new Owner(0, 0xFFFF_FFFEL));

        assertThat(catalogue.night(tree).sealed()).isTrue();

        assertThat(catalogue.lastDifferences()).containsExactly(0L, 1L, 0L, 0L);
        assertThat(catalogue.manifests.changes(1, 1, 2, null, FilePath.ROOT, 10))
                .extracting(change -> change.path().toString())
                .containsExactly("sub/b");
        assertThat(owner(1, "sub/b")).isEqualTo(new Owner(1000, 100));
        assertThat(owner(2, "sub/b")).isEqualTo(new Owner(0, 0xFFFF_FFFEL));
        assertThat(catalogue.night(tree).sealed()).isFalse();
    }

    @Test
    void ownersOfEntriesSealedBeforeOwnersWereRecordedAreLearntWithoutAManifest() {
        catalogue.night(tree);
        tree.put("a", 7, 7);
        catalogue.night(tree);
        own(new Owner(1000, 100));
        own("sub/b", new Owner(5, 5));

        assertThat(catalogue.night(tree).sealed()).isFalse();

        assertThat(owner(2, "a")).isEqualTo(new Owner(1000, 100));
        assertThat(owner(2, "sub/b")).isEqualTo(new Owner(5, 5));
        assertThat(owner(1, "a")).as("it had ended before").isNull();
        assertThat(catalogue.count("select count(*) from entry_owner")).isEqualTo(1);
        assertThat(catalogue.night(tree).sealed()).isFalse();

        own("sub/b", new Owner(6, 5));
        own("other/d", new Owner(6, 5));
        assertThat(catalogue.night(tree).sealed()).isTrue();
        assertThat(catalogue.lastDifferences()).containsExactly(0L, 2L, 0L, 0L);
    }

    @Test
    void whatChangesInTheNightThatLearnsTheOwnersHasAnUnknownOneBefore() {
        catalogue.night(tree);
        own(new Owner(1000, 100));
        tree.put(FilePath.of("a"), Catalogue.file(8, 8).with(new Owner(9, 9), Attributes.NONE));

        assertThat(catalogue.night(tree).sealed()).isTrue();

        assertThat(catalogue.lastDifferences()).containsExactly(0L, 1L, 0L, 0L);
        assertThat(owner(1, "a")).isNull();
        assertThat(owner(2, "a")).isEqualTo(new Owner(9, 9));
        assertThat(owner(1, "sub/b")).isEqualTo(new Owner(1000, 100));
    }

    @Test
    void aListSaysNothingOfOwnersSoTheyDoNotChange() {
        own(new Owner(1000, 100));
        own("sub/b", new Owner(5, 5));
        catalogue.night(tree);
        Tree walked = tree;
        own(null);
        tree.put("sub/new", 1, 1);

        catalogue.nightOfList(list -> {
            for (Map.Entry<FilePath, Facts> entry : tree.entries().entrySet()) {
                list.entry(entry.getKey(), entry.getValue());
            }
        });

        assertThat(catalogue.lastDifferences()).containsExactly(1L, 0L, 0L, 0L);
        assertThat(owner(2, "sub/b")).isEqualTo(new Owner(5, 5));
        assertThat(owner(2, "sub/new")).as("unknown").isNull();
        own(new Owner(1000, 100));
        own("sub/b", new Owner(5, 5));
        assertThat(catalogue.night(walked).sealed()).isFalse();
    }

    @Test
    void attributesOfNewAndChangedEntriesAreRecordedAndAnUnchangedNightReadsNone() throws Exception {
        Attribute comment = new Attribute("user.comment", "kept".getBytes(StandardCharsets.UTF_8));
        Attribute longest = new Attribute("user.empty", new byte[0]);
        Path file = Files.writeString(source.resolve("日本"), "text");
        Path sub = Files.createDirectory(source.resolve("sub"));
        Files.writeString(sub.resolve("plain"), "p");
        Files.createSymbolicLink(sub.resolve("link"), file);
        ExtendedAttributes.set(file, comment);
        ExtendedAttributes.set(file, longest);
        ExtendedAttributes.set(sub, comment);

        assertThat(entriesAndReads()).as("a read for each entry").isEqualTo(2 + 4 + 4);

        assertThat(attributes(1, "日本")).containsExactly(comment, longest);
        assertThat(attributes(1, "sub")).containsExactly(comment);
        assertThat(attributes(1, "sub/link")).as("of the link itself").isEmpty();
        assertThat(catalogue.count("select count(*) from entry_attribute")).isEqualTo(2);
        assertThat(entriesAndReads()).as("folders and entries only").isEqualTo(2 + 4);

        ExtendedAttributes.set(sub.resolve("plain"), comment);
        Files.writeString(sub.resolve("plain"), "another");
        assertThat(entriesAndReads()).as("those of the changed folder").isEqualTo(2 + 4 + 2);
        assertThat(attributes(2, "sub/plain")).containsExactly(comment);
        assertThat(attributes(1, "sub/plain")).isEmpty();
    }

    @Test
    void tooManyAttributesAreAFindingOfTheirEntry() throws Exception {
        Path file = Files.writeString(source.resolve("file"), "text");
        Files.writeString(source.resolve("other"), "text");
        try {
            for (int i = 0; i < 3; i++) {
                ExtendedAttributes.set(file, new Attribute("user.long" + i, new byte[30_000]));
            }
        } catch (IOException smallLimit) {
            abort("this file system keeps only short attributes");
        }

        Ingested night = catalogue.night();

        assertThat(night.sealed()).isTrue();
        assertThat(night.findings()).singleElement().satisfies(finding -> {
            assertThat(finding.path()).isEqualTo(FilePath.of("file"));
            assertThat(finding.message()).contains("longer than 65536 bytes");
        });
    }

    private long entriesAndReads() throws InterruptedException {
        LongAdder told = new LongAdder();
        catalogue.night(told);
        return told.sum();
    }

    private List<Attribute> attributes(int manifest, String path) {
        return entry(manifest, path).facts().attributes().all();
    }

    private @Nullable Owner owner(int manifest, String path) {
        return entry(manifest, path).facts().owner();
    }

    private Entry entry(int manifest, String path) {
        return catalogue.manifests.page(1, manifest, FilePath.ROOT, 100).stream()
                .filter(entry -> entry.path().equals(FilePath.of(path)))
                .findFirst()
                .orElseThrow();
    }

    private List<Owner> owners(int manifest) {
        return catalogue.manifests.page(1, manifest, FilePath.ROOT, 100).stream()
                .map(entry -> entry.facts().owner())
                .toList();
    }

    private void own(@Nullable Owner owner) {
        tree.entries().replaceAll((path, facts) -> facts.with(owner, Attributes.NONE));
    }

    private void own(String path, Owner owner) {
        tree.entries()
                .compute(
                        FilePath.of(path),
                        (same, facts) -> requireNonNull(facts).with(owner, Attributes.NONE));
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
                        """).query(Boolean.class).single()).isTrue();
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
