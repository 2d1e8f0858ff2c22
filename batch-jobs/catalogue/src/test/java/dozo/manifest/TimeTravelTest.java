package dozo.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.ledger.Sight;
import dozo.manifest.Catalogue.Tree;
import dozo.manifest.ChangeSummary.FolderSum;
import dozo.manifest.ChangeSummary.Kind;
import dozo.manifest.ChangeSummary.Period;
import dozo.manifest.ChangeSummary.Sum;
import dozo.manifest.ChangeSummary.Summary;
import dozo.manifest.Manifests.Change;
import dozo.manifest.Manifests.ChangeKind;
import dozo.manifest.Manifests.Manifest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The manifest of any version and any instant, page by page. */
class TimeTravelTest {

    @TempDir
    Path source;

    private Catalogue catalogue;
    private final List<List<String>> nights = new ArrayList<>();

    @BeforeEach
    void sealFourManifests() {
        catalogue = new Catalogue(source);
        Tree tree = new Tree()
                .put("a", 1, 1)
                .put("sub/b", 2, 1)
                .put("sub/deep/c", 3, 1)
                .put("sub.txt", 4, 1);
        night(tree);
        night(tree.put("sub/b", 20, 2).put("sub/short-lived", 1, 1));
        night(tree.remove("sub/short-lived").remove("a").put("a/inside", 5, 5));
        night(tree.remove("sub/deep").put("sub/b", 2, 1).put("z", 9, 9));
    }

    @Test
    void everyManifestIsAsItWasWhenItWasSealed() {
        for (int manifest = 1; manifest <= nights.size(); manifest++) {
            assertThat(pages(manifest, 100)).as("manifest " + manifest).isEqualTo(nights.get(manifest - 1));
        }
    }

    @Test
    void pagesOfAnySizeFitTogether() {
        for (int limit = 1; limit <= 9; limit++) {
            assertThat(pages(2, limit)).as("pages of " + limit).isEqualTo(nights.get(1));
        }
    }

    @Test
    void pathsLongerThanAnIndexRowAreInOrderToo() {
        String deep = String.join("/", Collections.nCopies(15, "n".repeat(255)));
        Catalogue other = new Catalogue(source);
        Tree tree = new Tree().put(deep + "/b/x", 1, 1).put(deep + "/a/x", 1, 1).put(deep + "/a", 0, 0);
        tree.put(FilePath.of(deep + "/a"), Catalogue.folder());
        other.night(tree);

        List<FilePath> paths = new ArrayList<>();
        FilePath after = FilePath.ROOT;
        for (List<Entry> page = other.manifests.page(1, 1, after, 2);
                !page.isEmpty();
                page = other.manifests.page(1, 1, after, 2)) {
            page.forEach(entry -> paths.add(entry.path()));
            after = paths.getLast();
        }

        assertThat(paths).hasSize(tree.entries().size()).doesNotHaveDuplicates();
        assertThat(paths.subList(paths.size() - 2, paths.size()))
                .containsExactly(FilePath.of(deep + "/a/x"), FilePath.of(deep + "/b/x"));
    }

    @Test
    void aFolderIsListedAsItWas() {
        assertThat(folder(2, "sub", "", 100)).containsExactly("sub/b:20", "sub/deep:0", "sub/short-lived:1");
        assertThat(folder(2, "sub", "b", 1)).containsExactly("sub/deep:0");
        assertThat(folder(4, "sub", "", 100)).containsExactly("sub/b:2");
        assertThat(folder(1, "nowhere", "", 100)).isEmpty();
    }

    @Test
    void anInstantHasTheManifestThatWasCurrentThen() {
        Instant first = catalogue.manifests.find(1, 1).orElseThrow().sealedAt();

        assertThat(catalogue.manifests.asOf(1, first.minusNanos(1_000))).isEmpty();
        assertThat(catalogue.manifests.asOf(1, first)).map(Manifest::number).hasValue(1);
        assertThat(catalogue.manifests.asOf(1, first.plusSeconds(86_400 - 1)))
                .map(Manifest::number)
                .hasValue(1);
        assertThat(catalogue.manifests.asOf(1, first.plusSeconds(86_400)))
                .map(Manifest::number)
                .hasValue(2);
        assertThat(catalogue.manifests.asOf(1, Instant.parse("2100-01-01T00:00:00Z")))
                .map(Manifest::number)
                .hasValue(4);
    }

    @Test
    void aClockThatWentBackwardsHidesNoManifest() {
        catalogue.now = Instant.parse("2020-01-01T00:00:00Z");
        night(new Tree().put("only", 1, 1));

        assertThat(catalogue.manifests.asOf(1, Instant.parse("2100-01-01T00:00:00Z")))
                .map(Manifest::number)
                .hasValue(5);
    }

    @Test
    void changesBetweenManifestsAreNet() {
        assertThat(catalogue.manifests.changes(1, 1, 2, null, FilePath.ROOT, 100))
                .extracting(change -> change.path().toString(), Change::kind)
                .containsExactly(tuple("sub/b", ChangeKind.CHANGED), tuple("sub/short-lived", ChangeKind.NEW));
        assertThat(catalogue.manifests.changes(1, 1, 4, null, FilePath.ROOT, 100))
                .extracting(change -> change.path().toString(), Change::kind)
                .as("sub/b is again what it was, and short-lived came and went")
                .containsExactly(
                        tuple("a", ChangeKind.TYPE_CHANGED),
                        tuple("z", ChangeKind.NEW),
                        tuple("a/inside", ChangeKind.NEW),
                        tuple("sub/deep", ChangeKind.GONE),
                        tuple("sub/deep/c", ChangeKind.GONE));
        assertThat(catalogue.manifests.changes(1, 2, 2, null, FilePath.ROOT, 100))
                .isEmpty();
        assertThatThrownBy(() -> catalogue.manifests.changes(1, 0, 2, null, FilePath.ROOT, 100))
                .hasMessage("expected manifest numbers 1 <= from <= to, not 0 and 2");
    }

