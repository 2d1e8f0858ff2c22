package dozo.source.flywheel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.file.FilePath;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.Reconciliation;
import dozo.source.delivery.Trouble;
import dozo.source.flywheel.Faults.Fault;
import dozo.source.flywheel.Hierarchy.Kind;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What Flywheel says of a session or project is beside its files, can be read without Flywheel, and is never lost. */
class MetadataTest {

    private static final JsonMapper JSON = new JsonMapper();
    private static final String SESSION = Hierarchy.session(0);
    private static final String ACQUISITION = Hierarchy.acquisition(0);
    private static final String PROJECT = Hierarchy.id(Kind.PROJECT, 0);
    private static final String SUBJECT = Hierarchy.id(Kind.SUBJECT, 0);

    @TempDir
    Path folder;

    Hierarchy hierarchy = Hierarchy.small();
    Emulator emulator;
    Readers readers;
    Spool spool;

    @BeforeEach
    void open() {
        emulator = new Emulator(hierarchy);
        readers = new Readers(emulator);
        spool = new Spool(readers.flywheel, folder, 3);
    }

    @AfterEach
    void close() {
        assertThat(emulator.faults.unfired()).isEmpty();
        readers.flywheel.close();
        emulator.close();
    }

    @Test
    void aSessionHasAllContainersFromItsGroupDown() throws Exception {
        hierarchy
                .tell(SESSION, "info", Map.of("handed", "left", "lastname", "a word of the researcher"))
                .tell(SESSION, "tags", List.of("good"))
                .tell(SESSION, "notes", List.of(Map.of("_id", "n1", "text", "slept", "user", "tech@example.org")))
                .tell(hierarchy.file(0, 0), "info", Map.of("header", Map.of("TR", new BigDecimal("2.50"))))
                .tell(hierarchy.file(0, 0), "path", "their/storage");
        String ofAcquisition = hierarchy.addAnalysis(ACQUISITION);
        hierarchy.addFile(ofAcquisition, "out.txt", "output");
        hierarchy.addFile(PROJECT, "plan.pdf", "not the session's");

        assertThat(spool.deliver(SESSION).isComplete()).isTrue();

        JsonNode told = told(SESSION);
        assertThat(told.path("format").asString()).isEqualTo("dozo-flywheel-1");
        assertThat(told.has("unlisted")).isFalse();
        assertThat(told.path("containers"))
                .extracting(
                        each -> each.path("container_type").asString(),
                        each -> each.path("_id").asString())
                .containsExactly(
                        tuple("group", "group0"),
                        tuple("project", PROJECT),
                        tuple("subject", SUBJECT),
                        tuple("session", SESSION),
                        tuple("acquisition", ACQUISITION),
                        tuple("acquisition", Hierarchy.acquisition(1)),
                        tuple("analysis", Hierarchy.id(Kind.ANALYSIS, 0)),
                        tuple("analysis", ofAcquisition));
        JsonNode session = container(told, SESSION);
        assertThat(session.at("/info/handed").asString()).isEqualTo("left");
        assertThat(session.at("/info/lastname").asString()).as("free text").isNotEmpty();
        assertThat(session.at("/tags/0").asString()).isEqualTo("good");
        assertThat(session.at("/notes/0/text").asString()).isEqualTo("slept");
        assertThat(container(told, ofAcquisition).at("/parent/id").asString()).isEqualTo(ACQUISITION);
        assertThat(text(SESSION)).contains("\"TR\" : 2.50").doesNotContain("their/storage", "plan.pdf", "permissions");
        assertThat(text(SESSION)).doesNotContain("Given", "Family", "date_of_birth", "1990");
        assertThat(container(told, SUBJECT).path("info").path("number").asInt(-1))
                .isZero();
        assertEachFileIsDescribedOnce(SESSION);
    }

