package dozo.source.dicomweb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import dozo.db.Program;
import dozo.remote.ChildProcess;
import dozo.remote.SiteAddress;
import dozo.remote.Tmpfs;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Reconciliation;
import dozo.source.delivery.Server;
import dozo.source.delivery.Trouble;
import dozo.source.dicom.Header;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.PseudonymousCode;
import dozo.source.dicom.SharedData;
import dozo.source.dicom.Tag;
import dozo.source.dicomweb.FaultyProxy.Fault;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Everything that storescu sends to a real Orthanc is in the spool as Orthanc stores it, or is named with the reason
 * why not. Takes over a minute: 34 tests send studies, and Orthanc calls a study stable only after a while.
 */
class OrthancIT {

    private static final Instant NOW = Instant.parse("2026-04-17T20:00:00Z");
    private static final PseudonymousCode CODES = new PseudonymousCode(new byte[32]);
    private static final Limits LIMITS = new Limits(
            Duration.ofSeconds(5),
            Duration.ofSeconds(2),
            Duration.ofSeconds(1),
            3,
            Duration.ofMillis(1),
            Duration.ofHours(24));

    @TempDir
    static Path serverFolder;

    static Path corpus;
    static OrthancServer server;

    @TempDir
    Path folder;

    FaultyProxy proxy;
    Orthanc orthanc;
    Spool spool;

    @BeforeAll
    static void start() throws Exception {
        corpus = SharedData.folder();
        server = new OrthancServer(serverFolder, 1, true);
    }

    @AfterAll
    static void stop() throws Exception {
        if (server != null) {
            server.close();
        }
    }

    @BeforeEach
    void open() throws Exception {
        proxy = new FaultyProxy(server.address());
        orthanc = new Orthanc(Server.at(proxy.address()), LIMITS, wait -> {}, InstantSource.system());
        spool = new Spool(orthanc, CODES, folder.resolve("spool"), 3);
    }

    @AfterEach
    void close() {
        assertThat(proxy.isUsedUp()).as("every planned fault came true").isTrue();
        orthanc.close();
        proxy.close();
    }

    @Test
    void fromStorescuToFilesInTheSpool() throws Exception {
        Path sent = corpus.resolve("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2");
        server.store(sent);
        server.awaitStable();
        Header first = header(files(sent).getFirst());
        String study = first.text(Tag.STUDY_INSTANCE_UID).orElseThrow();

        assertThat(new Changes(orthanc).since(0).changed()).contains(study);
        Reconciliation came = spool.deliver(study);

        assertThat(came.isComplete()).as("" + came).isTrue();
        assertThat(came.remarks()).isEmpty();
        assertThat(came.filesTold()).isEqualTo(14);
        assertThat(came.filesDelivered()).isEqualTo(14);
        Described described = Described.of(orthanc, CODES, study, NOW);
        assertThat(described.stable()).isTrue();
        assertThat(described.series()).singleElement().satisfies(series -> {
            assertThat(series.modality()).isEqualTo("MR");
            assertThat(series.stationName())
                    .isEqualTo(first.text(Tag.STATION_NAME).orElse(null));
            assertThat(series.day()).isEqualTo(LocalDate.of(2020, 9, 29));
            assertThat(series.patient()).matches(PseudonymousCode.FORM);
        });
        assertThat(tree(study)).hasSize(14);
        for (Path file : files(sent)) {
            Header header = header(file);
            Path here = spool.tree(study)
                    .resolve(header.text(Tag.SERIES_INSTANCE_UID).orElseThrow())
                    .resolve(header.text(Tag.SOP_INSTANCE_UID).orElseThrow() + ".dcm");
            assertThat(new HeaderReader().pixels(here))
                    .as("a hop changes headers, and no pixel")
                    .isPresent()
                    .isEqualTo(new HeaderReader().pixels(file));
        }
    }

    @Test
    void whatIsHereIsNotFetchedAgainAndALostRecordCostsOnlyThat() throws Exception {
        String study = storeOne("a");
        spool.deliver(study);
        List<Path> before = tree(study);

        assertThat(spool.deliver(study).bytesFetched()).isZero();
        Path record = folder.resolve("spool").resolve(Spool.folder(study)).resolve("delivered");
        String lines = Files.readString(record);
        Files.writeString(record, lines.substring(0, lines.length() - 20));
        assertThat(spool.deliver(study).bytesFetched()).isPositive();
        assertThat(spool.deliver(study).bytesFetched())
                .as("what follows a torn line is read")
                .isZero();
        Files.delete(record);
        Reconciliation again = spool.deliver(study);

        assertThat(again.isComplete()).isTrue();
        assertThat(again.remarks()).isEmpty();
        assertThat(tree(study)).isEqualTo(before);
    }

