package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.FilePath;
import dozo.file.PathPattern;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.ledger.Ledger;
import dozo.manifest.Manifests;
import dozo.restore.ArchiveRestore.Counts;
import dozo.restore.KeptRestore;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.restore.Restores.RestoreFinding;
import dozo.restore.Restores.RestoreState;
import dozo.restore.Target;
import dozo.source.dicomweb.FaultyProxy;
import dozo.source.dicomweb.FaultyProxy.Fault;
import dozo.verify.AllSeries;
import dozo.verify.AllSeries.Series;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What was in a real Orthanc and is at a real sshd comes back into an empty Orthanc, byte for byte. */
class RestoreToOrthancIT extends NightWithOrthanc {

    private static final Pattern STOW = Pattern.compile("/dicom-web/studies");
    private static final Selection IMAGES =
            new Selection(List.of(), List.of(PathPattern.of("*.dcm".getBytes(StandardCharsets.UTF_8))));

    @BeforeEach
    void open() throws IOException {
        night.register("E1", source);
        origin(orthanc.address(), false);
    }

    @Test
    void aLostOrthancHasEveryInstanceAgainWithItsBytes() throws Exception {
        orthanc.store(
                corpus.resolve("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2"),
                corpus.resolve("philips_dcm_qa_philips/Vanderbilt_2018"));
        Set<String> uids = uids();
        Map<String, String> digests = digests();
        download();
        night.complete();
        replace("new", false);
        origin(orthanc.address(), false);
        long before = night.get(Ledger.class).last();
        long began = System.nanoTime();

        KeptRestore ended = ended(request(Selection.ALL, false));

        System.out.printf(
                "restore of %d instances, %,d bytes into an empty Orthanc: %d ms%n",
                uids.size(), ended.bytes(), (System.nanoTime() - began) / 1_000_000);
        assertThat(ended.state()).as(ended.message()).isEqualTo(RestoreState.COMPLETE);
        assertThat(uids()).isEqualTo(uids).hasSizeGreaterThan(50);
        assertThat(digests()).isEqualTo(digests);
        assertThat(ended.counts()).isEqualTo(new Counts(studies(), series(), uids.size(), 0, 0, 0));
        assertThat(ended.entriesVerified()).isEqualTo(uids.size());
        assertThat(night.get(Ledger.class).after(before, 10))
                .extracting(row -> row.action())
                .containsExactly("restore.requested", "restore.ended");
        assertThat(night.get(Ledger.class).after(before, 10))
                .allSatisfy(row -> assertThat(row.detail()).contains("\"origin\": \"pacs\""));

        KeptRestore again = ended(request(Selection.ALL, false));
        assertThat(again.state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(again.counts()).isEqualTo(new Counts(studies(), series(), 0, uids.size(), 0, 0));
    }

    @Test
    void aServiceThatIsKilledContinuesWithoutSendingAgainWhatIsThere() throws Exception {
        orthanc.store(corpus.resolve("ge_dcm_qa_ge"));
        Set<String> uids = uids();
        download();
        night.complete();
        replace("new", false);
        try (FaultyProxy proxy = new FaultyProxy(orthanc.address())) {
            origin(proxy.address(), false);
            night.get(RestoreQueue.class).stop();
            long id = request(Selection.ALL, false);
            night.close();
            // The first hundred arrive; the next request hangs until the process is dead.
            proxy.plan(STOW, 1, 1, Fault.SILENT);
            ArchiveRestoreProcess.start(folder.resolve("child.log"), site.address(), database)
                    .killWhen(() -> proxy.asked(STOW) == 2);
            assertThat(uids()).hasSize(100);

            night = new Night(database, site.address(), OwnModules.ORIGINS);
            KeptRestore ended = ended(id);

            assertThat(ended.state()).as(ended.message()).isEqualTo(RestoreState.COMPLETE);
            assertThat(ended.counts()).isEqualTo(new Counts(studies(), series(), uids.size() - 100, 100, 0, 0));
            assertThat(uids()).isEqualTo(uids);
        }
    }

    @Test
    void whatIsNoInstanceIsListedAndASelectionOfImagesIsComplete() throws Exception {
        copy(corpus.resolve("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2"), "images");
        Files.writeString(source.resolve("README"), "not an image");
        Files.write(source.resolve("large.dat"), new byte[3 << 20]);
        Files.createFile(source.resolve("empty"));
        Files.copy(corpus.resolve("made_conflicts_and_broken/missing_study_uid.dcm"), source.resolve("no-uid.dcm"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("README"));
        night.complete();

        KeptRestore whole = ended(request(Selection.ALL, false));

        assertThat(whole.state()).isEqualTo(RestoreState.FINDINGS);
        assertThat(whole.counts()).isEqualTo(new Counts(1, 1, 14, 0, 0, 5));
        assertThat(findings(whole))
                .containsExactlyInAnyOrder(
                        "NOT_SENT README: it is not a DICOM Part 10 file",
                        "NOT_SENT large.dat: it is not a DICOM Part 10 file",
                        "NOT_SENT empty: it is not a DICOM Part 10 file",
                        "NOT_SENT link: it is a symbolic link",
                        "NOT_SENT no-uid.dcm: it has no valid StudyInstanceUID, SeriesInstanceUID or SOPInstanceUID");

        KeptRestore images = ended(request(Selection.of(FilePath.of("images")), false));
        assertThat(images.state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(images.counts()).isEqualTo(new Counts(1, 1, 0, 14, 0, 0));
    }

    @Test
    void oneSeriesComesBackAlone() throws Exception {
        orthanc.store(
                corpus.resolve("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2"),
                corpus.resolve("philips_dcm_qa_philips/Vanderbilt_2018"));
        download();
        night.complete();
        replace("new", false);
        origin(orthanc.address(), false);
        AllSeries all = night.get(AllSeries.class);
        Series wanted = all.of(night.experiment().id()).getFirst();

        List<FilePath> paths = all.paths(night.experiment().id(), 1, List.of(wanted.seriesUid()));
        KeptRestore ended = ended(request(new Selection(paths, List.of()), false));

        assertThat(ended.state()).as(ended.message()).isEqualTo(RestoreState.COMPLETE);
        assertThat(ended.counts()).isEqualTo(new Counts(1, 1, paths.size(), 0, 0, 0));
        assertThat(uids()).hasSize(paths.size()).hasSizeGreaterThan(1);
        assertThat(series()).isOne();
    }

    @Test
    void otherPixelsStayUnlessSomebodyWantsThemReplaced() throws Exception {
        Path conflicts = corpus.resolve("made_conflicts_and_broken");
        orthanc.store(conflicts.resolve("same_sop_uid_v2_other_pixels.dcm"));
        Map<String, String> theirs = digests();
        Files.copy(conflicts.resolve("same_sop_uid_v1.dcm"), source.resolve("v1.dcm"));
        night.complete();

        KeptRestore kept = ended(request(IMAGES, false));

        assertThat(kept.state()).isEqualTo(RestoreState.FINDINGS);
        assertThat(kept.counts()).isEqualTo(new Counts(0, 0, 0, 0, 1, 0));
        assertThat(findings(kept)).singleElement().asString().contains("ARCHIVE_DIFFERS v1.dcm: ", "(7fe0,0010)");
        assertThat(digests()).isEqualTo(theirs);

        KeptRestore replaced = ended(request(IMAGES, true));
        assertThat(replaced.state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(replaced.counts()).isEqualTo(new Counts(1, 1, 1, 0, 0, 0));
        assertThat(digests().values()).containsExactly(md5(source.resolve("v1.dcm")));
    }

    @Test
    void anOrthancThatReplacesNothingIsNotBelievedAndOfTwoFilesWithOneUidTheSecondIsAFinding() throws Exception {
        replace("strict", false);
        origin(orthanc.address(), false);
        Path conflicts = corpus.resolve("made_conflicts_and_broken");
        Files.copy(conflicts.resolve("same_sop_uid_v1.dcm"), source.resolve("1.dcm"));
        Files.copy(conflicts.resolve("same_sop_uid_v2_other_pixels.dcm"), source.resolve("2.dcm"));
        night.complete();

        for (boolean replaces : List.of(false, true)) {
            KeptRestore ended = ended(request(IMAGES, replaces));

            assertThat(ended.state()).isEqualTo(RestoreState.FINDINGS);
            assertThat(ended.counts())
                    .isEqualTo(replaces ? new Counts(1, 1, 0, 1, 1, 0) : new Counts(1, 1, 1, 0, 1, 0));
            assertThat(findings(ended)).singleElement().asString().startsWith("ARCHIVE_DIFFERS 2.dcm: ");
            assertThat(digests().values()).containsExactly(md5(source.resolve("1.dcm")));
        }
        ended(request(Selection.of(FilePath.of("2.dcm")), true));
        assertThat(digests().values())
                .as("it calls everything stored, and keeps what it had")
                .containsExactly(md5(source.resolve("1.dcm")));
        assertThat(findings(ended(request(Selection.of(FilePath.of("2.dcm")), true))))
                .singleElement()
                .asString()
                .contains("after it was sent");
    }

    @Test
    void aHopOverTheNetworkChangesBytesAndNoAttribute() throws Exception {
        Path images = corpus.resolve("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2");
        orthanc.store(images);
        copy(images, "images");
        night.complete();

        KeptRestore ended = ended(request(Selection.ALL, false));

        assertThat(ended.counts()).isEqualTo(new Counts(0, 0, 0, 0, 14, 0));
        assertThat(findings(ended))
                .allSatisfy(finding ->
                        assertThat(finding).endsWith("all attributes are equal, only their encoding differs"));
    }

    @Test
    void aDamagedCopyAndALostOneAreNotSent() throws Exception {
        copy(corpus.resolve("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2"), "images");
        night.complete();
        List<Path> copies = files(folder.resolve("dr/p/E1/data/images"));
        byte[] bytes = Files.readAllBytes(copies.getFirst());
        bytes[bytes.length / 2] ^= 1;
        Files.write(copies.getFirst(), bytes);
        Files.delete(copies.getLast());

        KeptRestore ended = ended(request(Selection.ALL, false));

        assertThat(ended.state()).isEqualTo(RestoreState.FINDINGS);
        assertThat(ended.counts()).isEqualTo(new Counts(1, 1, 12, 0, 0, 2));
        assertThat(night.get(Restores.class).findings(ended.id(), 0, 10))
                .extracting(RestoreFinding::reason)
                .containsExactlyInAnyOrder(Problem.MISMATCHED, Problem.VANISHED);
        assertThat(uids()).hasSize(12);
    }

    @Test
    void anArchiveThatIsNotThereFailsTheRestoreAndIsNoReasonToWait() throws Exception {
        copy(corpus.resolve("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2"), "images");
        night.complete();
        orthanc.stop();

        KeptRestore failed = ended(request(Selection.ALL, false));

        assertThat(failed.state()).isEqualTo(RestoreState.FAILED);
        assertThat(failed.message()).contains("no connection");
        assertThatThrownBy(() -> request(Selection.of(FilePath.of("none")), false))
                .hasMessage("p/E1 has nothing with this path in the requested state");
        assertThatThrownBy(() -> night.get(RestoreQueue.class)
                        .request(
                                night.experiment(),
                                night.get(Manifests.class).find(1, 1).orElseThrow(),
                                Selection.ALL,
                                night.site(),
                                new Target.Archive("nowhere", false),
                                "lab"))
                .hasMessage("there is no origin nowhere; register it first");
        orthanc.start();
    }

    private long request(Selection selection, boolean replaces) {
        return request(night.experiment(), selection, replaces);
    }

    private KeptRestore ended(long id) {
        return ended(night.experiment(), id);
    }

    /** Downloads all instances of the Orthanc into the source. */
    private void download() throws Exception {
        for (String id : ids("/instances")) {
            Files.write(source.resolve(id + ".dcm"), orthanc.file(id));
        }
    }

    private long studies() throws Exception {
        return ids("/studies").size();
    }

    private long series() throws Exception {
        return ids("/series").size();
    }

    private static String md5(Path file) throws IOException {
        return md5(Files.readAllBytes(file));
    }

    private void copy(Path from, String name) throws IOException {
        Files.createDirectory(source.resolve(name));
        for (Path file : files(from)) {
            Files.copy(file, source.resolve(name).resolve(file.getFileName()));
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }
}