    @Test
    void changesAreSummedUpByKindAndFolderTheGravestFirst() {
        Tree tree = new Tree();
        for (int i = 0; i < 80; i++) {
            tree.put("run/f" + i, 10, 1);
        }
        Tree later = new Tree();
        // So many that the tripwire does not freeze the experiment.
        for (int i = 0; i < 500; i++) {
            tree.put("stay/f" + i, 1, 1);
            later.put("stay/f" + i, 1, 1);
        }
        night(tree.put("keep", 1, 1).put("other", 5, 1));
        night(later.put("keep", 3, 2).put("sub/short-lived", 7, 1));

        Summary summary = catalogue.summaries.between(1, 5, 6, 1);
        assertThat(summary.kinds())
                .extracting(Sum::kind, Sum::entries, Sum::bytesBefore, Sum::bytesAfter)
                .containsExactly(
                        tuple(Kind.GONE, 82L, 805L, 0L), tuple(Kind.CHANGED, 1L, 1L, 3L), tuple(Kind.BACK, 2L, 0L, 7L));
        assertThat(summary.folders())
                .containsExactly(new FolderSum(FilePath.of("run"), new Sum(Kind.GONE, 80, 800, 0)));
        assertThat(summary.foldersLeftOff()).isEqualTo(4);
        assertThat(catalogue.manifests.changes(1, 5, 6, FilePath.of("run"), FilePath.ROOT, 100))
                .hasSize(80);
        assertThat(catalogue.summaries.between(1, 6, 6, 10)).isEqualTo(new Summary(List.of(), List.of(), 0));
    }

    @Test
    void whatChangedInAPeriodIsSummedUpByExperiment() {
        Instant second = catalogue.manifests.find(1, 2).orElseThrow().sealedAt();
        Instant last = catalogue.manifests.find(1, 4).orElseThrow().sealedAt().plusSeconds(1);

        Period period = catalogue.summaries.between(Sight.EVERYTHING, second, last, 10);
        assertThat(period.sums())
                .allSatisfy(sum -> assertThat(sum.from()).isEqualTo(1))
                .allSatisfy(sum -> assertThat(sum.to()).isEqualTo(4))
                .extracting(each -> each.sum().kind(), each -> each.sum().entries())
                .containsExactly(tuple(Kind.GONE, 2L), tuple(Kind.TYPE_CHANGED, 1L), tuple(Kind.NEW, 2L));
        assertThat(catalogue
                        .summaries
                        .between(Sight.EVERYTHING, Instant.EPOCH, last, 10)
                        .sums())
                .as("the first manifest has only new entries, whatever came and went since")
                .extracting(each -> each.sum().kind())
                .containsExactly(Kind.NEW);
        assertThat(catalogue
                        .summaries
                        .between(Sight.of(Set.of()), Instant.EPOCH, last, 10)
                        .sums())
                .isEmpty();
        assertThat(catalogue.summaries.between(Sight.EVERYTHING, last, last.plusSeconds(1), 10))
                .isEqualTo(new Period(List.of(), 0, 0));
    }

    @Test
    void pagesOfChangesFitTogether() {
        List<Change> all = catalogue.manifests.changes(1, 1, 4, null, FilePath.ROOT, 100);

        assertThat(catalogue.manifests.changes(1, 1, 4, null, all.get(2).path(), 100))
                .isEqualTo(all.subList(3, 5));
        assertThat(catalogue.manifests.changes(1, 1, 4, null, FilePath.ROOT, 2)).isEqualTo(all.subList(0, 2));
    }

    @Test
    void aLinksTextComesBackByteForByte() {
        byte[] target = {'.', '.', '/', (byte) 0x94, (byte) 0xFF};
        night(new Tree().put(FilePath.of("link"), new Facts(EntryKind.LINK, 0, 1, 0, 0777, null, target)));

        assertThat(catalogue
                        .manifests
                        .page(1, 5, FilePath.ROOT, 10)
                        .getFirst()
                        .facts()
                        .linkTarget())
                .isEqualTo(target);
    }

    private void night(Tree tree) {
        assertThat(catalogue.night(tree).sealed()).isTrue();
        List<FilePath> paths = new ArrayList<>(tree.entries().keySet());
        paths.sort(java.util.Comparator.comparing(FilePath::parent).thenComparing(path -> path));
        nights.add(paths.stream()
                .map(path -> path + ":" + tree.entries().get(path).sizeBytes())
                .toList());
    }

    private List<String> pages(int manifest, int limit) {
        List<String> all = new ArrayList<>();
        FilePath after = FilePath.ROOT;
        for (List<Entry> page = catalogue.manifests.page(1, manifest, after, limit);
                !page.isEmpty();
                page = catalogue.manifests.page(1, manifest, after, limit)) {
            assertThat(page).hasSizeLessThanOrEqualTo(limit);
            page.forEach(entry -> all.add(entry.path() + ":" + entry.facts().sizeBytes()));
            after = page.getLast().path();
        }
        return all;
    }

    private List<String> folder(int manifest, String folder, String after, int limit) {
        return catalogue
                .manifests
                .folder(1, manifest, FilePath.of(folder), after.getBytes(StandardCharsets.UTF_8), limit)
                .stream()
                .map(entry -> entry.path() + ":" + entry.facts().sizeBytes())
                .toList();
    }
}