    @Test
    void aLateSeriesIsSeenAndComesBesideWhatIsHere() throws Exception {
        Path file = fresh("early", "-gst", "-gse", "-gin");
        server.store(file);
        server.awaitStable();
        String study = study(file);
        Changes.Seen first = new Changes(orthanc).since(0);
        Reconciliation early = spool.deliver(study);
        List<Path> before = tree(study);
        assertThat(new Changes(orthanc).since(first.last()).changed()).isEmpty();

        Path late = Files.copy(file, folder.resolve("late.dcm"));
        modify(late, "-gse", "-gin");
        server.store(late);
        server.awaitStable();
        Changes.Seen second = new Changes(orthanc).since(first.last());
        Reconciliation came = spool.deliver(study);

        assertThat(second.changed()).containsExactly(study);
        assertThat(came.isComplete()).isTrue();
        assertThat(came.filesTold()).isEqualTo(2);
        assertThat(came.bytesFetched())
                .as("of one file; new UIDs may be longer or shorter")
                .isCloseTo(early.bytesFetched(), within(200L));
        assertThat(tree(study)).hasSize(2).containsAll(before);
    }

    @Test
    void oneUidWithOtherPixelsIsAFindingAndBothAreKept() throws Exception {
        Path one = corpus.resolve("made_conflicts_and_broken/same_sop_uid_v1.dcm");
        Path other = corpus.resolve("made_conflicts_and_broken/same_sop_uid_v2_other_pixels.dcm");
        String study = study(one);
        assertThat(study(other)).isEqualTo(study);
        server.store(one);
        server.awaitStable();
        Changes.Seen first = new Changes(orthanc).since(0);
        assertThat(spool.deliver(study).remarks()).isEmpty();

        server.store(other);
        server.awaitStable();
        assertThat(new Changes(orthanc).since(first.last()).changed()).contains(study);
        Reconciliation came = spool.deliver(study);

        assertThat(came.isComplete()).isTrue();
        assertThat(came.remarks()).extracting(Item::trouble).containsExactly(Trouble.OTHER_PIXELS);
        assertThat(pixels(study)).isEqualTo(pixelsOf(one, other));
        assertThat(spool.deliver(study).remarks())
                .as("said as long as it is so")
                .isEqualTo(came.remarks());
    }

    @Test
    void oneUidWithAnotherHeaderIsKeptToo() throws Exception {
        Path file = fresh("header", "-gst", "-gse", "-gin");
        server.store(file);
        spool.deliver(study(file));
        modify(file, "-i", "(0008,103e)=anew");
        server.store(file);

        Reconciliation came = spool.deliver(study(file));

        assertThat(came.isComplete()).isTrue();
        assertThat(came.remarks()).extracting(Item::trouble).containsExactly(Trouble.OTHER_HEADER);
        assertThat(tree(study(file))).hasSize(2);
    }

    @Test
    void aStudyWithTwoPatientsIsAFindingAndAllIsKept() throws Exception {
        Path sent = corpus.resolve("made_conflicts_and_broken/same_study_two_patients");
        String study = study(files(sent).getFirst());
        server.store(sent);
        server.awaitStable();

        assertThat(new Changes(orthanc).since(0).changed()).contains(study);
        Reconciliation came = spool.deliver(study);

        assertThat(came.isComplete()).as("" + came).isTrue();
        assertThat(came.remarks()).extracting(Item::trouble).containsExactly(Trouble.TWO_PATIENTS);
        assertThat(Described.of(orthanc, CODES, study, NOW).series().stream()
                        .map(Described.SeriesFacts::patient)
                        .collect(Collectors.toSet()))
                .hasSize(2);
        assertThat(tree(study)).hasSize(files(sent).size());
    }

