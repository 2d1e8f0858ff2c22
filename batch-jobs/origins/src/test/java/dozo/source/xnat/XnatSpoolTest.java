package dozo.source.xnat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.source.delivery.Checked;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Recheck;
import dozo.source.delivery.Reconciliation;
import dozo.source.delivery.Server;
import dozo.source.delivery.Trouble;
import dozo.source.xnat.EmulatedXnat.Fate;
import dozo.source.xnat.XnatContent.Holder;
import dozo.source.xnat.XnatContent.Res;
import dozo.source.xnat.XnatContent.Session;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Everything that XNAT lists of a session is in the spool, byte for byte, or is named with the reason why not. */
class XnatSpoolTest {

    private static final Limits LIMITS = new Limits(
            Duration.ofSeconds(20),
            Duration.ofSeconds(60),
            Duration.ofSeconds(60),
            3,
            Duration.ofSeconds(1),
            Duration.ofSeconds(60));

    @TempDir
    Path folder;

    private final XnatContent content = XnatContent.small();
    private final Session session = content.sessions.getFirst();
    private final AtomicInteger fired = new AtomicInteger();
    private EmulatedXnat emulator;
    private Path login;
    private Path files;
    private Xnat xnat;
    private Spool spool;

    @BeforeEach
    void open() throws IOException {
        emulator = new EmulatedXnat(content);
        login = Files.writeString(folder.resolve("login"), EmulatedXnat.LOGIN);
        files = folder.resolve("spool");
        xnat = xnat();
        spool = new Spool(xnat, files, 3);
    }

    private Xnat xnat() throws IOException {
        return new Xnat(Server.at(emulator.address(), login), LIMITS, wait -> {}, InstantSource.system());
    }

    @AfterEach
    void close() {
        xnat.close();
        assertThat(emulator.open()).as("sessions that are left there").isZero();
        emulator.close();
    }

    @Test
    void theFilesOfEveryLevelAreDeliveredUnderTheirNames() throws Exception {
        Reconciliation came = spool.deliver(session.id);

        assertThat(came.missing()).isEmpty();
        assertThat(came.remarks()).isEmpty();
        assertThat(came.label()).isEqualTo("visit 1");
        assertThat(came.filesDelivered()).isEqualTo(7);
        assertThat(tree())
                .containsOnlyKeys(
                        "assessors/%s/REPORT~~%d/qc.csv".formatted(assessor().id, of(assessor(), "REPORT").id),
                        "reconstructions/recon 1/OUT~~%d/r.nii.gz".formatted(of(recon(), "OUT").id),
                        "resources/NOTES~~%d/protocol.pdf".formatted(of(session, "NOTES").id),
                        "scans/1/DICOM~~%d/1.dcm".formatted(dicom().id),
                        "scans/1/DICOM~~%d/sub dir/2 +%%41#.dcm".formatted(dicom().id),
                        "scans/1/NIFTI~~%d/1.dcm".formatted(of(scan(), "NIFTI").id),
                        "scans/2-MR1/DICOM~~%d/1.dcm".formatted(of(session.holder("scans", "2-MR1"), "DICOM").id),
                        "xnat.json");
        assertThat(tree().get("scans/1/DICOM~~%d/sub dir/2 +%%41#.dcm".formatted(dicom().id)))
                .isEqualTo("two".repeat(50_000));
    }

    @Test
    void aSecondDeliveryFetchesNothingAndChangesNothing() throws Exception {
        spool.deliver(session.id);
        Map<String, String> before = tree();
        Path metadata = tree(session.id).resolve("xnat.json");
        Object inode = Files.getAttribute(metadata, "unix:ino");

        assertThat(spool.deliver(session.id).bytesFetched()).isZero();
        assertThat(tree()).isEqualTo(before);
        assertThat(Files.getAttribute(metadata, "unix:ino")).isEqualTo(inode);
    }

    @Test
    void theMetadataDescribeSessionSubjectAndFilesWithoutNameAndDateOfBirth() throws Exception {
        spool.deliver(session.id);

        assertThat(tree().get("xnat.json"))
                .contains("t1 mprage", "T1_RAW", "\"path\" : \"scans/1/DICOM~~", "sub-01", "female", "dozo-xnat-1")
                .doesNotContain("Yamada", "1980-02-03", "experiments/experiment");
    }

