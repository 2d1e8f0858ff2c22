package dozo.run;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.content.Verdict.State;
import dozo.copy.Trees;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.loopback.LoopbackSite;
import dozo.registry.Scanners;
import dozo.registry.Scanners.Scanner;
import dozo.registry.Sites;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.verify.AllSeries;
import dozo.verify.AllSeries.Series;
import dozo.verify.Contents;
import dozo.verify.Contents.Count;
import dozo.verify.Contents.NotWhole;
import dozo.verify.Images;
import dozo.verify.Images.Image;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Content that is not whole is a finding in the night in which it is first read, and is stored as it is. */
class ContentIT {

    /** Larger than {@code dozo.transfer.large} in tests. */
    private static final int LARGE = 3 << 20;

    private static final String RAW_DATA = "1.2.840.10008.5.1.4.1.1.66";

    @TempDir
    Path folder;

    private Path root;
    private Path source;
    private LoopbackSite site;
    private Night night;

    @BeforeEach
    void start() throws Exception {
        root = Files.createDirectory(folder.resolve("dr"));
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
        source = Files.createDirectory(folder.resolve("source"));
    }

    @AfterEach
    void stop() throws Exception {
        night.close();
        site.close();
    }

    private void open(String... properties) {
        night = Night.on(site.address(), properties);
        night.register("E1", source);
    }