    @Test
    void oneUidOfTwoPatientsIsKeptForBoth() throws Exception {
        Path one = fresh("one", "-gst", "-gse", "-gin");
        Path other = Files.copy(one, folder.resolve("other.dcm"));
        modify(other, "-i", "(0010,0020)=ANOTHER");
        server.store(one, other);

        Reconciliation came = spool.deliver(study(one));

        assertThat(came.isComplete()).as("" + came).isTrue();
        assertThat(came.filesDelivered()).isEqualTo(2);
        assertThat(came.remarks())
                .extracting(Item::trouble)
                .containsExactly(Trouble.TWO_PATIENTS, Trouble.OTHER_HEADER);
        assertThat(tree(study(one))).hasSize(2);
    }

    @Test
    void whatIsNoUidIsPartOfNoPathAndNoMessage() throws Exception {
        Path file = fresh("illegal", "-gst");
        modify(file, "-i", "(0020,000e)=../../YAMADA", "-i", "(0008,0018)=/etc/YAMADA");
        server.store(file);

        Reconciliation came = spool.deliver(study(file));

        assertThat(came.isComplete()).as("" + came).isTrue();
        assertThat(came.remarks()).extracting(Item::trouble).containsExactly(Trouble.ILLEGAL_UID);
        assertThat(came.toString()).doesNotContain("YAMADA");
        assertThat(tree(study(file)))
                .singleElement()
                .satisfies(path -> assertThat(path.toString()).matches("x[0-9a-f]{32}/x[0-9a-f]{32}\\.dcm"));
    }