    @Test
    void aChangedFileReplacesTheOldOneAndOneThatIsNoLongerListedStays() throws Exception {
        spool.deliver(session.id);
        content.store(dicom(), "1.dcm", "changed");
        of(session, "NOTES").catalogue.clear();

        Reconciliation came = spool.deliver(session.id);

        assertThat(came.bytesFetched()).isEqualTo("changed".length());
        assertThat(came.remarks()).extracting(Item::trouble).containsExactly(Trouble.NOT_TOLD);
        assertThat(tree())
                .containsEntry("scans/1/DICOM~~%d/1.dcm".formatted(dicom().id), "changed")
                .containsEntry("resources/NOTES~~%d/protocol.pdf".formatted(of(session, "NOTES").id), "protocol");
    }

    @Test
    void aDeliveryThatWasKilledBeforeItsRecordFetchesNothingAgain() throws Exception {
        spool.deliver(session.id);
        Files.delete(files.resolve(session.id).resolve("delivered"));

        assertThat(spool.deliver(session.id).bytesFetched()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "GONE, GONE",
        "NO_CONTENT, GONE",
        "DENIED, DENIED",
        "BROKEN, SERVER_FAULT",
        "LOST, DROPPED",
        "CUT, DROPPED",
        "FLIPPED, HASH_DIFFERS",
        "PAGE, TRUNCATED",
        "REDIRECTED, REDIRECTED"
    })
    void aFileThatCannotBeReadIsNamedAndTheRestIsDelivered(Fate fate, Trouble trouble) throws Exception {
        always(fate, dicom().id + "/files/1.dcm");

        Reconciliation came = spool.deliver(session.id);

        assertThat(came.missing()).extracting(Item::trouble).containsExactly(trouble);
        assertThat(came.missing().getFirst().name()).isEqualTo("scans 1, resource DICOM, file 1.dcm");
        assertThat(came.filesDelivered()).isEqualTo(6);
        assertThat(tree()).doesNotContainKey("scans/1/DICOM~~%d/1.dcm".formatted(dicom().id));
        assertThat(fired).hasPositiveValue();
    }

    @ParameterizedTest
    @EnumSource(names = {"BROKEN", "LOST", "CUT", "FLIPPED", "PAGE", "REDIRECTED"})
    void aFaultThatPassesIsOvercome(Fate fate) throws Exception {
        emulator.fate = request -> request.contains("/files/1.dcm") && fired.incrementAndGet() == 1 ? fate : Fate.DONE;

        assertThat(spool.deliver(session.id).missing()).isEmpty();
        assertThat(fired).hasPositiveValue();
    }

    @ParameterizedTest
    @CsvSource({
        "PAGE, UNPARSED",
        "GIBBERISH, UNPARSED",
        "REDIRECTED, REDIRECTED",
        "NO_CONTENT, GONE",
        "BROKEN, SERVER_FAULT",
        "CUT, DROPPED"
    })
    void aSessionThatCannotBeReadIsNotComplete(Fate fate, Trouble trouble) throws Exception {
        always(fate, "/data/experiments/" + session.id + "?format=json");

        Reconciliation came = spool.deliver(session.id);

        assertThat(came.missing()).extracting(Item::trouble).containsExactly(trouble);
        assertThat(came.filesDelivered()).isZero();
        assertThat(files.resolve(session.id)).doesNotExist();
    }

    @Test
    void anExpiredSessionIsRenewed() throws Exception {
        xnat.ask();
        emulator.expire();

        assertThat(spool.deliver(session.id).missing()).isEmpty();
        assertThat(emulator.requests)
                .filteredOn(each -> each.equals("GET /data/JSESSION"))
                .hasSize(2);
    }

    @Test
    void aLoginThatIsRefusedEndsEverything() throws Exception {
        Files.writeString(login, "dozo:old word");
        try (Xnat refused = xnat()) {
            assertThatThrownBy(() -> new Spool(refused, files, 3).deliver(session.id))
                    .isInstanceOfSatisfying(
                            DeliveryException.class,
                            e -> assertThat(e.trouble()).isEqualTo(Trouble.KEY_REFUSED))
                    .hasMessageNotContaining("old word");
            assertThat(refused.answers()).isFalse();
        }
    }