    @Test
    void aProjectHasItsOwnFilesAndThoseOfItsSubjectsAndTheirAnalyses() throws Exception {
        hierarchy.addFile(PROJECT, "plan.pdf", "plan");
        hierarchy.addFile(SUBJECT, "consent.pdf", "consent");
        String ofProject = hierarchy.addAnalysis(PROJECT);
        hierarchy.addFile(ofProject, "group.nii", "group");
        String ofSubject = hierarchy.addAnalysis(SUBJECT);
        hierarchy.addFile(ofSubject, "mean.nii", "mean");

        Reconciliation came = spool.deliver(Level.PROJECT, PROJECT);

        assertThat(came.isComplete()).as("" + came.missing()).isTrue();
        assertThat(came.filesDelivered()).isEqualTo(4);
        assertThat(tree(PROJECT))
                .containsOnlyKeys(
                        "analyses/fit-1000000~~" + ofProject + "/group.nii",
                        "analyses/fit-1000001~~" + ofSubject + "/mean.nii",
                        "files/plan.pdf",
                        "flywheel.json",
                        "subjects/sub-00000~~" + SUBJECT + "/consent.pdf");
        assertThat(told(PROJECT).path("containers"))
                .extracting(
                        each -> each.path("container_type").asString(),
                        each -> each.path("_id").asString())
                .containsExactly(
                        tuple("group", "group0"),
                        tuple("project", PROJECT),
                        tuple("subject", SUBJECT),
                        tuple("subject", Hierarchy.id(Kind.SUBJECT, 1)),
                        tuple("analysis", ofProject),
                        tuple("analysis", ofSubject));
        assertThat(container(told(PROJECT), PROJECT).at("/permissions/0/_id").asString())
                .isEqualTo("reader@example.org");
        assertThat(text(PROJECT)).doesNotContain("Given", "Family", "1990");
        assertEachFileIsDescribedOnce(PROJECT);
    }

    @Test
    void aProjectWithoutFilesHasItsMetadata() throws Exception {
        Reconciliation came = spool.deliver(Level.PROJECT, PROJECT);

        assertThat(came.isComplete()).isTrue();
        assertThat(came.filesTold()).isZero();
        assertThat(tree(PROJECT)).containsOnlyKeys("flywheel.json");
    }

    @Test
    void anUnchangedItemGivesTheSameFile() throws Exception {
        spool.deliver(SESSION);
        Path file = spool.tree(SESSION).resolve("flywheel.json");
        Object key = Files.readAttributes(file, "unix:ino").get("ino");
        Map<String, byte[]> before = tree(SESSION);
        hierarchy
                .tell(SESSION, "stats", Map.of("sessions", 7))
                .tell(PROJECT, "last_seen", "today")
                .tell(PROJECT, "modified", Hierarchy.written(Readers.NOW))
                .tell(PROJECT, "revision", 9)
                .tell(SUBJECT, "modified", Hierarchy.written(Readers.NOW))
                .tell(hierarchy.file(0, 0), "join-origin", Map.of("name", "scanner"));

        assertThat(spool.deliver(SESSION).bytesFetched()).isZero();

        assertThat(tree(SESSION)).containsExactlyEntriesOf(before);
        assertThat(Files.readAttributes(file, "unix:ino").get("ino")).isEqualTo(key);
    }

    @Test
    void aChangeOfMetadataAloneChangesOneFile() throws Exception {
        spool.deliver(SESSION);
        Map<String, byte[]> before = tree(SESSION);
        hierarchy.tell(hierarchy.file(0, 0), "tags", List.of("QC passed"));

        assertThat(spool.deliver(SESSION).bytesFetched()).isZero();

        Map<String, byte[]> after = tree(SESSION);
        assertThat(after.remove("flywheel.json")).asString(UTF_8).contains("QC passed");
        before.remove("flywheel.json");
        assertThat(after).containsExactlyEntriesOf(before);
    }

    @Test
    void aSpoolOfAnEarlierReleaseGetsOnlyTheMetadata() throws Exception {
        spool.deliver(SESSION);
        byte[] told = Files.readAllBytes(spool.tree(SESSION).resolve("flywheel.json"));
        Files.delete(spool.tree(SESSION).resolve("flywheel.json"));

        assertThat(spool.deliver(SESSION).bytesFetched()).isZero();

        assertThat(spool.tree(SESSION).resolve("flywheel.json")).hasBinaryContent(told);
    }