    @Test
    void anIllegalStudyUidIsOnlyACode() throws Exception {
        Path file = corpus.resolve("made_conflicts_and_broken/illegal_study_uid.dcm");
        server.store(file);
        server.awaitStable();
        Set<String> ready = new Changes(orthanc).since(0).changed();
        String study =
                ready.stream().filter(uid -> !Uid.isPlain(uid)).findFirst().orElseThrow();

        Reconciliation came = spool.deliver(study);

        assertThat(came.isComplete()).as("" + came).isTrue();
        assertThat(came.toString()).doesNotContain(study);
        assertThat(tree(study)).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"BROKEN", "BUSY", "DROPPED", "STALLED", "DRIPPING", "SILENT", "FLIPPED", "PAGE"})
    void whatFailsOnceComesAllTheSame(Fault fault) throws Exception {
        String study = storeOne("once");
        proxy.plan(FaultyProxy.WADO, 0, 1, fault);

        Reconciliation came = spool.deliver(study);

        assertThat(came.isComplete()).as("" + came).isTrue();
        assertThat(tree(study)).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"BROKEN", "GONE", "FLIPPED", "PAGE", "REDIRECTED"})
    void whatNeverComesIsNamedAndComesAnotherNight(Fault fault) throws Exception {
        String study = storeOne("never");
        proxy.plan(
                FaultyProxy.WADO,
                0,
                fault == Fault.BROKEN || fault == Fault.PAGE ? 3 : fault == Fault.FLIPPED ? 2 : 1,
                fault);

        Reconciliation came = spool.deliver(study);

        assertThat(came.isComplete()).isFalse();
        assertThat(came.filesDelivered()).isZero();
        assertThat(came.missing())
                .extracting(Item::trouble)
                .containsExactly(
                        switch (fault) {
                            case BROKEN -> Trouble.SERVER_FAULT;
                            case PAGE -> Trouble.UNPARSED;
                            case FLIPPED -> Trouble.BYTES_DIFFER;
                            default -> Trouble.valueOf(fault.name());
                        });
        assertThat(came.toString()).doesNotContain("Yamada");
        assertThat(tree(study)).isEmpty();
        assertThat(spool.deliver(study).isComplete()).isTrue();
    }

    @Test
    void faultsInTheMiddleOfAStudyNameTheRestAndDoNotAskForEver() throws Exception {
        Path sent = corpus.resolve("ge_dcm_qa_ge/14_Ax_fMRI_HB3_48sl_int_asc");
        server.store(sent);
        String study = study(files(sent).getFirst());
        int count = files(sent).size();
        proxy.plan(FaultyProxy.WADO, 20, Integer.MAX_VALUE, Fault.BROKEN);

        Reconciliation came = spool.deliver(study);

        assertThat(came.filesTold()).isEqualTo(count);
        assertThat(came.filesDelivered()).isBetween(17, 20);
        assertThat(came.missing()).hasSize(count - came.filesDelivered());
        assertThat(proxy.takePaths().stream().filter(FaultyProxy.WADO.asMatchPredicate()))
                .as("not three times for each of them")
                .hasSizeLessThan(3 * count / 4);
        assertThat(tree(study)).hasSize(came.filesDelivered());
        proxy.heal();
        Reconciliation rest = spool.deliver(study);
        assertThat(rest.isComplete()).isTrue();
        assertThat(tree(study)).hasSize(count);
    }

    @Test
    void instancesThatAreGoneKeepNoOthersFromComing() throws Exception {
        String study = storeTwelve();
        proxy.plan(FaultyProxy.WADO, 0, 10, Fault.GONE);

        Reconciliation came = spool.deliver(study);

        assertThat(came.filesDelivered()).isEqualTo(2);
        assertThat(came.missing()).hasSize(10).extracting(Item::trouble).containsOnly(Trouble.GONE);
    }

    /**
     * Our process is killed during three downloads: no partial file is in the tree, and only the rest is downloaded
     * afterwards.
     */
    @Test
    void aProcessThatIsKilledInTheMiddleLeavesOnlyWholeFilesAndTheRestComes() throws Exception {
        String study = storeTwelve();
        proxy.plan(FaultyProxy.WADO, 5, Integer.MAX_VALUE, Fault.STALLED);
        Path incoming = folder.resolve("spool").resolve(Spool.folder(study)).resolve("incoming");
        SiteAddress none = new SiteAddress("127.0.0.1", 1, "none", "/none", folder, "ssh-ed25519 AAAA");
        try (ChildProcess child = new ChildProcess(
                SpoolProcess.class,
                64,
                folder.resolve("log"),
                none,
                proxy.address(),
                study,
                folder.resolve("spool").toString())) {
            await().ignoreExceptions()
                    .atMost(Duration.ofMinutes(5))
                    .until(() -> !child.isAlive()
                            || proxy.asked(FaultyProxy.WADO) == 8
                                    && tree(study).size() == 5
                                    && files(incoming).size() == 3);
            child.assertAlive();
        }
        proxy.heal();
        Set<Object> sent = pixelsOf(files(folder.resolve("sent")).toArray(Path[]::new));
        assertThat(files(incoming)).as("what was on its way").hasSize(3);
        assertThat(tree(study)).hasSize(5);
        assertThat(sent).containsAll(pixels(study));
        proxy.takePaths();

        Reconciliation came = spool.deliver(study);

        assertThat(came.isComplete()).as("" + came).isTrue();
        assertThat(proxy.takePaths().stream().filter(FaultyProxy.WADO.asMatchPredicate()))
                .as("only the rest")
                .hasSize(7);
        assertThat(tree(study)).hasSize(12);
        assertThat(incoming).isEmptyDirectory();
    }

    @Test
    void aFullDiskIsSaidAndTheRestComesWhenThereIsRoom() throws Exception {
        String study = storeTwelve();
        try (Tmpfs disk = new Tmpfs(folder.resolve("spool"), "size=64k")) {
            IOException full = catchThrowableOfType(IOException.class, () -> spool.deliver(study));

            assertThat(full).hasMessageContaining("No space left on device");
            int before = tree(study).size();
            assertThat(before).isBetween(1, 6);
            disk.remount("size=4m");
            proxy.takePaths();
            assertThat(spool.deliver(study).isComplete()).isTrue();
            assertThat(proxy.takePaths().stream().filter(FaultyProxy.WADO.asMatchPredicate()))
                    .as("only the rest, but for one whose line was not written any more")
                    .hasSizeBetween(12 - before, 13 - before);
            assertThat(tree(study)).hasSize(12);
            assertThat(pixels(study))
                    .isEqualTo(pixelsOf(files(folder.resolve("sent")).toArray(Path[]::new)));
        }
    }

    @Test
    void aStudyThatCannotBeAskedForKeepsNoOtherFromBeingBrought() throws Exception {
        String one = storeOne("one");
        String other = storeOne("two");
        server.awaitStable();
        proxy.plan(Pattern.compile("/studies/[^/]+"), 0, LIMITS.tries(), Fault.BROKEN);

        Changes.Seen seen = new Changes(orthanc).since(0);

        assertThat(seen.changed()).containsAnyOf(one, other);
        assertThat(seen.missing()).extracting(Item::trouble).containsExactly(Trouble.SERVER_FAULT);
        assertThat(new Changes(orthanc).since(seen.last()).changed()).contains(one, other);
    }

    @Test
    void anOrthancThatIsStoppedInTheMiddleGoesOnWhereItWas() throws Exception {
        String study = storeTwelve();
        proxy.plan(FaultyProxy.WADO, 5, () -> server.stop());
        try {
            DeliveryException down = catchThrowableOfType(DeliveryException.class, () -> spool.deliver(study));
            assertThat(down == null || down.trouble() == Trouble.UNREACHABLE).isTrue();
        } finally {
            server.start();
        }
        int before = tree(study).size();
        assertThat(before).isBetween(1, 11);
        proxy.takePaths();

        Reconciliation came = spool.deliver(study);

        assertThat(came.isComplete()).as("" + came).isTrue();
        assertThat(tree(study)).hasSize(12);
        assertThat(proxy.takePaths().stream().filter(FaultyProxy.WADO.asMatchPredicate()))
                .as("only the rest")
                .hasSizeLessThanOrEqualTo(12 - before + 1);
    }

    @Test
    void anOrthancThatIsDownOrRefusesSaysNothingOfAnyStudy() throws Exception {
        String study = storeOne("refused");
        proxy.plan(Pattern.compile("/tools/lookup"), 0, 1, Fault.REFUSED);
        assertThat(catchThrowableOfType(DeliveryException.class, () -> spool.deliver(study))
                        .trouble())
                .isEqualTo(Trouble.REFUSED);

        try (FaultyProxy gone = new FaultyProxy(server.address());
                Orthanc nobody = new Orthanc(Server.at(gone.address()), LIMITS, wait -> {}, InstantSource.system())) {
            gone.close();
            assertThat(catchThrowableOfType(DeliveryException.class, () -> new Changes(nobody).since(0))
                            .trouble())
                    .isEqualTo(Trouble.UNREACHABLE);
        }
    }

    @Test
    void aStudyThatIsNotThereIsNamed() throws Exception {
        assertThat(spool.deliver("1.2.3.4").missing()).extracting(Item::trouble).containsExactly(Trouble.GONE);
        assertThat(folder.resolve("spool")).doesNotExist();
    }

    @Test
    void aListThatCannotBeHadIsNamed() throws Exception {
        String study = storeOne("count");
        proxy.plan(Pattern.compile("/dicom-web/studies"), 0, 3, Fault.PAGE);

        assertThat(spool.deliver(study).missing()).extracting(Item::trouble).containsExactly(Trouble.UNPARSED);
        for (String path : List.of("/studies/[^/]+", "/series/[^/]+", "/series/[^/]+/instances")) {
            proxy.plan(Pattern.compile(path), 0, 1, Fault.GONE);
            assertThat(spool.deliver(study).missing()).singleElement().satisfies(item -> {
                assertThat(item.trouble()).isEqualTo(Trouble.GONE);
                assertThat(item.toString())
                        .as("Orthanc's ids are made of PatientIDs, without a key")
                        .doesNotContainPattern("[0-9a-f]{8}-[0-9a-f]{8}");
            });
        }
        assertThat(spool.deliver(study).isComplete()).isTrue();
    }

    @Test
    void changesThatBeganAnewAreNoReasonToMissAnything() throws Exception {
        String study = storeOne("anew");
        server.awaitStable();

        Changes.Seen seen = new Changes(orthanc).since(1_000_000_000);

        assertThat(seen.changed()).contains(study);
        assertThat(seen.remarks()).extracting(Item::trouble).containsExactly(Trouble.CHANGES_RESTARTED);
        assertThat(seen.last()).isLessThan(1_000_000_000);
    }

    @Test
    void aStudyThatNeverBecomesStableIsBroughtAfterADay(@TempDir Path slowFolder) throws Exception {
        Path file = fresh("unstable", "-gst", "-gse", "-gin");
        Path other = fresh("other", "-gst", "-gse", "-gin");
        try (OrthancServer slow = new OrthancServer(slowFolder, 3_600, false);
                Orthanc of = new Orthanc(Server.at(slow.address()), LIMITS, wait -> {}, InstantSource.system())) {
            slow.store(other);
            long last = new Changes(of).since(0).last();
            slow.store(file);

            assertThat(new Changes(of).since(last).changed()).contains(study(file));
            Described described = Described.of(of, CODES, study(file), NOW);
            Instant received = described.series().getFirst().firstAt();
            assertThat(described.stable()).isFalse();
            assertThat(described.isArriving(received.plus(Duration.ofHours(23))))
                    .isTrue();
            assertThat(described.isArriving(received.plus(Duration.ofHours(25))))
                    .isFalse();

            slow.stop();
            slow.start();
            assertThat(new Changes(of).since(last).changed()).contains(study(file));
            assertThat(Described.of(of, CODES, study(file), NOW).isArriving(received))
                    .as("one that was stopped too early never says StableStudy, and calls it stable")
                    .isFalse();
        }
    }

    @Test
    void nothingOfAPatientIsInPathsRecordsOrWords() throws Exception {
        List<Path> sent = List.of(
                corpus.resolve("made_japanese/ir192_utf8.dcm"),
                corpus.resolve("made_japanese/ir6_ir87_romaji_kanji_kana.dcm"),
                corpus.resolve("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2"));
        server.store(sent.toArray(Path[]::new));
        server.awaitStable();
        Set<String> patients = new TreeSet<>();
        StringBuilder words = new StringBuilder();

        Changes.Seen seen = new Changes(orthanc).since(0);
        for (Path file : files(sent.toArray(Path[]::new))) {
            header(file).text(Tag.PATIENT_ID).ifPresent(patients::add);
            assertThat(seen.changed()).contains(study(file));
            words.append(spool.deliver(study(file)));
        }
        try (Stream<Path> all = Files.walk(folder.resolve("spool"))) {
            for (Path path : all.toList()) {
                words.append(path.getFileName()).append('\n');
                if (path.endsWith("delivered")) {
                    words.append(Files.readString(path));
                }
            }
        }

        assertThat(patients).isNotEmpty();
        assertThat(patients).allSatisfy(id -> assertThat(words).doesNotContain(id));
        assertThat(words.toString().getBytes(StandardCharsets.UTF_8)).hasSizeGreaterThan(1_000);
        assertThat(words.chars()).as("no kanji, no kana").allMatch(c -> c < 0x80);
    }

    /** Stores a study of one series. */
    private String storeTwelve() throws Exception {
        Path sent = Files.createDirectories(folder.resolve("sent"));
        Path first = fresh("first", "-gst", "-gse", "-gin");
        for (int i = 0; i < 12; i++) {
            modify(Files.copy(first, sent.resolve(i + ".dcm")), "-gin");
        }
        server.store(sent);
        return study(first);
    }

    private String storeOne(String name) throws Exception {
        Path file = fresh(name, "-gst", "-gse", "-gin");
        server.store(file);
        return study(file);
    }

    /** Returns a real image with new UIDs. */
    private Path fresh(String name, String... changes) throws Exception {
        Path file = Files.copy(corpus.resolve("small_pydicom/MR_small.dcm"), folder.resolve(name + ".dcm"));
        modify(file, changes);
        return file;
    }

    private static void modify(Path file, String... changes) throws Exception {
        List<String> command = new ArrayList<>(List.of("dcmodify", "-nb"));
        command.addAll(List.of(changes));
        command.add(file.toString());
        Program.succeed(command.toArray(String[]::new));
    }

    private static String study(Path file) throws IOException {
        return header(file).text(Tag.STUDY_INSTANCE_UID).orElseThrow();
    }

    private static Header header(Path file) throws IOException {
        return (Header) new HeaderReader().read(file);
    }

    private static List<Path> files(Path... of) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path one : of) {
            try (Stream<Path> all = Files.walk(one)) {
                all.filter(Files::isRegularFile).sorted().forEach(files::add);
            }
        }
        return files;
    }

    private List<Path> tree(String study) throws IOException {
        Path tree = spool.tree(study);
        return files(tree).stream().map(tree::relativize).toList();
    }

    private Set<Object> pixels(String study) throws IOException {
        return pixelsOf(files(spool.tree(study)).toArray(Path[]::new));
    }

    private static Set<Object> pixelsOf(Path... files) throws IOException {
        Set<Object> digests = new HashSet<>();
        for (Path file : files) {
            digests.add(new HeaderReader().pixels(file).orElseThrow());
        }
        return digests;
    }
}