    @Test
    void aPageInsteadOfTheLoginIsNoSession() throws Exception {
        always(Fate.PAGE, "GET /data/JSESSION");

        assertThat(xnat.answers()).isFalse();
        assertThat(spool.deliver(session.id).missing())
                .extracting(Item::trouble)
                .containsExactly(Trouble.UNPARSED);
        emulator.fate = request -> Fate.DONE;
        assertThat(xnat.answers()).isTrue();
    }

    @Test
    void aSubjectThatCannotBeReadStaysAsItWasDescribed() throws Exception {
        spool.deliver(session.id);
        always(Fate.DENIED, "/data/subjects/");

        assertThat(spool.deliver(session.id).missing())
                .extracting(Item::trouble)
                .containsExactly(Trouble.DENIED);
        assertThat(tree().get("xnat.json")).contains("female");
    }

    @Test
    void withoutDigestsFilesAreDeliveredWithARemark() throws Exception {
        for (Res resource : List.of(dicom(), of(session, "NOTES"))) {
            resource.catalogue.replaceAll((name, digest) -> "");
        }
        of(session, "NOTES").sizes.put("protocol.pdf", "");

        Reconciliation came = spool.deliver(session.id);

        assertThat(came.missing()).isEmpty();
        assertThat(came.filesDelivered()).isEqualTo(7);
        assertThat(came.remarks()).singleElement().satisfies(remark -> {
            assertThat(remark.trouble()).isEqualTo(Trouble.NO_HASH);
            assertThat(remark.message()).contains("3 files");
        });
        assertThat(spool.deliver(session.id).bytesFetched()).isZero();
    }

    @Test
    void aPageInsteadOfAFileOfUnknownSizeIsNotTheFile() throws Exception {
        of(session, "NOTES").catalogue.put("protocol.pdf", "");
        of(session, "NOTES").sizes.put("protocol.pdf", "");
        always(Fate.PAGE, "/files/protocol.pdf");

        assertThat(spool.deliver(session.id).missing())
                .extracting(Item::trouble)
                .containsExactly(Trouble.UNPARSED);
    }

    @Test
    void aFileThatIsAPageIsDelivered() throws Exception {
        content.store(of(session, "NOTES"), "report.html", "<html>fine</html>");

        assertThat(spool.deliver(session.id).missing()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"00000000000000000000000000000000, 6, HASH_DIFFERS", "'', 5, SIZE_DIFFERS", "'', 7, TRUNCATED"})
    void otherBytesThanListedAreNotDelivered(String digest, String size, Trouble trouble) throws Exception {
        content.store(dicom(), "1.dcm", "hello!");
        dicom().catalogue.put("1.dcm", digest);
        dicom().sizes.put("1.dcm", size);

        assertThat(spool.deliver(session.id).missing())
                .extracting(Item::trouble)
                .containsExactly(trouble);
        assertThat(tree()).doesNotContainKey("scans/1/DICOM~~%d/1.dcm".formatted(dicom().id));
    }

    @ParameterizedTest
    @CsvSource({
        "../../../../evil, the catalogue states no path in the resource",
        "a//b, the catalogue states no path in the resource",
        "./b, the catalogue states no path in the resource",
        "/etc/passwd, the catalogue states no path in the resource",
        "https://store.example.org/1.dcm, the catalogue refers to a remote address"
    })
    void aPathOutsideOfTheResourceIsNotRequested(String path, String why) throws Exception {
        content.store(dicom(), path, "evil");

        Reconciliation came = spool.deliver(session.id);

        assertThat(came.missing()).singleElement().satisfies(item -> {
            assertThat(item.trouble()).isEqualTo(Trouble.UNPARSED);
            assertThat(item.message()).isEqualTo(why);
        });
        assertThat(emulator.requests).noneMatch(each -> each.contains("evil") || each.contains("store.example"));
        assertThat(came.filesDelivered()).isEqualTo(7);
        try (Stream<Path> all = Files.walk(folder)) {
            assertThat(all.filter(each -> each.endsWith("evil"))).isEmpty();
        }
    }

    @Test
    void aRemoteFileThatXnatCannotFetchIsNamed() throws Exception {
        dicom().catalogue.put("remote.dcm", "");

        assertThat(spool.deliver(session.id).missing())
                .extracting(Item::trouble)
                .containsExactly(Trouble.GONE);
    }

