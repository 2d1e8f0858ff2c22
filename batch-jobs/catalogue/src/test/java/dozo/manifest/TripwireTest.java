package dozo.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.manifest.Catalogue.Tree;
import dozo.manifest.Manifests.Manifest;
import dozo.manifest.SourceLook.Ingested;
import dozo.manifest.Tripwire.Lost;
import dozo.registry.Projects.Threshold;
import dozo.registry.Refusal;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Mass encryption or an rm -rf is noticed; ordinary work passes. */
class TripwireTest {

    private static final int FILES = 1_000;

    @TempDir
    Path source;

    private Catalogue catalogue;
    private final Tree tree = new Tree();

    @BeforeEach
    void sealAThousandFiles() {
        catalogue = new Catalogue(source);
        for (int i = 0; i < FILES; i++) {
            tree.put("sub-%02d/image-%04d.dcm".formatted(i / 100, i), 1_000, 1);
        }
        catalogue.night(tree);
    }

    @Test
    void aSweepThatEncryptsInPlaceFreezes() {
        change(300);

        Ingested night = catalogue.night(tree);

        assertFrozen(night);
        assertThat(night.findings().getFirst().message())
                .isEqualTo("300 of 1,000 files and links vanished or changed (300 kB of 1.0 MB) since manifest 1; "
                        + "0 entries are new. Nothing was sealed. Nothing is sent until the experiment is released: "
                        + "dozo release p/E");
    }

    @Test
    void aSweepThatRenamesWhatItEncryptsFreezes() {
        for (Map.Entry<FilePath, Facts> entry : new ArrayList<>(tree.entries().entrySet()).subList(0, 300)) {
            if (entry.getValue().sizeBytes() > 0) {
                tree.remove(entry.getKey().toString()).put(entry.getKey() + ".locked", 1_024, 2);
            }
        }

        assertFrozen(catalogue.night(tree));
    }

    @Test
    void aRemovedTreeFreezes() {
        tree.remove("sub-00").remove("sub-01");

        assertFrozen(catalogue.night(tree));
    }

    @Test
    void nothingOfAFrozenNightIsKept() {
        String rows =
                "select sum(xmin::text::bigint) from (select xmin from entry union all select xmin from directory) r";
        long before = catalogue.count(rows);
        change(300);
        tree.put("new/file", 1, 1);

        assertFrozen(catalogue.night(tree));

        assertThat(catalogue.count(rows)).isEqualTo(before);
        assertThat(catalogue.count("select count(*) from directory where path = 'new'"))
                .isZero();
    }

    @Test
    void itStaysFrozenUntilItIsReleasedEvenIfAllIsAsBefore() {
        change(300);
        catalogue.night(tree);
        unchange();

        assertFrozen(catalogue.night(tree));
        catalogue.freezes.release(catalogue.experiment, "operator", null);

        assertThat(catalogue.night(tree).findings()).isEmpty();
        assertThat(catalogue.freezes.find(1)).isEmpty();
        assertThat(catalogue.count("select count(*) from manifest")).isEqualTo(1);
    }

    @Test
    void theNightAfterTheReleaseSealsWhatIsThere() {
        change(300);
        catalogue.night(tree);

        catalogue.freezes.release(catalogue.experiment, "operator", null);
        assertThat(catalogue.freezes.frozen(1)).isFalse();

        assertThat(catalogue.night(tree).sealed()).isTrue();
        assertThat(catalogue.lastDifferences()).containsExactly(0L, 300L, 0L, 0L);
        assertThat(catalogue.freezes.find(1)).isEmpty();
        assertThat(ledger()).isEqualTo("experiment.frozen dozo, experiment.released operator");
    }

    @Test
    void aReleaseIsForWhatWasLostByThen() {
        change(300);
        catalogue.night(tree);
        catalogue.freezes.release(catalogue.experiment, "operator", null);
        change(700);

        assertFrozen(catalogue.night(tree));
        assertThat(ledger()).isEqualTo("experiment.frozen dozo, experiment.released operator, experiment.frozen dozo");
    }

    @Test
    void theTripwireIsArmedAgainAfterARelease() {
        change(300);
        catalogue.night(tree);
        catalogue.freezes.release(catalogue.experiment, "operator", null);
        catalogue.night(tree);
        tree.remove("sub-09").remove("sub-08");

        assertFrozen(catalogue.night(tree));
    }

