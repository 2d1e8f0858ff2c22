package dozo.source.flywheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import dozo.file.FilePath;
import dozo.remote.Tmpfs;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.Reconciliation;
import dozo.source.delivery.Trouble;
import dozo.source.flywheel.Faults.Fault;
import dozo.source.flywheel.Hierarchy.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Everything that Flywheel lists of a session is in the spool, byte for byte, or is named with the reason why not. */
class SpoolTest {

    /** A session with its own files, two acquisitions of two files, and an analysis. */
    private static final String SESSION = Hierarchy.session(0);

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
    void aSessionBecomesAFolderThatPeopleCanRead() throws Exception {
        Reconciliation came = spool.deliver(SESSION);

        assertThat(came.isComplete()).isTrue();
        assertThat(came.filesTold()).isEqualTo(6);
        assertThat(came.filesDelivered()).isEqualTo(6);
        assertThat(came.remarks()).isEmpty();
        assertThat(came.bytesFetched())
                .isEqualTo(tree().values().stream()
                        .mapToLong(bytes -> bytes.length)
                        .sum());
        assertThat(tree())
                .containsOnlyKeys(
                        "acquisitions/run-0~~" + Hierarchy.acquisition(0) + "/0_0_scan.dicom.zip",
                        "acquisitions/run-0~~" + Hierarchy.acquisition(0) + "/0_1_scan.dicom.zip",
                        "acquisitions/run-1~~" + Hierarchy.acquisition(1) + "/1_0_scan.dicom.zip",
                        "acquisitions/run-1~~" + Hierarchy.acquisition(1) + "/1_1_scan.dicom.zip",
                        "analyses/fit-0~~" + Hierarchy.id(Kind.ANALYSIS, 0) + "/fit.nii.gz",
                        "files/protocol.pdf");
        assertThat(tree().get("acquisitions/run-1~~" + Hierarchy.acquisition(1) + "/1_0_scan.dicom.zip"))
                .isEqualTo(hierarchy.content(2));
    }

    @Test
    void whatIsHereIsNotFetchedAgain() throws Exception {
        spool.deliver(SESSION);
        Map<String, byte[]> before = tree();

        Reconciliation again = spool.deliver(SESSION);

        assertThat(again.isComplete()).isTrue();
        assertThat(again.bytesFetched()).isZero();
        assertThat(tree()).containsExactlyEntriesOf(before);
    }

    @Test
    void aLostRecordCostsNoDownload() throws Exception {
        spool.deliver(SESSION);
        Files.delete(folder.resolve(SESSION).resolve("delivered"));
        Path broken = spool.tree(SESSION).resolve("files/protocol.pdf");
        byte[] bytes = Files.readAllBytes(broken);
        bytes[7] ^= 1;
        Files.write(broken, bytes);

        Reconciliation again = spool.deliver(SESSION);

        assertThat(again.isComplete()).isTrue();
        assertThat(again.bytesFetched())
                .as("one that is not as told comes anew")
                .isEqualTo(bytes.length);
        bytes[7] ^= 1;
        assertThat(broken).hasBinaryContent(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[", "{\"files\":{\"x\":{\"path\":\"../../outside\"}}}"})
    void aBrokenRecordIsAsGoodAsNone(String text) throws Exception {
        Files.createDirectories(folder.resolve(SESSION));
        Files.writeString(folder.resolve(SESSION).resolve("delivered"), text);

        assertThat(spool.deliver(SESSION).isComplete()).isTrue();
        assertThat(tree()).hasSize(6);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"BUSY", "BROKEN", "PROXY", "DROPPED", "TRUNCATED", "FLIPPED", "STALLED", "KEY_REFUSED"})
    void aDownloadThatFailsOnceComesAllTheSame(Fault fault) throws Exception {
        emulator.faults.at(emulator.downloadPath(hierarchy.file(1, 0)), fault, 1);

        assertThat(spool.deliver(SESSION).isComplete()).isTrue();
        assertThat(tree().get("acquisitions/run-1~~" + Hierarchy.acquisition(1) + "/1_0_scan.dicom.zip"))
                .isEqualTo(hierarchy.content(2));
        assertThat(Files.list(folder.resolve(SESSION).resolve("incoming"))).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"GONE", "DENIED", "BROKEN", "FLIPPED", "REDIRECTED"})
    void aDownloadThatNeverComesIsNamed(Fault fault) throws Exception {
        String file = hierarchy.file(1, 0);
        emulator.faults.always(emulator.downloadPath(file), fault);

        Reconciliation came = spool.deliver(SESSION);

        assertThat(came.isComplete()).isFalse();
        assertThat(came.filesDelivered()).isEqualTo(5);
        assertThat(came.missing()).singleElement().satisfies(item -> {
            assertThat(item.id()).isEqualTo(file);
            assertThat(item.name()).isEqualTo("acquisition run-1/1_0_scan.dicom.zip");
            assertThat(item.trouble())
                    .isEqualTo(
                            switch (fault) {
                                case BROKEN -> Trouble.SERVER_FAULT;
                                case FLIPPED -> Trouble.HASH_DIFFERS;
                                default -> Trouble.valueOf(fault.name());
                            });
        });
        assertThat(tree()).hasSize(5);
    }

