package dozo.suggest;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Trees;
import dozo.db.TestDatabase;
import dozo.file.FilePath;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.registry.BulkRegistration;
import dozo.registry.BulkRegistration.Answer;
import dozo.registry.BulkRegistration.Mode;
import dozo.registry.Code;
import dozo.registry.Experiments;
import dozo.registry.Guess;
import dozo.registry.Hint;
import dozo.registry.Hint.Kind;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.RegistrationSettings;
import dozo.registry.Scanners;
import dozo.registry.Scanners.Scanner;
import dozo.registry.SourcePlaces;
import dozo.registry.Verdict;
import dozo.registry.Verdict.Outcome;
import dozo.source.dicom.Dataset;
import dozo.source.dicom.PseudonymousCode;
import dozo.source.dicom.SharedData;
import dozo.source.dicomweb.Spool;
import dozo.suggest.FolderLook.Limits;
import dozo.worklist.Bookings;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** A folder's content gives suggestions for its registration; contradictions become hints, not guesses. */
class SuggestionsTest {

    private static final InstantSource CLOCK = () -> Instant.parse("2026-11-21T12:00:00Z");
    private static final ZoneId ZONE = ZoneId.of("Asia/Tokyo");
    private static final Sight LAB = Sight.of(Set.of("P1"));
    private static final String PATIENT = "Yamada^Tarou";
    private static final String STUDY = "1.2.392.1";
    private static final String CODE = "20261001-MR-" + Spool.folder(STUDY).substring(0, 4);

    @TempDir
    Path temporary;

    private final javax.sql.DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Ledger ledger = new Ledger(jdbc, CLOCK);
    private final Projects projects = new Projects(jdbc, ledger, CLOCK);
    private final Experiments experiments = new Experiments(jdbc, projects, ledger, CLOCK);
    private final Scanners scanners = new Scanners(jdbc, ledger);
    private final PseudonymousCode codes = new PseudonymousCode("a key for tests, of many bytes".getBytes(US_ASCII));
    private final Suggestions suggestions = suggestions(new RegistrationSettings(false));

    private Path root = Path.of("");
    private Path visit = Path.of("");

    @BeforeEach
    void makeProjects() throws IOException {
        root = Files.createDirectory(temporary.toRealPath().resolve("p1"));
        visit = Files.createDirectory(root.resolve(PATIENT));
        for (String project : List.of("P1", "P2")) {
            projects.create(project, "", "test");
        }
        projects.setRoots("P1", List.of(root), "test");
    }