    private static byte[] gzip(int bytes) throws IOException {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(content);
        }
        return out.toByteArray();
    }

    private static byte[] cut(byte[] whole) {
        return Arrays.copyOf(whole, whole.length - 100);
    }

    private List<Count> counts() {
        return night.get(Contents.class).counts(night.experiment().id());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatIsNotWholeIsFoundByEveryWayOfSending(boolean sftpAlone) throws Exception {
        open("dozo.transfer.sftp-alone=" + sftpAlone);
        Files.write(source.resolve("small.gz"), gzip(1_000));
        Files.write(source.resolve("large.gz"), gzip(LARGE));
        Files.write(source.resolve("small-cut.gz"), cut(gzip(2_000)));
        Files.write(source.resolve("large-cut.gz"), cut(gzip(LARGE)));
        byte[] tail = Arrays.copyOf(gzip(3_000), 4_000);
        tail[3_999] = 1;
        Files.write(source.resolve("tail.gz"), tail);
        Files.writeString(source.resolve("text"), "nobody knows");
        Files.createFile(source.resolve("empty.dcm"));

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.findings(run))
                .extracting(finding -> finding.path(), finding -> finding.reason())
                .containsExactlyInAnyOrder(
                        tuple(FilePath.of("small-cut.gz"), Problem.BROKEN),
                        tuple(FilePath.of("large-cut.gz"), Problem.BROKEN));
        assertThat(night.findings(run))
                .allSatisfy(finding -> assertThat(finding.message())
                        .contains("not whole as gzip: it ends after", "The copy is the same"));
        assertThat(night.coverage().safe()).isTrue();
        NightlyBackupIT.assertSame(source, root.resolve("p/E1/data"));
        assertThat(counts())
                .extracting(Count::state, Count::format, Count::files)
                .containsExactly(
                        tuple(State.BROKEN, "gzip", 2L),
                        tuple(State.SUSPECT, "gzip", 1L),
                        tuple(State.WHOLE, "gzip", 2L),
                        tuple(State.UNKNOWN, "", 2L));
        List<NotWhole> all =
                night.get(Contents.class).notWhole(night.experiment().id(), 0, 10);
        assertThat(all).extracting(NotWhole::path).containsExactlyInAnyOrder("small-cut.gz", "large-cut.gz", "tail.gz");
        NotWhole first = all.getFirst();
        assertThat(night.get(Contents.class).notWhole(night.experiment().id(), first.entryNumber(), 1))
                .containsExactly(all.get(1));
    }

    @Test
    void whyNobodyKnowsIsListedUnlessTheFormatIsUnknown() throws Exception {
        open();
        Files.writeString(source.resolve("a.meg4"), "MEG41CP\0" + "12345678");
        Files.writeString(source.resolve("text"), "nobody knows");

        night.complete();

        String why = "only the .res4 beside it says how long it should be";
        assertThat(counts())
                .extracting(Count::state, Count::format, Count::files)
                .containsExactlyInAnyOrder(tuple(State.UNKNOWN, "CTF data (meg4)", 1L), tuple(State.UNKNOWN, "", 1L));
        assertThat(night.get(Contents.class).notWhole(night.experiment().id(), 0, 10))
                .extracting(NotWhole::path, NotWhole::state, NotWhole::why)
                .containsExactly(tuple("a.meg4", State.UNKNOWN, why));
        assertThat(root.resolve("p/E1/content.csv"))
                .hasContent("state,format,why,path\nunknown,CTF data (meg4)," + why + ",data/a.meg4\n");
        assertThat(night.count("select count(*) from content")).isOne();
    }

    @Test
    void thatNobodyKnowsNowTakesNothingBack() throws Exception {
        open();
        Files.write(source.resolve("a.gz"), cut(gzip(2_000)));
        Run first = night.run();
        night.update("""
                insert into content (experiment_id, state, format, why, entry_nos, judged_at)
                select experiment_id, 'UNKNOWN', 'gzip', 'given up', entry_nos, now() from content
                """);

        night.complete();

        assertThat(night.findings(first)).allMatch(finding -> finding.open());
        assertThat(counts()).extracting(Count::state).containsExactly(State.BROKEN);
        assertThat(night.get(Contents.class).notWhole(night.experiment().id(), 0, 10))
                .extracting(NotWhole::state)
                .containsExactly(State.BROKEN);
    }

    /** Another site reads the file again, and knows nothing new. */
    @Test
    void aFileStaysBrokenUntilAnotherOneHasItsPlace() throws Exception {
        open();
        Files.write(source.resolve("a.gz"), cut(gzip(2_000)));
        Run first = night.run();
        night.assertOnly(first, Problem.BROKEN);

        night.complete();
        assertThat(night.findings(first)).allMatch(finding -> finding.open());

        Path second = Files.createDirectory(folder.resolve("second"));
        try (LoopbackSite other = LoopbackSite.openSsh(folder.resolve("sshd-2"), second, 0)) {
            night.get(Sites.class).save("second", other.address(), "test");
            night.assertComplete(night.run("second"));
        }
        assertThat(night.get(Contents.class).notWhole(night.experiment().id(), 0, 10))
                .hasSize(1);

        Files.write(source.resolve("a.gz"), gzip(2_000));
        Run last = night.complete();
        assertThat(night.findings(first))
                .singleElement()
                .satisfies(finding -> assertThat(finding.supersededBy()).isEqualTo(last.id()));
        assertThat(counts()).extracting(Count::state).containsExactly(State.WHOLE);
    }

    @Test
    void aFileThatIsGoneIsNotBrokenAnyMore() throws Exception {
        open();
        Files.write(source.resolve("a.gz"), cut(gzip(2_000)));
        Files.write(source.resolve("b.gz"), gzip(2_000));
        Run first = night.run();

        Files.delete(source.resolve("a.gz"));
        night.complete();

        assertThat(night.findings(first)).noneMatch(finding -> finding.open());
    }

    /** Names are bytes, and one line is one file. */
    @Test
    void theBagListsWhatWasJudgedInTheOrderOfItsManifest() throws Exception {
        open();
        Files.write(source.resolve("whole.gz"), gzip(2_000));
        Files.write(source.resolve("a \"cut\", 1%0A\n.gz"), cut(gzip(2_000)));
        Files.write(Trees.named(source, "脳.gz", "windows-31j"), gzip(1_000));
        Files.writeString(source.resolve("text"), "nobody knows");
        night.run();
        Path bag = root.resolve("p/E1");

        NightlyBackupIT.assertChecks(bag);
        List<String> lines = Files.readAllLines(bag.resolve("content.csv"), ISO_8859_1);
        assertThat(lines.getFirst()).isEqualTo("state,format,why,path");
        assertThat(lines.subList(1, lines.size()))
                .satisfiesExactlyInAnyOrder(
                        line -> assertThat(line).isEqualTo("whole,gzip,,data/whole.gz"),
                        line -> assertThat(line).isEqualTo("whole,gzip,,data/\u0094].gz"),
                        line -> assertThat(line)
                                .startsWith("broken,gzip,\"it ends after")
                                .endsWith(",\"data/a \"\"cut\"\", 1%250A%0A.gz\""));
        List<String> manifest = Files.readAllLines(bag.resolve("manifest-sha256.txt"), ISO_8859_1).stream()
                .map(line -> line.substring(line.indexOf("data/")))
                .filter(name -> !name.equals("data/text"))
                .toList();
        assertThat(lines.stream().skip(1).map(ContentIT::path)).isEqualTo(manifest);
    }

    private static String path(String line) {
        return line.endsWith("\"")
                ? line.substring(line.lastIndexOf(",\"data/") + 2, line.length() - 1)
                        .replace("\"\"", "\"")
                : line.substring(line.lastIndexOf("data/"));
    }

    /** What the source has deleted stays in the bag, and in the list; of a changed file, the new content counts. */
    @Test
    void theListSaysWhatStandsInTheBag() throws Exception {
        open();
        Files.write(source.resolve("gone.gz"), cut(gzip(2_000)));
        Files.write(source.resolve("changed.gz"), cut(gzip(2_000)));
        night.run();
        Path list = root.resolve("p/E1/content.csv");
        String first = Files.readString(list);
        Object written = Files.getLastModifiedTime(list);

        Files.delete(source.resolve("gone.gz"));
        Files.writeString(source.resolve("text"), "nobody knows");
        night.complete();

        assertThat(list).hasContent(first);
        assertThat(Files.getLastModifiedTime(list)).as("not written again").isEqualTo(written);

        Files.write(source.resolve("changed.gz"), gzip(2_000));
        night.complete();

        assertThat(Files.readAllLines(list))
                .hasSize(3)
                .anySatisfy(line -> assertThat(line).startsWith("broken,gzip,").endsWith(",data/gone.gz"))
                .contains("whole,gzip,,data/changed.gz");
        assertThat(root.resolve(".dozo/versions/p/E1/3/content.csv")).hasContent(first);
    }

    @Test
    void aScrubFindsAChangedListAndTheNextNightWritesItAgain() throws Exception {
        open();
        Files.write(source.resolve("a.gz"), gzip(2_000));
        night.complete();
        Path list = root.resolve("p/E1/content.csv");
        String written = Files.readString(list);
        Trees.flip(list, 1);

        Run scrub = night.scrub();

        assertThat(night.findings(scrub))
                .filteredOn(finding -> finding.reason() == Problem.TAGS_ALTERED)
                .extracting(finding -> finding.message())
                .containsExactly(
                        "the tag file p/E1/content.csv differs from what was written (ALTERED); the next night writes it again");
        night.complete();
        assertThat(list).hasContent(written);
    }

    @Test
    void whereTheScannerDeletesSoonTheFindingSaysWhen() throws Exception {
        open();
        night.get(Scanners.class).put(new Scanner("3T-A", List.of(), 4), "test");
        night.update("update experiment set scanner = '3T-A', acquired_on = date '2026-11-30'");
        Files.write(source.resolve("a.gz"), cut(gzip(2_000)));

        assertThat(night.findings(night.run()))
                .singleElement()
                .satisfies(finding ->
                        assertThat(finding.message()).endsWith(". The scanner deletes it on Friday, 2026-12-04"));
    }

    /** A data set without image (PS3.5 section 7.1.3, implicit little endian). */
    private void instance(String name, String series, int number) throws IOException {
        ByteBuffer data = ByteBuffer.allocate(1_024).order(ByteOrder.LITTLE_ENDIAN);
        element(data, 0x0008_0016, RAW_DATA + '\0');
        element(data, 0x0008_0018, "1.2.%s.%d".formatted(series, number));
        element(data, 0x0008_103E, "T1w  ");
        element(data, 0x0020_000E, "1.2." + series);
        element(data, 0x0020_0011, series);
        element(data, 0x0020_0013, String.valueOf(number));
        Files.write(source.resolve(name), Arrays.copyOf(data.array(), data.position()));
    }

    private static void element(ByteBuffer data, int tag, String text) {
        String value = text.length() % 2 == 0 ? text : text + " ";
        data.putShort((short) (tag >>> Short.SIZE)).putShort((short) tag).putInt(value.length());
        data.put(value.getBytes(ISO_8859_1));
    }

    /** Numbers may begin anywhere, repeat, and come in two nights; those that are far apart count nothing. */
    @Test
    void aHoleInTheNumbersOfASeriesIsShownAndNoFinding() throws Exception {
        open();
        for (int i = 11; i <= 30; i++) {
            if (i != 20 && i != 23 && i != 24) {
                instance("hole-" + i, "7", i);
            }
            instance("whole-" + i, "8", i);
            instance("apart-" + i, "9", 100 * i);
        }
        instance("echo-2", "8", 15);
        instance("one", "10", 20);
        night.complete();
        instance("later", "7", 20);
        night.complete();

        List<Series> series = night.get(AllSeries.class).of(night.experiment().id());

        assertThat(series)
                .extracting(Series::number, Series::description, Series::images, Series::state, Series::why)
                .containsExactly(
                        tuple(7, "T1w", 18L, State.SUSPECT, "18 of 20 images: 23 to 24 are missing"),
                        tuple(8, "T1w", 20L, State.UNKNOWN, ""),
                        tuple(9, "T1w", 20L, State.UNKNOWN, ""),
                        tuple(10, "T1w", 1L, State.UNKNOWN, ""));
    }

    private List<Long> seriesBytes() {
        return night.get(AllSeries.class).of(night.experiment().id()).stream()
                .map(Series::bytes)
                .toList();
    }

    /** However often a file was read, it counts once, and only while it is there. */
    @Test
    void aSeriesHasTheBytesOfItsCurrentFiles() throws Exception {
        open();
        for (int i = 1; i <= 3; i++) {
            instance("a-" + i, "7", i);
        }
        instance("b", "8", 1);
        long bytes = Files.size(source.resolve("a-1"));
        night.complete();
        assertThat(seriesBytes()).containsExactly(3 * bytes, bytes);

        try (LoopbackSite other =
                LoopbackSite.openSsh(folder.resolve("sshd-2"), Files.createDirectory(folder.resolve("second")), 0)) {
            night.get(Sites.class).save("second", other.address(), "test");
            night.assertComplete(night.run("second"));
        }
        assertThat(seriesBytes()).containsExactly(3 * bytes, bytes);

        instance("a-10", "7", 10);
        Files.delete(source.resolve("a-1"));
        Files.delete(source.resolve("b"));
        night.complete();
        assertThat(seriesBytes()).containsExactly(2 * bytes + Files.size(source.resolve("a-10")), 0L);
    }

    @Test
    void theBytesOfASeriesThatWasRecordedWithoutThemAreUnknown() throws Exception {
        open();
        instance("a", "7", 1);
        night.complete();
        night.update("""
                insert into image_series (experiment_id, series_uid, description, instance_numbers)
                select experiment_id, series_uid, '', instance_numbers from image_series
                """);

        assertThat(seriesBytes()).containsExactly((Long) null);
    }

    private List<String> paths(int manifest, String... series) {
        return night.get(AllSeries.class).paths(night.experiment().id(), manifest, List.of(series)).stream()
                .map(FilePath::toString)
                .toList();
    }

    private void assertUnknown(String message, int manifest, String... series) {
        assertThatThrownBy(() -> paths(manifest, series)).hasMessage(message);
    }

    @Test
    void theFilesOfASeriesAreSelectedInTheirManifestAFolderWithNothingElseAsOne() throws Exception {
        open();
        for (String each : List.of("pure", "mixed", "pure/below")) {
            Files.createDirectory(source.resolve(each));
        }
        instance("pure/a-1", "7", 1);
        instance("pure/a-2", "7", 2);
        instance("pure/below/a-3", "7", 3);
        instance("mixed/a-4", "7", 4);
        instance("mixed/b-1", "8", 1);
        Files.writeString(source.resolve("mixed/text"), "no image");
        night.complete();
        Files.delete(source.resolve("mixed/a-4"));
        instance("mixed/b-2", "8", 2);
        night.complete();

        assertThat(paths(1, "1.2.7")).containsExactly("mixed/a-4", "pure/a-1", "pure/a-2", "pure/below");
        assertThat(paths(2, "1.2.7")).containsExactly("pure/a-1", "pure/a-2", "pure/below");
        assertThat(paths(1, "1.2.8")).containsExactly("mixed/b-1");
        assertThat(paths(2, "1.2.8", "1.2.7"))
                .containsExactly("mixed/b-1", "mixed/b-2", "pure/a-1", "pure/a-2", "pure/below");
        assertThat(paths(1)).isEmpty();
        assertUnknown("manifest 1 has no file of series 1.2.9, or none was read yet", 1, "1.2.7", "1.2.9");
        assertThatThrownBy(() -> paths(1, Collections.nCopies(1_001, "1.2.7").toArray(String[]::new)))
                .hasMessage("expected at most 1000 series");
    }

    @Test
    void anExperimentOfOneSeriesIsSelectedAsAWholeAndOneThatIsGoneIsNotThere() throws Exception {
        open();
        instance("a-1", "7", 1);
        night.complete();
        assertThat(night.get(AllSeries.class).paths(night.experiment().id(), 1, List.of("1.2.7")))
                .containsExactly(FilePath.ROOT);

        Files.delete(source.resolve("a-1"));
        instance("b-1", "8", 1);
        night.complete();
        assertUnknown("manifest 2 has no file of series 1.2.7, or none was read yet", 2, "1.2.7");
    }

    /** NB: a file without a number, or that was read by an earlier version, may belong to any series. */
    @Test
    void nothingIsSelectedBySeriesWhileThatOfAFileIsUnknown() throws Exception {
        open();
        instance("a-1", "7", 1);
        instance("odd", "7", -1);
        night.complete();

        assertUnknown("the series of 1 DICOM files in manifest 1 are unknown: select by path or pattern", 1, "1.2.7");
    }

    @Test
    void aNightKnowsWhichImagesItHasProven() throws Exception {
        open("dozo.ingest.images=true");
        instance("a", "7", 1);
        List<Image> asked = List.of(new Image(RAW_DATA, "1.2.7.1"), new Image(RAW_DATA, "1.2.7.2"));
        assertThat(night.get(Images.class).safe(asked)).isEmpty();
        night.complete();

        assertThat(night.get(Images.class).safe(asked)).containsExactly(asked.getFirst());
    }

    @Test
    void imagesAreOnlyRecordedWhereTheyAreAskedFor() throws Exception {
        open();
        instance("a", "7", 1);
        night.complete();

        assertThat(night.get(Images.class).safe(List.of(new Image(RAW_DATA, "1.2.7.1"))))
                .isEmpty();
    }

    /** The header of NIfTI-1 in two files: 10 voxels of 8 bits. */
    private static byte[] pairHeader() {
        ByteBuffer header = ByteBuffer.allocate(348).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(0, 348).putShort(40, (short) 1).putShort(42, (short) 10);
        header.putShort(70, (short) 2).putShort(72, (short) 8);
        return header.put(344, "ni1".getBytes(ISO_8859_1)).array();
    }

    /** The other file is read alone in a later night: the header is judged again. */
    @Test
    void aHeaderIsBrokenUntilItsFileHasAllOfTheData() throws Exception {
        open();
        Path images = Files.write(source.resolve("a.img"), new byte[7]);
        Files.write(source.resolve("a.hdr"), pairHeader());
        Files.write(source.resolve("alone.hdr"), pairHeader());
        Files.write(source.resolve("packed.hdr"), pairHeader());
        Files.write(source.resolve("packed.img.gz"), gzip(10));
        Files.createSymbolicLink(source.resolve("linked.img"), images);
        Files.write(source.resolve("linked.hdr"), pairHeader());

        Run first = night.run();

        assertThat(night.findings(first))
                .extracting(finding -> finding.path(), finding -> finding.reason())
                .containsExactlyInAnyOrder(
                        tuple(FilePath.of("a.hdr"), Problem.BROKEN), tuple(FilePath.of("alone.hdr"), Problem.BROKEN));
        assertThat(night.findings(first))
                .extracting(finding -> finding.message())
                .anyMatch(message -> message.contains("it says 10 bytes of data, a.img has 7"))
                .anyMatch(message -> message.contains("alone.img is missing"));

        Files.write(images, new byte[10]);
        Files.write(source.resolve("alone.img"), new byte[9]);
        night.run();

        assertThat(night.findings(first))
                .filteredOn(finding -> finding.open())
                .singleElement()
                .satisfies(finding -> assertThat(finding.path()).isEqualTo(FilePath.of("alone.hdr")));
        assertThat(night.get(Contents.class).notWhole(night.experiment().id(), 0, 10))
                .singleElement()
                .satisfies(file -> assertThat(file.why()).isEqualTo("it says 10 bytes of data, alone.img has 9"));
    }

    /** A catalogue that was rebuilt from the bags alone, without records. */
    @Test
    void aRebuiltCatalogueDoesNotForgetWhatIsBroken() throws Exception {
        open();
        Files.write(source.resolve("a.gz"), cut(gzip(2_000)));
        Run first = night.run();
        night.update("alter table content disable trigger content_is_erased");
        assertThat(night.update("delete from content")).isEqualTo(1);

        night.complete();

        assertThat(night.findings(first)).allMatch(finding -> finding.open());
    }

    @Test
    void aCentreMayTurnItOff() throws Exception {
        open("dozo.ingest.inspect=false");
        Files.write(source.resolve("a.gz"), cut(gzip(2_000)));

        night.complete();

        assertThat(counts()).extracting(Count::state).containsExactly(State.UNKNOWN);
    }
}