    @Test
    void namesThatWouldCollideOrAreTooLongGetOneOfTheirOwn() throws Exception {
        Res notes = of(session, "NOTES");
        String name = "n".repeat(300);
        List<String> names =
                List.of("a", "a/b", "a/b/c", name, name + "2", "x/".repeat(1_500) + "deep", "b~2Fc", "b:c");
        names.forEach(each -> content.store(notes, each, "content of " + each));

        Reconciliation came = spool.deliver(session.id);

        assertThat(came.missing()).isEmpty();
        for (String each : names) {
            assertThat(tree().values())
                    .filteredOn(each2 -> each2.equals("content of " + each))
                    .hasSize(1);
        }
        assertThat(spool.deliver(session.id).bytesFetched()).isZero();
    }

    @Test
    void hostileLabelsStayInTheTree() throws Exception {
        Holder scan = content.holder(session, "scans", "../..");
        content.store(content.resource(scan, "../../up"), "x", "here");

        assertThat(spool.deliver(session.id).missing()).isEmpty();
        assertThat(tree()).containsValue("here");
    }

    @Test
    void aBrokenCatalogueHidesOnlyItsOwnFilesAndStaysDescribed() throws Exception {
        spool.deliver(session.id);
        dicom().broken = true;
        content.store(of(scan(), "NIFTI"), "new.nii", "new");

        Reconciliation came = spool.deliver(session.id);

        assertThat(came.missing()).singleElement().satisfies(item -> {
            assertThat(item.trouble()).isEqualTo(Trouble.GONE);
            assertThat(item.name()).isEqualTo("scans 1, resource DICOM");
        });
        assertThat(came.remarks()).isEmpty();
        assertThat(tree()).containsKey("scans/1/NIFTI~~%d/new.nii".formatted(of(scan(), "NIFTI").id));
        assertThat(tree().get("xnat.json")).contains("sub dir/2 +%41#.dcm", "new.nii");
    }

    @Test
    void metadataThatAreDamagedAreWrittenAnew() throws Exception {
        spool.deliver(session.id);
        Files.writeString(tree(session.id).resolve("xnat.json"), "{");
        dicom().broken = true;

        spool.deliver(session.id);

        assertThat(tree().get("xnat.json")).contains("protocol.pdf").doesNotContain("2 +%41#.dcm");
    }

    @Test
    void fewerFilesThanCountedAreMissing() throws Exception {
        dicom().count = 3;

        assertThat(spool.deliver(session.id).missing()).singleElement().satisfies(item -> {
            assertThat(item.trouble()).isEqualTo(Trouble.COUNT_DIFFERS);
            assertThat(item.message()).isEqualTo("XNAT counts 3 files and lists 2: refresh its catalogue");
        });
    }

    @Test
    void filesOfAResourceThatDisappearsMeanwhileAreMissing() throws Exception {
        emulator.fate = request -> {
            if (request.contains("/resources?all=true")) {
                session.resources.clear();
            }
            return Fate.DONE;
        };

        assertThat(spool.deliver(session.id).missing())
                .extracting(Item::trouble)
                .containsExactly(Trouble.GONE);
    }

    @Test
    void inputsOfAnAssessorAreDelivered() throws Exception {
        Res input = content.res("INPUT");
        content.store(input, "list.txt", "inputs");
        assessor().inputs.add(input);

        assertThat(spool.deliver(session.id).missing()).isEmpty();
        assertThat(tree())
                .containsEntry("assessors/%s/INPUT~~%d/list.txt".formatted(assessor().id, input.id), "inputs");
    }

    @Test
    void aCheckComparesWhatXnatHasNow() throws Exception {
        spool.deliver(session.id);
        FilePath first = FilePath.of("scans/1/DICOM~~%d/1.dcm".formatted(dicom().id));
        assertThat(check(first)).isInstanceOf(Checked.Equal.class);

        dicom().disk.put("1.dcm", "rotten".getBytes(StandardCharsets.UTF_8));
        dicom().sizes.put("1.dcm", "150000");
        assertThat(check(first)).isInstanceOf(Checked.Other.class);
        dicom().disk.put("1.dcm", "eno".repeat(50_000).getBytes(StandardCharsets.UTF_8));
        assertThat(check(first)).isInstanceOf(Checked.Other.class);
        content.store(dicom(), "1.dcm", "a new version");
        assertThat(check(first)).isInstanceOf(Checked.Edited.class);
    }