    @Test
    void aVisitSaysProjectScannerModalityDayAndSubjectAndNobodysName() throws IOException {
        image(visit.resolve("a/1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        image(visit.resolve("a/2"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        image(visit.resolve("b/report"), STUDY, "0123", "20261001", "SR", "PACS", "A1");
        scanners.put(new Scanner("S7T", List.of("AWP7"), null), "test");

        Suggestion suggestion = suggestions.of(LAB, visit);

        String subject = codes.of("0123").orElseThrow();
        assertThat(suggestion.guess())
                .isEqualTo(new Guess(
                        "P1", CODE, "MR 2026-10-01 " + subject, "MR", "S7T", LocalDate.of(2026, 10, 1), List.of()));
        assertThat(suggestion.subject()).isEqualTo(subject);
        assertThat(suggestion.studies()).containsExactly(STUDY);
        assertThat(suggestion.whole()).isTrue();
        assertThat(suggestion.filesRead()).isEqualTo(3);
        assertThat(suggestion.guess() + suggestion.subject() + suggestion.studies())
                .doesNotContain("Yamada", "Tarou", "0123");
    }

    private Suggestions suggestions(RegistrationSettings settings) {
        return new Suggestions(jdbc, new SourcePlaces(jdbc), experiments, scanners, codes, CLOCK, ZONE, settings);
    }

    private Guess named(Sight sight, Path folder) {
        return suggestions(new RegistrationSettings(true)).of(sight, folder).guess();
    }

    @Test
    void aFoldersNameIsTheTitleIfNothingBetterIsKnownAndNamesAreAllowed() throws IOException {
        assertThat(named(LAB, visit).title()).isEqualTo(PATIENT);
        assertThat(suggestions.of(LAB, visit).guess().title()).isNull();
        Path old = FilePath.of("視覚".getBytes(Charset.forName("EUC-JP"))).under(root);
        Files.createDirectory(old);
        assertThat(named(LAB, old).title()).isEqualTo("視覚");

        image(visit.resolve("1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        assertThat(named(LAB, visit).title()).startsWith("MR 2026-10-01").doesNotContain("Yamada");

        Path csv = Files.createDirectory(root.resolve("third visit"));
        Answer filled = new BulkRegistration(jdbc, ledger, CLOCK, new JdbcTransactionManager(database))
                .register(
                        LAB,
                        new ByteArrayInputStream(("project,code,source,title\nP1,E1," + csv + ",\n").getBytes(UTF_8)),
                        null,
                        Mode.ALL,
                        false,
                        suggestions(new RegistrationSettings(true)).forFile(LAB),
                        "test");
        assertThat(filled.lines().getFirst().title()).isEqualTo("third visit");
    }

    @Test
    void aBidsDatasetGivesTitleSubjectAndDayOfAFolderInIt() throws IOException {
        Path dataset = Files.createDirectory(root.resolve("ds"));
        Path meg = Files.createDirectories(dataset.resolve("sub-01/ses-02/meg"));
        Files.writeString(dataset.resolve("dataset_description.json"), "{\"Name\": \" Visual grating \"}");
        Files.writeString(dataset.resolve("participants.tsv"), "participant_id\tsex\nsub-01\tn/a\n");
        Files.writeString(
                dataset.resolve("sub-01/ses-02/sub-01_ses-02_scans.tsv"),
                "\uFEFFfilename\tacq_time\r\nanat/T1w.nii\t2026-10-02T10:00:00\r\nmeg/x.fif\t2026-10-01T23:59:00\r\n");

        assertThat(named(LAB, meg).title()).isEqualTo("Visual grating sub-01 ses-02");
        assertThat(named(LAB, meg).acquired()).isEqualTo(LocalDate.of(2026, 10, 1));
        assertThat(suggestions(new RegistrationSettings(true)).of(LAB, meg).subject())
                .isEqualTo("sub-01");
        assertThat(suggestions.of(LAB, meg).guess().title()).as("without names").isEqualTo("Visual grating");
        assertThat(suggestions.of(LAB, meg).subject()).isNull();
        assertThat(kinds(suggestions.of(LAB, meg.getParent()))).as("two days").containsExactly(Kind.SEVERAL_DAYS);
        assertThat(suggestions(new RegistrationSettings(true)).of(LAB, dataset).subject())
                .as("the only participant")
                .isEqualTo("sub-01");
        Files.writeString(
                dataset.resolve("sub-01/sub-01_sessions.tsv"),
                "session_id\tacq_time\nses-01\t2025-01-01\nses-02\t2026-10-01T08:00:00\n");
        Files.delete(dataset.resolve("sub-01/ses-02/sub-01_ses-02_scans.tsv"));
        assertThat(named(LAB, meg).acquired()).isEqualTo(LocalDate.of(2026, 10, 1));
    }

    @Test
    void theLongestNameOfADatasetAndItsLabelsFitIntoATitle() throws IOException {
        Path dataset = Files.createDirectories(root.resolve("ds"));
        Path session = Files.createDirectories(dataset.resolve("sub-%1$s/ses-%1$s".formatted("a".repeat(32))));
        for (int length : List.of(126, 127, 128)) {
            Files.writeString(
                    dataset.resolve("dataset_description.json"), "{\"Name\": \"%s\"}".formatted("n".repeat(length)));
            assertThat(named(LAB, session).title()).hasSizeLessThanOrEqualTo(Code.TITLE_LENGTH_MAX);
        }
    }

    @Test
    void filesOfADatasetThatAreLinksLargeOrBrokenOrAboveTheRootSayNothing() throws IOException {
        Path dataset = Files.createDirectories(root.resolve("ds/sub-01"));
        Path description = root.resolve("ds/dataset_description.json");
        Path outside = temporary.resolve("outside.json");
        Files.writeString(outside, "{\"Name\": \"outside\"}");
        Files.copy(outside, temporary.toRealPath().resolve("dataset_description.json"));
        assertThat(named(LAB, dataset).title()).as("above the source root").isEqualTo("sub-01");

        Files.createSymbolicLink(description, outside);
        assertThat(named(LAB, dataset).title()).isEqualTo("sub-01");
        for (String broken :
                List.of("", "null", "[1]", "{", "{\"Name\": 7}", "{\"Name\": \"a\\nb\"}", "[".repeat(5_000))) {
            Files.delete(description);
            Files.writeString(description, broken);
            assertThat(named(LAB, dataset).title()).as(broken).isEqualTo("sub-01");
        }
        Files.writeString(description, " ".repeat(256 * 1024) + "{\"Name\": \"large\"}");
        assertThat(named(LAB, dataset).title()).isEqualTo("sub-01");
        Files.writeString(description, "{}");
        Files.writeString(dataset.resolve("sub-01_scans.tsv"), "acq_time\n\n\t\tx\n9999-99-99\nn/a\n");
        assertThat(named(LAB, dataset).acquired()).isNull();
    }

    @Test
    void realDatasetsGiveTheirNamesAndNoDaysThatWereMadeUp() {
        Path bids = SharedData.folder().resolveSibling("bids");
        Guess meg = named(Sight.EVERYTHING, bids.resolve("ds000246/sub-0001"));
        assertThat(meg.title()).isEqualTo("MEG-BIDS Brainstorm data sample sub-0001");
        assertThat(named(Sight.EVERYTHING, bids.resolve("ds000248/sub-emptyroom/ses-19210819/meg"))
                        .title())
                .isEqualTo("MNE sample dataset sub-emptyroom ses-19210819");
        assertThat(named(Sight.EVERYTHING, bids.resolve("ds007")).hints())
                .extracting(Hint::kind)
                .contains(Kind.SEVERAL_SUBJECTS);
    }

    @Test
    void aStationThatNobodyHasNamedStandsForItselfAndIsTold() throws IOException {
        image(visit.resolve("1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");

        Suggestion suggestion = suggestions.of(LAB, visit);

        assertThat(suggestion.guess().scanner()).isEqualTo("AWP7");
        assertThat(kinds(suggestion)).containsExactly(Kind.UNKNOWN_STATION);
    }

    /** As on Canon's consoles: the value in the header is shown, although a scanner's code has no space. */
    @Test
    void aStationWithSpacesIsSuggestedAsACodeAndWithItsTitleOnceSomebodyHasSaidWhoseItIs() throws IOException {
        image(visit.resolve("1"), STUDY, "0123", "20261001", "MR", "Galan 3T", "A1");

        Suggestion suggestion = suggestions.of(LAB, visit);
        assertThat(suggestion.guess().scanner()).isEqualTo("Galan-3T");
        assertThat(suggestion.guess().modality()).isEqualTo("MR");
        assertThat(suggestion.hints()).containsExactly(new Hint(Kind.UNKNOWN_STATION, "Galan 3T"));

        scanners.put(new Scanner("S3TC", List.of("Galan 3T"), null), "test");
        assertThat(suggestions.of(LAB, visit).guess().scanner()).isEqualTo("S3TC");
        assertThat(suggestions.of(LAB, visit).hints()).isEmpty();
    }

    @Test
    void aStationThatCannotBeACodeIsToldAndNotLeftOutInSilence() throws IOException {
        image(visit.resolve("1"), STUDY, "0123", "20261001", "MR", "***", "A1");

        assertThat(suggestions.of(LAB, visit).guess().scanner()).isNull();
        assertThat(suggestions.of(LAB, visit).hints()).containsExactly(new Hint(Kind.STATION_NOT_A_CODE, "***"));
        // Beside a valid one: two scanners, both reported.
        image(visit.resolve("2"), STUDY, "0123", "20261001", "MR", "Galan 3T", "A1");
        assertThat(suggestions.of(LAB, visit).guess().scanner()).isNull();
        assertThat(suggestions.of(LAB, visit).hints())
                .containsExactly(new Hint(Kind.SEVERAL_SCANNERS, "***, Galan-3T"));
    }

    @Test
    void aModelIsNotAScannerUnlessSomebodyHasSaidSo() throws IOException {
        model(visit.resolve("1"), "Vantage Galan 3T");
        Files.writeString(visit.resolve("a.json"), """
                {"Modality": "MR", "ManufacturersModelName": "Vantage Galan 3T"}
                """);

        Suggestion suggestion = suggestions.of(LAB, visit);
        assertThat(suggestion.guess().scanner()).isNull();
        assertThat(suggestion.guess().modality()).isEqualTo("MR");
        assertThat(suggestion.hints()).containsExactly(new Hint(Kind.ONLY_MODEL, "Vantage Galan 3T"));

        scanners.put(new Scanner("S3TC", List.of("Vantage Galan 3T"), null), "test");
        assertThat(suggestions.of(LAB, visit).guess().scanner()).isEqualTo("S3TC");
        assertThat(suggestions.of(LAB, visit).hints()).isEmpty();
        // A station takes precedence over a model.
        image(visit.resolve("2"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        assertThat(suggestions.of(LAB, visit).guess().scanner()).isEqualTo("AWP7");
    }

    private static void model(Path file, String model) throws IOException {
        Files.write(
                file,
                Dataset.file(Dataset.explicit()
                        .text(0x0008_0020, "DA", "20261001")
                        .text(0x0008_0060, "CS", "MR")
                        .text(0x0008_1090, "LO", even(model))
                        .text(0x0020_000D, "UI", STUDY.length() % 2 == 0 ? STUDY : STUDY + "\0")
                        .bytes()));
    }

    @Test
    void whatIsSaidInTwoWaysIsToldAndNotGuessed() throws IOException {
        image(visit.resolve("1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        image(visit.resolve("2"), "1.2.392.2", "0456", "20261002", "PT", "AWP8", "A2");

        Suggestion suggestion = suggestions.of(LAB, visit);

        assertThat(kinds(suggestion))
                .containsExactlyInAnyOrder(
                        Kind.SEVERAL_STUDIES,
                        Kind.SEVERAL_SUBJECTS,
                        Kind.SEVERAL_DAYS,
                        Kind.SEVERAL_MODALITIES,
                        Kind.SEVERAL_SCANNERS);
        Guess guess = suggestion.guess();
        assertThat(guess.code()).matches("folder-[0-9a-f]{8}");
        assertThat(guess.title()).isNull();
        assertThat(guess.modality()).isNull();
        assertThat(guess.scanner()).isNull();
        assertThat(guess.acquired()).isNull();
        assertThat(suggestion.subject()).isNull();
        assertThat(guess.project()).isEqualTo("P1");
    }

    @Test
    void theSameStudyIsKnownByItsUidWhereverItIsAndOfAForeignProjectOnlyThatItIs() throws IOException {
        image(visit.resolve("1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        Path copy = Files.createDirectory(root.resolve("copy"));
        image(copy.resolve("other-name"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        suggestions.note(experiments.register("P2", "E1", "", visit, "test"));
        jdbc.sql("""
                insert into origin (name, kind, address, spool, updated_at)
                values ('pacs', 'dicomweb', 'http://localhost', '/spool', now());
                insert into arrival (origin_id, item, state, code, title, waiting, first_seen_at, changed_at)
                select origin_id, '1.2.392.1', 'OFFERED', 'A', '', true, now(), now() from origin;
                """).update();

        assertThat(suggestions.of(Sight.EVERYTHING, copy).hints())
                .contains(new Hint(Kind.DUPLICATE, "P2/E1"), new Hint(Kind.DUPLICATE_PROPOSED, "pacs 1"));
        assertThat(suggestions.of(LAB, copy).hints()).contains(Hint.of(Kind.DUPLICATE_ELSEWHERE));
        assertThat(suggestions.of(LAB, copy).hints().toString()).doesNotContain("P2", "E1,", "pacs");
        // For the folder itself, only that it is registered.
        assertThat(suggestions.of(Sight.EVERYTHING, visit).hints())
                .contains(new Hint(Kind.SAME_FOLDER, "P2/E1"))
                .doesNotContain(new Hint(Kind.DUPLICATE, "P2/E1"));
        assertThat(suggestions.of(LAB, visit).hints()).contains(new Hint(Kind.SAME_FOLDER, "of another project"));
    }

    /** So that the same file of registrations again changes nothing. */
    @Test
    void aRegisteredFolderKeepsItsCodeAndATakenCodeGetsANumber() throws IOException {
        image(visit.resolve("1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        Path copy = Files.createDirectory(root.resolve("copy"));
        image(copy.resolve("1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        assertThat(suggestions.of(LAB, copy).guess().code()).isEqualTo(CODE);
        experiments.register("P1", CODE, "", visit, "test");

        assertThat(suggestions.of(LAB, visit).guess().code()).isEqualTo(CODE);
        assertThat(suggestions.of(LAB, copy).guess().code()).isEqualTo(CODE + "-2");
        experiments.register("P1", CODE + "-2", "", Files.createDirectory(root.resolve("other")), "test");
        assertThat(suggestions.of(LAB, copy).guess().code()).isEqualTo(CODE + "-3");
        Path own = Files.createDirectory(root.resolve("own"));
        experiments.register("P1", "E7", "", own, "test");
        assertThat(suggestions.of(LAB, own).guess().code()).isEqualTo("E7");
    }

    @Test
    void theMoreFoldersAPersonChoosesTheLessIsReadOfEach() throws IOException {
        image(visit.resolve("1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");

        assertThat(suggestions.forFolders(LAB, 100).apply(visit).code()).isEqualTo(CODE);
        Guess hurried = suggestions.forFolders(LAB, Integer.MAX_VALUE).apply(visit);
        assertThat(hurried.hints()).extracting(Hint::kind).contains(Kind.PART);
    }

    @Test
    void aBookingSaysTheProjectUnlessItIsAnothersOrTheFolderSaysOtherwise() throws IOException {
        image(visit.resolve("1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        Path outside = Files.createDirectory(temporary.toRealPath().resolve("outside"));
        image(outside.resolve("1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        new Bookings(jdbc, ledger, codes, CLOCK, new JdbcTransactionManager(database))
                .keep(
                        Sight.EVERYTHING,
                        new ByteArrayInputStream("accession,date,project\nA1,2026-10-01,P2\n".getBytes(UTF_8)),
                        null,
                        false,
                        "test");

        assertThat(suggestions.of(Sight.EVERYTHING, outside).guess().project()).isEqualTo("P2");
        Suggestion contradicted = suggestions.of(Sight.EVERYTHING, visit);
        assertThat(contradicted.guess().project()).isNull();
        assertThat(contradicted.hints()).contains(new Hint(Kind.SEVERAL_PROJECTS, "P1, P2"));
        Suggestion foreign = suggestions.of(LAB, visit);
        assertThat(foreign.guess().project()).isNull();
        assertThat(foreign.hints()).contains(Hint.of(Kind.BOOKED_ELSEWHERE));
        assertThat(foreign.hints().toString()).doesNotContain("P2");
    }

    @Test
    void whatIsNotBelowARootIsNotLookedIntoAndNotToldToBeThere() throws IOException {
        Path outside = Files.createDirectory(temporary.toRealPath().resolve("p1x"));
        image(outside.resolve("1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        Path way = Files.createSymbolicLink(root.resolve("way"), outside);

        String there = refusal(LAB, outside);
        assertThat(refusal(LAB, temporary.resolve("never"))).isEqualTo(there.replace("p1x", "never"));
        assertThat(refusal(LAB, way)).isEqualTo(there.replace("p1x", "p1/way"));
        assertThat(refusal(LAB, root.resolve("../p1x"))).isEqualTo(there);
        assertThat(refusal(LAB, root.resolve("nothing"))).contains("there is no folder");
        assertThat(suggestions.of(Sight.EVERYTHING, way).studies()).containsExactly(STUDY);
    }

    @Test
    void linksFifosDevicesAndWhatCannotBeReadAreNotOpened() throws Exception {
        Path outside = Files.createDirectory(temporary.toRealPath().resolve("outside"));
        image(outside.resolve("1"), "1.2.392.9", "0999", "20261001", "MR", "OTHER", "A9");
        image(visit.resolve("1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        Files.createSymbolicLink(visit.resolve("file"), outside.resolve("1"));
        Files.createSymbolicLink(visit.resolve("folder"), outside);
        Files.createSymbolicLink(visit.resolve("dangling"), Path.of("/nowhere"));
        Files.createSymbolicLink(visit.resolve("loop"), visit);
        Trees.fifo(visit.resolve("fifo"));
        Files.writeString(visit.resolve("closed"), "x");
        Files.setPosixFilePermissions(visit.resolve("closed"), PosixFilePermissions.fromString("---------"));
        Files.writeString(visit.resolve("page.dcm"), "<html>");
        Files.write(
                visit.resolve("cut.dcm"),
                java.util.Arrays.copyOf(bytes(STUDY, "0123", "20261001", "MR", "AWP7", "A1"), 200));
        Files.writeString(visit.resolve("broken.json"), "{\"Modality\": ");
        Files.writeString(visit.resolve("deep.json"), "[".repeat(100_000));

        Suggestion suggestion = suggestions.of(LAB, visit);

        assertThat(suggestion.studies()).containsExactly(STUDY);
        assertThat(suggestion.filesSeen()).isEqualTo(6);
        assertThat(kinds(suggestion)).contains(Kind.DAMAGED);
        assertThat(suggestion.guess().scanner()).isEqualTo("AWP7");
    }

    @Test
    void aLookEndsAtItsLimitsAndSaysSo() throws IOException {
        for (int i = 0; i < 300; i++) {
            Files.writeString(visit.resolve("file" + i), "x");
        }
        for (int i = 0; i < 30; i++) {
            Files.createDirectory(visit.resolve("folder" + i));
        }
        assertThat(look(new Limits(10_000, 10_000, 100, 1_000, Duration.ofSeconds(60)))
                        .whole())
                .isTrue();
        for (Limits limits : List.of(
                new Limits(10_000, 100, 100, 1_000, Duration.ofSeconds(60)),
                new Limits(10_000, 10_000, 5, 1_000, Duration.ofSeconds(60)),
                new Limits(10_000, 10_000, 100, 50, Duration.ofSeconds(60)),
                new Limits(10_000, 10_000, 100, 1_000, Duration.ZERO))) {
            FolderFacts evidence = look(limits);
            assertThat(evidence.whole()).as("%s", limits).isFalse();
            assertThat(evidence.filesRead()).isLessThanOrEqualTo(300);
        }
    }

    private FolderFacts look(Limits limits) throws IOException {
        return new FolderLook(visit, visit, limits, codes, ZONE).look();
    }

    @Test
    void sidecarsAndRecordingsSayWhatImagesDoNot() throws IOException {
        Files.writeString(visit.resolve("sub-01_T1w.json"), """
                {"Modality": "MR", "StationName": "AWP7", "AcquisitionDateTime": "2026-10-01T09:30:00.5", "PatientID": "0123",
                 "StudyInstanceUID": "1.2.392.1"}
                """);
        Suggestion converted = suggestions.of(LAB, visit);
        assertThat(converted.guess().modality()).isEqualTo("MR");
        assertThat(converted.guess().acquired()).isEqualTo("2026-10-01");
        assertThat(converted.subject()).isEqualTo(codes.of("0123").orElseThrow());
        assertThat(converted.guess().code()).isEqualTo(CODE);

        Path meg = Files.createDirectory(root.resolve("meg"));
        // A file's identity and its time of measurement: 2026-09-30, late in the evening in UTC.
        ByteBuffer fif = ByteBuffer.allocate(36 + 24)
                .putInt(100)
                .putInt(31)
                .putInt(20)
                .putInt(0)
                .position(36)
                .putInt(204)
                .putInt(3)
                .putInt(8)
                .putInt(-1)
                .putInt((int) Instant.parse("2026-09-30T20:00:00Z").getEpochSecond());
        Files.write(meg.resolve("rest_raw.fif"), fif.array());
        Suggestion recorded = suggestions.of(LAB, meg);
        assertThat(recorded.guess().title()).isEqualTo("MEG 2026-10-01");

        Path ctf = Files.createDirectories(root.resolve("ctf/visit.ds"));
        Files.writeString(ctf.resolve("visit.res4"), "");
        assertThat(suggestions.of(LAB, root.resolve("ctf")).guess().modality()).isEqualTo("MEG");
        Path nothing = Files.createDirectory(root.resolve("nothing"));
        assertThat(kinds(suggestions.of(LAB, nothing))).containsExactly(Kind.NOTHING);
    }

    @Test
    void realScansSayWhatTheyAre() {
        Path corpus = SharedData.folder();
        Suggestion ge = suggestions.of(Sight.EVERYTHING, corpus.resolve("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2"));
        assertThat(ge.guess().modality()).isEqualTo("MR");
        assertThat(ge.guess().scanner()).isEqualTo("00090004");
        assertThat(ge.guess().acquired()).isEqualTo("2020-09-29");
        assertThat(ge.filesRead()).isEqualTo(14);
        assertThat(ge.guess().project()).isNull();
        assertThat(ge.guess().code()).matches("20200929-MR-[0-9a-f]{4}");

        Suggestion two =
                suggestions.of(Sight.EVERYTHING, corpus.resolve("made_conflicts_and_broken/same_study_two_patients"));
        assertThat(kinds(two)).contains(Kind.SEVERAL_SUBJECTS).doesNotContain(Kind.SEVERAL_STUDIES);
        assertThat(two.guess().code()).matches("[0-9]{8}-MR-[0-9a-f]{4}");

        // Among them truncated files, illegal UIDs and dates, and a web page named like an image.
        Suggestion broken = suggestions.of(Sight.EVERYTHING, corpus.resolve("made_conflicts_and_broken"));
        assertThat(kinds(broken)).contains(Kind.DAMAGED, Kind.SEVERAL_STUDIES);
        assertThat(broken.toString()).doesNotContain("1.2.840.abc");

        Suggestion fif = suggestions.of(
                Sight.EVERYTHING, corpus.getParent().resolve("meg").resolve("fif_mne_python"));
        assertThat(fif.guess().modality()).isEqualTo("MEG");
    }

    @Test
    void emptyCellsOfAFileAreFilledOnlyWhereSomebodyAsks() throws IOException {
        image(visit.resolve("1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        BulkRegistration bulk = new BulkRegistration(jdbc, ledger, CLOCK, new JdbcTransactionManager(database));
        String csv = "project,code,source,scanner\n,,%s,MINE\nP1,E2,%s,\n".formatted(visit, root.resolve("none"));
        FileGuesses guesses = suggestions.forFile(LAB);

        assertThat(answer(bulk, csv, true, null).lines())
                .extracting(Verdict::outcome)
                .containsOnly(Outcome.REFUSED);
        Verdict told = answer(bulk, csv, true, guesses).lines().getFirst();
        assertThat(told.outcome()).isEqualTo(Outcome.ACCEPTED);
        assertThat(told.suggested()).containsExactlyInAnyOrder("project", "code", "title", "modality", "acquired");
        assertThat(told.hints()).contains(new Hint(Kind.UNKNOWN_STATION, "AWP7"));
        assertThat(told.scanner()).isEqualTo("MINE");
        Answer done = answer(bulk, csv, false, guesses);
        suggestions.note(guesses);

        assertThat(done.lines().getFirst().outcome()).isEqualTo(Outcome.REGISTERED);
        assertThat(done.lines().getLast().field()).isEqualTo("source");
        assertThat(experiments.find("P1", CODE).orElseThrow().acquisition().day())
                .isEqualTo("2026-10-01");
        Path copy = Files.createDirectory(root.resolve("copy"));
        image(copy.resolve("1"), STUDY, "0123", "20261001", "MR", "AWP7", "A1");
        assertThat(kinds(suggestions.of(LAB, copy))).contains(Kind.DUPLICATE);
        // Without the hashes, which may contain any four digits.
        assertThat(ledger.after(0, 100).stream()
                        .map(entry -> entry.subject() + entry.detail())
                        .toList()
                        .toString())
                .doesNotContain("Yamada", "0123");
    }

    private static Answer answer(
            BulkRegistration bulk, String csv, boolean dryRun, @org.jspecify.annotations.Nullable FileGuesses guesses)
            throws IOException {
        return bulk.register(
                LAB, new ByteArrayInputStream(csv.getBytes(UTF_8)), null, Mode.EACH, dryRun, guesses, "lab");
    }

    private String refusal(Sight sight, Path folder) {
        try {
            suggestions.of(sight, folder);
        } catch (Refusal refusal) {
            assertThat(refusal.field()).isEqualTo("source");
            return String.valueOf(refusal.getMessage());
        }
        throw new AssertionError("not refused: " + folder);
    }

    @Test
    void aFileIsNoFolder() throws IOException {
        Files.writeString(visit.resolve("file"), "x");

        assertThatThrownBy(() -> suggestions.of(LAB, visit.resolve("file"))).isInstanceOf(Refusal.class);
    }

    private static List<Kind> kinds(Suggestion suggestion) {
        return suggestion.hints().stream().map(Hint::kind).toList();
    }

    private static void image(
            Path file, String study, String patient, String day, String modality, String station, String accession)
            throws IOException {
        Files.createDirectories(file.getParent());
        Files.write(file, bytes(study, patient, day, modality, station, accession));
    }

    private static byte[] bytes(
            String study, String patient, String day, String modality, String station, String accession) {
        return Dataset.file(Dataset.explicit()
                .text(0x0008_0020, "DA", day)
                .text(0x0008_0050, "SH", even(accession))
                .text(0x0008_0060, "CS", even(modality))
                .text(0x0008_1010, "SH", even(station))
                .text(0x0010_0010, "PN", even(PATIENT))
                .text(0x0010_0020, "LO", even(patient))
                .text(0x0020_000D, "UI", study.length() % 2 == 0 ? study : study + "\0")
                .bytes());
    }

    private static String even(String text) {
        return text.length() % 2 == 0 ? text : text + " ";
    }
}