    @Test
    void whatIsNotFrozenCannotBeReleased() {
        assertThatThrownBy(() -> catalogue.freezes.release(catalogue.experiment, "operator", null))
                .isInstanceOf(Refusal.class)
                .hasMessage("p/E is not frozen");
    }

    @Test
    void aReorganisedTreeIsNoLoss() {
        for (Map.Entry<FilePath, Facts> entry : new ArrayList<>(tree.entries().entrySet())) {
            if (entry.getValue().sizeBytes() > 0) {
                tree.put(FilePath.of("raw").resolve(entry.getKey()), entry.getValue());
            }
        }
        for (int i = 0; i < 10; i++) {
            tree.remove("sub-%02d".formatted(i));
        }

        assertThat(catalogue.night(tree).sealed()).isTrue();
    }

    @Test
    void newFilesAndNewPermissionsAreNoLoss() {
        tree.entries()
                .replaceAll((path, facts) -> new Facts(
                        facts.kind(),
                        facts.sizeBytes(),
                        facts.modifiedNanos(),
                        facts.changedNanos(),
                        0600,
                        null,
                        null));
        for (int i = 0; i < FILES; i++) {
            tree.put("new/file-" + i, 1, 1);
        }

        assertThat(catalogue.night(tree).sealed()).isTrue();
        assertThat(catalogue.lastDifferences()).containsExactly((long) FILES + 1, FILES + 10L, 0L, 0L);
    }

    @Test
    void theThresholdIsTheProjects() {
        catalogue.projects.setTripwire("p", new Threshold(50, 100), "test");
        change(300);

        assertThat(catalogue.night(tree).sealed()).isTrue();
    }

    @Test
    void anotherThresholdReleasesNothing() {
        change(300);
        assertFrozen(catalogue.night(tree));

        catalogue.projects.setTripwire("p", new Threshold(100, 1_000), "test");

        assertFrozen(catalogue.night(tree));
    }

    /** Limits on both sides of each edge: 20 %, 100 entries, half of fewer, ten. */
    @ParameterizedTest
    @CsvSource({
        "1000, 0, 199, 0, false",
        "1000, 0, 200, 0, true",
        "1000, 1000, 150, 199, false",
        "1000, 1000, 150, 200, true",
        "1000, 1000, 99, 1000, false",
        "300, 0, 99, 0, false",
        "300, 0, 100, 0, true",
        "150, 0, 74, 0, false",
        "150, 0, 75, 0, true",
        "60, 0, 29, 0, false",
        "60, 0, 30, 0, true",
        "10, 0, 9, 0, false",
        "10, 0, 10, 0, true",
        "9, 0, 9, 0, false",
        "0, 0, 0, 0, false"
    })
    void holdsFromTwentyPercentAndAHundredEntriesOn(long files, long bytes, long lost, long lostBytes, boolean holds) {
        Manifest before = new Manifest(1, 1, Instant.EPOCH, files, bytes, 5, 0);

        assertThat(new Tripwire(20, 100).holds(before, new Lost(lost, lostBytes)))
                .isEqualTo(holds);
    }

    private void assertFrozen(Ingested night) {
        assertThat(night.sealed()).isFalse();
        assertThat(night.findings()).extracting(finding -> finding.reason()).containsExactly(Problem.FROZEN);
        assertThat(catalogue.freezes.frozen(1)).isTrue();
    }

    /** Changes the content of the first files. */
    private void change(int files) {
        for (int i = 0; i < files; i++) {
            tree.put("sub-%02d/image-%04d.dcm".formatted(i / 100, i), 1_000, 2);
        }
    }

    private void unchange() {
        for (int i = 0; i < FILES; i++) {
            tree.put("sub-%02d/image-%04d.dcm".formatted(i / 100, i), 1_000, 1);
        }
    }

    private String ledger() {
        return String.join(
                ", ",
                catalogue
                        .jdbc
                        .sql("select action || ' ' || actor from ledger where action in "
                                + "('experiment.frozen', 'experiment.released') order by seq")
                        .query(String.class)
                        .list());
    }
}