    private Checked check(FilePath path) throws Exception {
        Digest sent = Digest.of(Digest.algorithm().digest("one".repeat(50_000).getBytes(StandardCharsets.UTF_8)));
        Recheck.Asked asked = new Recheck.Asked(FilePath.ROOT, List.of(path), 10, 1 << 20, paths -> Map.of(path, sent));
        return spool.check(session.id, asked).files().getFirst();
    }

    @Test
    void onlyIdsAreRequested() {
        assertThatIllegalArgumentException().isThrownBy(() -> spool.deliver("../other"));
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> new Xnat(Server.at("http://localhost:1"), LIMITS, wait -> {}, InstantSource.system()));
    }

    @Test
    void onlySessionsOfTheProjectAreListedAndThoseThatWaitAreNamed() throws Exception {
        content.projects.add("OTHER");
        Session shared = content.session("OTHER", "sub-09", "shared");
        shared.sharedInto.add("BRAIN");
        content.prearchive.add(Map.of(
                "project",
                "BRAIN",
                "session",
                "visit 2",
                "status",
                "CONFLICT",
                "url",
                "/prearchive/projects/BRAIN/1/v"));

        Sessions.Listed told = Sessions.of(xnat, Set.of("BRAIN"));

        assertThat(told.sessions())
                .containsExactly(new Sessions.Found(
                        session.id, "BRAIN", "sub-01", "visit 1", "xnat:mrSessionData", "2026-01-05"));
        assertThat(told.missing()).singleElement().satisfies(item -> {
            assertThat(item.trouble()).isEqualTo(Trouble.PREARCHIVED);
            assertThat(item.message()).contains("CONFLICT");
        });
        assertThat(Sessions.of(xnat, Set.of()).sessions()).hasSize(2);
    }

    @Test
    void aProjectThatCannotBeReadIsMissingNotEmpty() throws Exception {
        always(Fate.DENIED, "/data/prearchive");

        Sessions.Listed told = Sessions.of(xnat, Set.of("BRAIN", "UNKNOWN"));

        assertThat(told.sessions()).hasSize(1);
        assertThat(told.missing()).extracting(Item::trouble).containsExactly(Trouble.GONE);
        assertThat(told.remarks()).extracting(Item::trouble).containsExactly(Trouble.DENIED);
    }

    @Test
    void aListWithoutItsFormOrWithAnInvalidIdIsNotEmpty() throws Exception {
        session.id = "no id";
        assertThat(Sessions.of(xnat, Set.of()).missing())
                .extracting(Item::trouble)
                .containsExactly(Trouble.UNPARSED);

        always(Fate.GIBBERISH, "/data/experiments?");
        assertThatThrownBy(() -> Sessions.of(xnat, Set.of())).isInstanceOf(DeliveryException.class);
        assertThat(Sessions.of(xnat, Set.of("BRAIN")).missing())
                .extracting(Item::trouble)
                .containsExactly(Trouble.UNPARSED);
    }

    private void always(Fate fate, String part) {
        emulator.fate = request -> {
            if (!request.contains(part)) {
                return Fate.DONE;
            }
            fired.incrementAndGet();
            return fate;
        };
    }

    private Holder scan() {
        return session.holder("scans", "1");
    }

    private Holder assessor() {
        return session.holder("assessors", "qc of visit 1");
    }

    private Holder recon() {
        return session.holder("reconstructions", "recon 1");
    }

    private Res dicom() {
        return of(scan(), "DICOM");
    }

    private Res of(Holder holder, String label) {
        return content.resource(holder, label);
    }

    private Path tree(String id) {
        return Spool.tree(files, id);
    }

    private Map<String, String> tree() throws IOException {
        Map<String, String> all = new TreeMap<>();
        Path tree = tree(session.id);
        try (Stream<Path> walk = Files.walk(tree)) {
            for (Path file : walk.filter(Files::isRegularFile).toList()) {
                all.put(tree.relativize(file).toString(), Files.readString(file));
            }
        }
        return all;
    }
}
