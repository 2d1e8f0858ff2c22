package dozo.source.tree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dozo.file.FilePath;
import dozo.source.dicom.SharedData;
import dozo.source.tree.Observed.Reason;
import dozo.source.tree.Observed.Said;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real folders as researchers keep them. */
class ExperimentFolderTest {

    private static final Instant NOW = Instant.parse("2100-01-01T00:00:00Z");

    @TempDir
    Path folder;

    @Test
    void recordingsThatAListOfScansNamesAndThatHaveTheirSidecarsAreAllThere() throws Exception {
        assertThat(bids("ds000246", "sub-emptyroom")).isEqualTo(new Said.Done(false));
    }

    @Test
    void anImageThatNoListNamesLeavesItOpenWhetherMoreIsToCome() throws Exception {
        assertThat(bids("ds000246", "sub-0001")).isEqualTo(new Said.Silent());
    }

    @Test
    void sidecarsInTheFoldersAboveCount() throws Exception {
        assertThat(bids("ds007", "sub-01")).isEqualTo(new Said.Silent());

        Path copy = copied(shared("bids/ds007"), folder.resolve("ds"));
        Files.delete(copy.resolve("task-stopsignalwithletternaming_bold.json"));

        assertThat(said(copy, "sub-01", "bids"))
                .isInstanceOfSatisfying(
                        Said.Lacking.class,
                        lacking -> assertThat(lacking.reasons())
                                .extracting(Reason::word, Reason::name)
                                .contains(tuple(
                                        "NO_SIDECAR",
                                        "func/sub-01_task-stopsignalwithletternaming_run-01_bold.nii.gz")));
    }

    @Test
    void aScanThatIsNamedAndNotThereIsMissing() throws Exception {
        Path copy = copied(shared("bids/ds000246"), folder.resolve("ds"));
        Path recording = copy.resolve("sub-0001/meg/sub-0001_task-AEF_run-02_meg.ds");
        Files.move(recording, folder.resolve("elsewhere"));

        assertThat(said(copy, "sub-0001", "bids"))
                .isInstanceOfSatisfying(
                        Said.Lacking.class,
                        lacking -> assertThat(lacking.reasons())
                                .containsExactly(new Reason(
                                        "NOT_THERE",
                                        "meg/sub-0001_task-AEF_run-02_meg.ds",
                                        "listed in sub-0001_scans.tsv, but does not exist")));
    }

    /** Of two GE series, one states its 14 images, the other the 48 images of one of its three volumes. */
    @Test
    void aSeriesWithoutOneOfItsImagesIsShort() throws Exception {
        Path copy = copied(shared("dicom/ge_dcm_qa_ge"), folder.resolve("e"));
        assertThat(said(folder, "e", "dicom 2")).isEqualTo(new Said.Done(false));

        try (Stream<Path> images = Files.list(copy.resolve("01_Ax_DWI_TENSOR_R2"))) {
            Files.delete(images.findFirst().orElseThrow());
        }

        assertThat(said(folder, "e", "dicom 2"))
                .isInstanceOfSatisfying(
                        Said.Lacking.class,
                        lacking -> assertThat(lacking.reasons())
                                .extracting(Reason::word, Reason::message)
                                .containsExactly(tuple("SHORT_SERIES", "13 of 14 images of acquisition 1 are here")));
    }

    @Test
    void nastyNamesAndLinksThatLeadToNothingAreCountedAndNothingIsFollowed() throws Exception {
        Path tree = Files.createDirectory(folder.resolve("e"));
        Files.createSymbolicLink(tree.resolve("annexed.nii.gz"), Path.of(".git/annex/objects/x"));
        Files.createSymbolicLink(tree.resolve("up"), folder);
        Files.writeString(tree.resolve("a"), "alpha");
        Files.writeString(
                FilePath.ROOT.resolve(new byte[] {(byte) 0xff, (byte) 0xfe}).under(tree), "b");

        Observed seen = new ExperimentFolder(folder, FilePath.of("e")).look(Rules.USUAL, NOW);

        assertThat(seen.files()).isEqualTo(2);
        assertThat(seen.bytes()).isEqualTo(6);
        assertThat(seen.remarks())
                .containsExactly(new Reason("DANGLING", "annexed.nii.gz", "dangling symbolic link; copied as a link"));
    }

    @Test
    void aListOfScansMayBeginWithAMarkAndCalibrationIsNoRecording() throws Exception {
        Path copy = copied(shared("bids/ds000248/sub-01"), folder.resolve("sub-01"));
        Files.delete(copy.resolve("anat/sub-01_T1w.nii.gz"));
        Files.delete(copy.resolve("anat/sub-01_FLASH.nii.gz"));

        assertThat(said(folder, "sub-01", "bids")).isEqualTo(new Said.Done(false));
    }

    private static Said bids(String data, String subject) throws IOException, InterruptedException {
        return said(shared("bids/" + data), subject, "bids");
    }

    private static Said said(Path root, String path, String rule) throws IOException, InterruptedException {
        return new ExperimentFolder(root.toRealPath(), FilePath.of(path))
                .look(Rules.of(List.of(rule)), NOW)
                .said()
                .getFirst();
    }

    private static Path shared(String path) {
        return SharedData.folder().resolveSibling(path);
    }

    private static Path copied(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.toList()) {
                Path copy = to.resolve(from.relativize(each).toString());
                if (Files.isDirectory(each)) {
                    Files.createDirectories(copy);
                } else {
                    Files.copy(each, copy);
                }
            }
        }
        return to;
    }
}