    @ParameterizedTest
    @CsvSource({
        "/groups/group0, group of session ses-00000",
        "/projects/650000010000000000000000, project of session ses-00000",
        "/subjects/650000020000000000000000, subject of session ses-00000"
    })
    void whatIsAboveAndCannotBeReadIsMissingAndComesLater(String path, String name) throws Exception {
        for (Fault fault : List.of(Fault.DENIED, Fault.GONE, Fault.BUSY, Fault.TRUNCATED, Fault.GIBBERISH)) {
            emulator.faults.always(path, fault);

            Reconciliation came = spool.deliver(SESSION);

            assertThat(came.isComplete()).isFalse();
            assertThat(came.filesDelivered()).isEqualTo(6);
            assertThat(came.missing()).extracting(Item::name).containsExactly(name);
            assertThat(emulator.faults.unfired()).isEmpty();
            emulator.faults.heal();
        }
        assertThat(told(SESSION).path("containers")).hasSize(6);

        assertThat(spool.deliver(SESSION).isComplete()).isTrue();
        assertThat(told(SESSION).path("containers")).hasSize(7);
        byte[] whole = tree(SESSION).get("flywheel.json");
        emulator.faults.always(path, Fault.DENIED);
        spool.deliver(SESSION);
        assertThat(tree(SESSION).get("flywheel.json"))
                .as("what was read before stays")
                .isEqualTo(whole);
    }

    @Test
    void aSessionThatNamesNothingAboveItIsNotComplete() throws Exception {
        hierarchy.tell(SESSION, "parents", Map.of()).tell(SESSION, "group", "").tell(SESSION, "subject", Map.of());

        assertThat(spool.deliver(SESSION).missing())
                .extracting(Item::name, Item::trouble)
                .containsExactly(
                        tuple("group of session ses-00000", Trouble.UNPARSED),
                        tuple("subject of session ses-00000", Trouble.UNPARSED));
    }

    @Test
    void anAnswerAboutAnotherContainerIsNotTaken() throws Exception {
        hierarchy.tell(PROJECT, "_id", "another");

        assertThat(spool.deliver(SESSION).missing())
                .extracting(Item::name, Item::trouble)
                .containsExactly(tuple("project of session ses-00000", Trouble.UNPARSED));
    }

    @Test
    void aContainerThatCannotBeReadStaysAsItWas() throws Exception {
        spool.deliver(SESSION);
        byte[] before = tree(SESSION).get("flywheel.json");
        emulator.faults.always("/acquisitions/" + ACQUISITION, Fault.DENIED);

        assertThat(spool.deliver(SESSION).isComplete()).isFalse();

        assertThat(tree(SESSION).get("flywheel.json")).isEqualTo(before);
    }

    @Test
    void whatIsListedNoLongerStaysDescribedApart() throws Exception {
        spool.deliver(SESSION);
        hierarchy.remove(ACQUISITION).remove(hierarchy.file(1, 0));
        spool.deliver(SESSION);
        byte[] before = tree(SESSION).get("flywheel.json");
        spool.deliver(SESSION);

        assertThat(tree(SESSION).get("flywheel.json")).isEqualTo(before);
        JsonNode told = told(SESSION);
        assertThat(told.path("containers"))
                .extracting(each -> each.path("_id").asString())
                .doesNotContain(ACQUISITION)
                .contains(Hierarchy.acquisition(1));
        assertThat(told.path("unlisted"))
                .extracting(
                        each -> each.path("_id").asString(),
                        each -> each.path("files").size(),
                        each -> each.has("info"))
                .containsExactly(tuple(ACQUISITION, 2, true), tuple(Hierarchy.acquisition(1), 1, false));
        assertEachFileIsDescribedOnce(SESSION);

        hierarchy.remove(Hierarchy.acquisition(1));
        spool.deliver(SESSION);
        assertThat(told(SESSION).path("unlisted"))
                .extracting(each -> each.path("files").size(), each -> each.has("info"))
                .containsExactly(tuple(2, true), tuple(2, true));
        assertEachFileIsDescribedOnce(SESSION);

        hierarchy.restore(ACQUISITION).restore(Hierarchy.acquisition(1)).restore(hierarchy.file(1, 0));
        spool.deliver(SESSION);
        assertThat(told(SESSION).has("unlisted")).isFalse();
        assertEachFileIsDescribedOnce(SESSION);
    }

    @Test
    void aSessionThatMovesHasItsNewProjectOnly() throws Exception {
        spool.deliver(SESSION);
        String other = Hierarchy.id(Kind.PROJECT, 1);
        hierarchy.tell(SESSION, "parents", Map.of("group", "group0", "project", other, "subject", SUBJECT));

        spool.deliver(SESSION);

        assertThat(container(told(SESSION), other)).isNotNull();
        assertThat(text(SESSION)).doesNotContain("\"_id\" : \"" + PROJECT);
    }