    @Test
    void aRestIsAskedForAndNothingTwice() throws Exception {
        String file = hierarchy.file(1, 0);
        emulator.faults.at(emulator.downloadPath(file), Fault.TRUNCATED, 2);

        assertThat(spool.deliver(SESSION).isComplete()).isTrue();

        assertThat(emulator.ranges).containsExactly("bytes=1001-", "bytes=1501-");
    }

    @Test
    void anotherRangeThanTheOneAskedForIsNotTaken() throws Exception {
        String path = emulator.downloadPath(hierarchy.file(1, 0));
        emulator.faults.at(path, Fault.TRUNCATED, 1);
        emulator.faults.at(path, Fault.WRONG_RANGE, 1);

        assertThat(spool.deliver(SESSION).isComplete()).isTrue();
        assertThat(tree().get("acquisitions/run-1~~" + Hierarchy.acquisition(1) + "/1_0_scan.dicom.zip"))
                .isEqualTo(hierarchy.content(2));
    }

    @Test
    void sizesThatLieAreNamed() throws Exception {
        hierarchy.tell(hierarchy.file(0, 0), "size", 100).tell(hierarchy.file(0, 1), "size", 1_000_000);

        Reconciliation came = spool.deliver(SESSION);

        assertThat(came.missing())
                .extracting(Item::trouble)
                .containsExactlyInAnyOrder(Trouble.SIZE_DIFFERS, Trouble.TRUNCATED);
        assertThat(tree()).hasSize(4);
    }