    @Test
    void onlyWhatIsInTheTreeAsDescribedHasAPath() throws Exception {
        String file = hierarchy.file(0, 0);
        emulator.faults.at(emulator.downloadPath(file), Fault.GONE, 1);
        spool.deliver(SESSION);
        assertThat(entry(SESSION, file).has("path")).isFalse();

        spool.deliver(SESSION);
        assertThat(entry(SESSION, file).path("path").asString())
                .isEqualTo("acquisitions/run-0~~%s/0_0_scan.dicom.zip".formatted(ACQUISITION));

        hierarchy.replace(file, "another version", Readers.NOW);
        emulator.faults.at(emulator.downloadPath(file), Fault.GONE, 1);
        spool.deliver(SESSION);
        assertThat(entry(SESSION, file).has("path"))
                .as("the tree has the earlier version")
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a/b", "..", "", "~", "tab\tand\u0000nul", "\uD800 unpaired", "脳 🧠", "../../../etc"})
    void anyLabelIsInTheFileAsItIsAndNeverAPath(String label) throws Exception {
        assertLabel(label);
    }

    @Test
    void aVeryLongLabelIsInTheFileWhole() throws Exception {
        assertLabel("長".repeat(4_096));
    }

    private void assertLabel(String label) throws Exception {
        hierarchy.tell(ACQUISITION, "label", label).tell(Hierarchy.acquisition(1), "label", label);
        hierarchy.tell(SESSION, "info", Map.of("a.b/$c", label)).tell(SUBJECT, "label", label);
        hierarchy.addFile(SUBJECT, "consent.pdf", "consent");

        assertThat(spool.deliver(SESSION).missing()).isEmpty();
        assertThat(spool.deliver(Level.PROJECT, PROJECT).missing()).isEmpty();

        assertThat(container(told(SESSION), ACQUISITION).path("label").asString())
                .isEqualTo(label);
        assertThat(container(told(SESSION), SESSION).path("info").path("a.b/$c").asString())
                .isEqualTo(label);
        assertThat(container(told(PROJECT), SUBJECT).path("label").asString()).isEqualTo(label);
        assertEachFileIsDescribedOnce(SESSION);
        assertEachFileIsDescribedOnce(PROJECT);
        try (Stream<Path> beside = Files.list(folder)) {
            assertThat(beside).containsExactlyInAnyOrder(folder.resolve(SESSION), folder.resolve(PROJECT));
        }
    }

    @Test
    void twoFilesOfOneNameAreBothDescribed() throws Exception {
        hierarchy.addFile(PROJECT, "plan.pdf", "one");
        hierarchy.addFile(PROJECT, "plan.pdf", "two");
        hierarchy.addFile(PROJECT, "flywheel.json", "a file that has our name");

        Reconciliation came = spool.deliver(Level.PROJECT, PROJECT);

        assertThat(came.remarks()).extracting(Item::trouble).contains(Trouble.DUPLICATE);
        assertThat(tree(PROJECT).get("files/flywheel.json")).asString(UTF_8).isEqualTo("a file that has our name");
    }

    @Test
    void anInfoThatIsLeftOutIsAskedFor() throws Exception {
        String file = hierarchy.file(0, 0);
        hierarchy.tell(file, "info", Map.of("TR", 2)).tell(hierarchy.file(1, 0), "info", Map.of("TR", 3));
        emulator.leavesOutInfo = true;
        emulator.faults.at(emulator.downloadPath(file) + "/info", Fault.DENIED, 1);

        assertThat(spool.deliver(SESSION).missing()).singleElement().satisfies(item -> {
            assertThat(item.trouble()).isEqualTo(Trouble.DENIED);
            assertThat(item.name()).isEqualTo("acquisition run-0/0_0_scan.dicom.zip");
            assertThat(item.message()).startsWith("info: ");
        });
        assertThat(entry(SESSION, hierarchy.file(1, 0)).at("/info/TR").asInt()).isEqualTo(3);

        assertThat(spool.deliver(SESSION).isComplete()).isTrue();
        assertThat(entry(SESSION, file).at("/info/TR").asInt()).isEqualTo(2);
    }

    @Test
    void anInfoThatNeverComesIsMissing() throws Exception {
        hierarchy.tell(hierarchy.file(0, 0), "info_exists", true);
        hierarchy.tell(SESSION, "info", Map.of()).tell(SESSION, "info_exists", true);

        assertThat(spool.deliver(SESSION).missing())
                .extracting(Item::name, Item::trouble)
                .containsExactly(
                        tuple("acquisition run-0/0_0_scan.dicom.zip", Trouble.UNPARSED),
                        tuple("session ses-00000", Trouble.UNPARSED));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "[]", "{\"containers\":[{\"container_type\":\"planet\"},{\"_id\":7}]}"})
    void aDamagedFileIsWrittenAnew(String text) throws Exception {
        spool.deliver(SESSION);
        Path file = spool.tree(SESSION).resolve("flywheel.json");
        byte[] whole = Files.readAllBytes(file);
        Files.writeString(file, text);

        assertThat(spool.deliver(SESSION).isComplete()).isTrue();

        assertThat(file).hasBinaryContent(whole);
    }

    @Test
    void aLinkInItsPlaceIsReplacedAndNotFollowed() throws Exception {
        Path outside = Files.writeString(folder.resolve("outside"), "{}");
        Path file = spool.tree(SESSION).resolve("flywheel.json");
        Files.createDirectories(file.getParent());
        Files.createSymbolicLink(file, outside);

        assertThat(spool.deliver(SESSION).isComplete()).isTrue();

        assertThat(outside).hasContent("{}");
        assertThat(Files.isSymbolicLink(file)).isFalse();
    }

    @Test
    void aFolderInItsPlaceIsAFailureOfTheSpool() throws Exception {
        Files.createDirectories(spool.tree(SESSION).resolve("flywheel.json/in-the-way"));

        assertThatThrownBy(() -> spool.deliver(SESSION))
                .isInstanceOfSatisfying(
                        DeliveryException.class, e -> assertThat(e.trouble()).isEqualTo(Trouble.SPOOL));
    }

    @Test
    void moreThanTheLimitIsRefused() {
        Metadata metadata = new Metadata(Level.SESSION, 100);

        assertThatThrownBy(() -> {
                    for (int i = 0; i < 3; i++) {
                        JsonNode node = JSON.readTree("{\"_id\":\"%d\",\"label\":\"%s\"}".formatted(i, "x".repeat(20)));
                        metadata.add(Answers.container(Level.ACQUISITION, node), node);
                    }
                })
                .isInstanceOfSatisfying(
                        DeliveryException.class, e -> assertThat(e.trouble()).isEqualTo(Trouble.TOO_LARGE));
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"BUSY", "BROKEN", "DROPPED", "TRUNCATED", "GIBBERISH"})
    void whatFailsOnceComesAllTheSame(Fault fault) throws Exception {
        emulator.faults.at("/groups/group0", fault, 1);
        emulator.faults.at("/projects/%s/subjects".formatted(PROJECT), fault, 1);

        assertThat(spool.deliver(Level.PROJECT, PROJECT).isComplete()).isTrue();
    }

    private void assertEachFileIsDescribedOnce(String item) throws IOException {
        JsonNode told = told(item);
        List<String> paths = new ArrayList<>();
        for (String section : List.of("containers", "unlisted")) {
            for (JsonNode container : told.path(section)) {
                for (JsonNode file : container.path("files")) {
                    String path = file.path("path").asString();
                    paths.add(path);
                    assertThat(Hierarchy.hash(tree(item).get(path)))
                            .isEqualTo(file.path("hash").asString());
                }
            }
        }
        paths.add("flywheel.json");
        assertThat(paths).containsExactlyInAnyOrderElementsOf(tree(item).keySet());
    }

    private JsonNode told(String item) throws IOException {
        return JSON.readTree(text(item));
    }

    private String text(String item) throws IOException {
        return Files.readString(spool.tree(item).resolve("flywheel.json"));
    }

    private static JsonNode container(JsonNode told, String id) {
        return told.path("containers")
                .valueStream()
                .filter(each -> each.path("_id").asString().equals(id))
                .findFirst()
                .orElseThrow();
    }

    private JsonNode entry(String item, String file) throws IOException {
        return told(item)
                .path("containers")
                .valueStream()
                .flatMap(each -> each.path("files").valueStream())
                .filter(each -> each.path("file_id").asString().equals(file))
                .findFirst()
                .orElseThrow();
    }

    private Map<String, byte[]> tree(String item) throws IOException {
        Path tree = spool.tree(item);
        Map<String, byte[]> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(tree)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                files.put(FilePath.between(tree, file).toString(), Files.readAllBytes(file));
            }
        }
        return files;
    }
}