    @Test
    void aHashThatIsNotTheBytesIsNamed() throws Exception {
        hierarchy.tell(hierarchy.file(0, 0), "hash", "v0-sha384-" + "0".repeat(96));

        assertThat(spool.deliver(SESSION).missing()).extracting(Item::trouble).containsExactly(Trouble.HASH_DIFFERS);
        assertThat(emulator.downloads(hierarchy.file(0, 0))).as("two looks").isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "md5:0123", "v0-sha384-00", "v1-sha999-00"})
    void withoutAHashTheBytesComeAndItIsSaid(String hash) throws Exception {
        hierarchy.tell(hierarchy.file(0, 0), "hash", hash);

        Reconciliation came = spool.deliver(SESSION);

        assertThat(came.isComplete()).isTrue();
        assertThat(came.remarks()).extracting(Item::trouble).containsExactly(Trouble.NO_HASH);
        assertThat(tree()).hasSize(6);
        assertThat(spool.deliver(SESSION).bytesFetched()).isZero();
    }

    /** Otherwise bytes left by a crash would count as Flywheel's. */
    @Test
    void withoutAHashNothingOfAnEarlierTryIsGoneOnWith() throws Exception {
        String file = hierarchy.file(0, 0);
        hierarchy.tell(file, "hash", "");
        Path incoming = Files.createDirectories(folder.resolve(SESSION).resolve("incoming"));
        Files.write(incoming.resolve(file + ".1"), new byte[1_000]);

        assertThat(spool.deliver(SESSION).isComplete()).isTrue();

        assertThat(tree().get("acquisitions/run-0~~" + Hierarchy.acquisition(0) + "/0_0_scan.dicom.zip"))
                .isEqualTo(hierarchy.content(0));
    }

    @Test
    void aFlywheelThatFailsForEveryFileIsNotAskedForAllOfThem() throws Exception {
        large(40);
        for (int i = 0; i < 40; i++) {
            emulator.faults.always(emulator.downloadPath(hierarchy.file(0, i)), Fault.BROKEN);
        }

        emulator.takeRequests();
        Reconciliation came = spool.deliver(SESSION);

        assertThat(came.missing())
                .hasSizeBetween(40, 42)
                .extracting(Item::trouble)
                .containsOnly(Trouble.SERVER_FAULT);
        assertThat(came.missing())
                .filteredOn(item -> item.message().startsWith("not requested"))
                // The two good files are in random places, and each resets the count of eight failures in a row.
                .hasSizeGreaterThan(10);
        assertThat(emulator.takeRequests()).isLessThan(30 * Readers.LIMITS.tries());
        emulator.faults.heal();
        assertThat(spool.deliver(SESSION).isComplete()).isTrue();
    }

    @Test
    void filesThatAreGoneKeepNoOthersFromComing() throws Exception {
        large(40);
        for (int i = 0; i < 20; i++) {
            emulator.faults.always(emulator.downloadPath(hierarchy.file(0, i)), Fault.GONE);
        }

        assertThat(spool.deliver(SESSION).missing())
                .hasSize(20)
                .extracting(Item::trouble)
                .containsOnly(Trouble.GONE);
    }

    @Test
    void aFlywheelThatFailsForEveryContainerIsNotAskedForAllOfThem() throws Exception {
        close();
        hierarchy = new Hierarchy(1, 1, 1, 40, 1, 100);
        open();
        for (int i = 0; i < 40; i++) {
            emulator.faults.always("/acquisitions/" + Hierarchy.acquisition(i), Fault.BROKEN);
        }

        Reconciliation came = spool.deliver(SESSION);

        assertThat(came.missing())
                .extracting(Item::id, Item::trouble)
                .containsExactly(tuple(SESSION, Trouble.SERVER_FAULT));
        assertThat(emulator.takeRequests()).isLessThan(15 * Readers.LIMITS.tries());
        assertThat(emulator.faults.unfired()).hasSizeGreaterThan(25);
        emulator.faults.heal();
    }

    /**
     * Delivered files are kept, no partial file is in the tree, and nothing is downloaded twice when there is space
     * again.
     */
    @Test
    void aFullDiskIsSaidAndTheRestComesWhenThereIsRoom() throws Exception {
        large(40);
        try (Tmpfs disk = new Tmpfs(folder, "size=96k")) {
            IOException full = catchThrowableOfType(IOException.class, () -> spool.deliver(SESSION));

            assertThat(full).hasMessageContaining("No space left on device");
            Map<String, byte[]> before = tree();
            assertThat(before).hasSizeBetween(5, 30);
            disk.remount("size=4m");
            assertThat(spool.deliver(SESSION).isComplete()).isTrue();
            assertThat(tree()).hasSize(42);
            for (int i = 0; i < 40; i++) {
                String path = "acquisitions/run-0~~%s/%s"
                        .formatted(
                                Hierarchy.acquisition(0),
                                hierarchy
                                        .find(hierarchy.file(0, i))
                                        .orElseThrow()
                                        .get("name"));
                assertThat(tree().get(path)).isEqualTo(hierarchy.content(i));
                if (before.containsKey(path)) {
                    assertThat(before.get(path)).isEqualTo(hierarchy.content(i));
                    assertThat(emulator.downloads(hierarchy.file(0, i))).isEqualTo(1);
                }
            }
        }
    }

    private void large(int files) {
        close();
        hierarchy = new Hierarchy(1, 1, 1, 1, files, 2_000);
        open();
    }

    @Test
    void whatMayNotBeReadIsNamedAndTheRestComes() throws Exception {
        emulator.faults.always("/acquisitions/" + Hierarchy.acquisition(0), Fault.DENIED);
        emulator.faults.always("/analyses/" + Hierarchy.id(Kind.ANALYSIS, 0), Fault.GONE);

        Reconciliation came = spool.deliver(SESSION);

        assertThat(came.missing())
                .extracting(item -> item.trouble() + " " + item.name())
                .containsExactly("DENIED acquisition run-0", "GONE analysis fit-0");
        assertThat(tree()).hasSize(3);
    }

    @Test
    void aSessionThatCannotBeReadIsNamed() throws Exception {
        emulator.faults.always("/sessions/" + SESSION, Fault.DENIED);

        Reconciliation came = spool.deliver(SESSION);

        assertThat(came.isComplete()).isFalse();
        assertThat(came.missing()).extracting(Item::trouble).containsExactly(Trouble.DENIED);
    }

    @Test
    void aKeyThatIsRefusedSaysNothingAboutASession() {
        Readers others = new Readers(ApiKey.of(emulator.key() + "x"), Set.of());

        DeliveryException refused = catchThrowableOfType(
                DeliveryException.class, () -> new Spool(others.flywheel, folder, 2).deliver(SESSION));

        assertThat(refused.trouble()).isEqualTo(Trouble.KEY_REFUSED);
        others.flywheel.close();
    }

    @Test
    void labelsAreOnlyNames() throws Exception {
        hierarchy
                .tell(Hierarchy.acquisition(0), "label", "../../../escape")
                .tell(Hierarchy.acquisition(1), "label", "../../../escape")
                .tell(hierarchy.file(0, 0), "name", "..")
                .tell(hierarchy.file(0, 1), "name", "脳 🧠\nT1.nii");

        Reconciliation came = spool.deliver(SESSION);

        assertThat(came.missing()).isEmpty();
        assertThat(came.remarks()).extracting(Item::trouble).containsExactly(Trouble.DUPLICATE);
        assertThat(tree())
                .containsKeys(
                        "acquisitions/..~2F..~2F..~2Fescape~~" + Hierarchy.acquisition(0) + "/~2E~2E",
                        "acquisitions/..~2F..~2F..~2Fescape~~" + Hierarchy.acquisition(0) + "/脳 🧠~0AT1.nii",
                        "acquisitions/..~2F..~2F..~2Fescape~~" + Hierarchy.acquisition(1) + "/1_0_scan.dicom.zip")
                .hasSize(6);
        try (Stream<Path> beside = Files.list(folder)) {
            assertThat(beside).containsExactly(folder.resolve(SESSION));
        }
    }

    @Test
    void twoFilesOfOneNameBothCome() throws Exception {
        hierarchy.tell(hierarchy.file(0, 1), "name", "0_0_scan.dicom.zip");
        hierarchy.tell(hierarchy.file(0, 1), "hash", Hierarchy.hash(hierarchy.content(0)));
        hierarchy.tell(hierarchy.file(0, 1), "size", hierarchy.content(0).length);

        Reconciliation came = spool.deliver(SESSION);

        assertThat(came.isComplete()).as("" + came.missing()).isTrue();
        assertThat(came.remarks()).extracting(Item::trouble).containsExactly(Trouble.DUPLICATE);
        assertThat(tree())
                .hasSize(6)
                .containsKey("acquisitions/run-0~~%s/0_0_scan.dicom.zip~~%s"
                        .formatted(Hierarchy.acquisition(0), hierarchy.file(0, 1)));
    }

    @Test
    void renamingMovesNothing() throws Exception {
        spool.deliver(SESSION);
        Map<String, byte[]> before = tree();
        hierarchy
                .tell(SESSION, "label", "another")
                .tell(Hierarchy.acquisition(0), "label", "another")
                .tell(hierarchy.file(0, 0), "name", "another");

        Reconciliation again = spool.deliver(SESSION);

        assertThat(again.isComplete()).isTrue();
        assertThat(again.bytesFetched()).isZero();
        assertThat(tree()).containsExactlyEntriesOf(before);
    }

    @Test
    void aRecordOfAnEarlierReleaseIsTakenOver() throws Exception {
        String file = hierarchy.file(0, 0);
        hierarchy.tell(file, "hash", "");
        spool.deliver(SESSION);
        Map<String, byte[]> before = tree();
        Path home = folder.resolve(SESSION);
        Files.delete(home.resolve("delivered"));
        Files.writeString(home.resolve("delivered.json"), """
                {"folders": {}, "files": {"%s": {"path": "acquisitions/run-0~~%s/0_0_scan.dicom.zip",
                "version": 1, "size": %d, "hash": null}}}
                """.formatted(
                        file, Hierarchy.acquisition(0), hierarchy.content(0).length));
        hierarchy.tell(Hierarchy.acquisition(0), "label", "another").tell(file, "name", "another");

        Reconciliation again = spool.deliver(SESSION);

        assertThat(again.isComplete()).isTrue();
        assertThat(again.bytesFetched()).isZero();
        assertThat(tree()).containsExactlyEntriesOf(before);
    }

    @Test
    void aNewVersionTakesThePlaceOfTheOldOne() throws Exception {
        spool.deliver(SESSION);
        hierarchy.replace(hierarchy.file(0, 0), "new content", Readers.NOW);

        Reconciliation again = spool.deliver(SESSION);

        assertThat(again.isComplete()).isTrue();
        assertThat(again.bytesFetched()).isEqualTo("new content".length());
        assertThat(spool.tree(SESSION)
                        .resolve("acquisitions/run-0~~" + Hierarchy.acquisition(0) + "/0_0_scan.dicom.zip"))
                .hasContent("new content");
    }

    @Test
    void anotherHashOfTheSameVersionHasTheFileComparedAgain() throws Exception {
        spool.deliver(SESSION);
        Map<String, byte[]> before = tree();
        String file = hierarchy.file(0, 0);
        hierarchy.tell(file, "hash", "v0-sha384-" + "0".repeat(96));
        long downloads = emulator.downloads(file);

        Reconciliation again = spool.deliver(SESSION);

        assertThat(again.missing()).extracting(Item::trouble).containsExactly(Trouble.HASH_DIFFERS);
        assertThat(emulator.downloads(file)).isGreaterThan(downloads);
        assertThat(tree()).as("the local file is kept").containsExactlyEntriesOf(before);
    }

    @Test
    void whatIsToldOfNoMoreStays() throws Exception {
        spool.deliver(SESSION);
        hierarchy.remove(Hierarchy.acquisition(1)).remove(hierarchy.file(0, 0));

        Reconciliation again = spool.deliver(SESSION);

        assertThat(again.isComplete()).isTrue();
        assertThat(again.remarks())
                .extracting(Item::trouble)
                .containsExactly(Trouble.NOT_TOLD, Trouble.NOT_TOLD, Trouble.NOT_TOLD);
        assertThat(tree()).hasSize(6);
    }

    @Test
    void anAnswerAboutAnotherSessionIsNotTaken() throws Exception {
        hierarchy.tell(SESSION, "_id", Hierarchy.session(1));

        assertThat(spool.deliver(SESSION).missing()).extracting(Item::trouble).containsExactly(Trouble.UNPARSED);
        assertThat(folder).isEmptyDirectory();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "..", "../outside", "a/b", "a?b"})
    void whatIsNoIdIsNotAskedFor(String text) {
        assertThat(catchThrowableOfType(IllegalArgumentException.class, () -> spool.deliver(text)))
                .isNotNull();
        assertThat(emulator.takeRequests()).isZero();
    }

    @Test
    void aSpoolThatCannotBeWrittenIsNoFaultOfFlywheel() throws Exception {
        Files.createDirectories(folder.resolve(SESSION));
        Files.writeString(folder.resolve(SESSION).resolve("incoming"), "a file in the way");

        DeliveryException failed = catchThrowableOfType(DeliveryException.class, () -> spool.deliver(SESSION));

        assertThat(failed.trouble()).isEqualTo(Trouble.SPOOL);
    }

    /** Returns the files that Flywheel lists; {@link MetadataTest} is about the other one. */
    private Map<String, byte[]> tree() throws IOException {
        Path tree = spool.tree(SESSION);
        Map<String, byte[]> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(tree)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                files.put(FilePath.between(tree, file).toString(), Files.readAllBytes(file));
            }
        }
        files.remove("flywheel.json");
        return files;
    }
}
