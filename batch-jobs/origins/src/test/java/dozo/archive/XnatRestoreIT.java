package dozo.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Progress;
import dozo.copy.Inventory;
import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.copy.ManifestPart;
import dozo.copy.ProvenRead;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.loopback.LoopbackSite;
import dozo.restore.ArchiveRestore.Counts;
import dozo.send.Throttle;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Server;
import dozo.source.xnat.EmulatedXnat;
import dozo.source.xnat.EmulatedXnat.Fate;
import dozo.source.xnat.Spool;
import dozo.source.xnat.Xnat;
import dozo.source.xnat.XnatContent;
import dozo.source.xnat.XnatContent.Res;
import dozo.source.xnat.XnatContent.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever an XNAT answers, only what it returns with the manifest's bytes counts, and nothing is sent twice. */
class XnatRestoreIT {

    private static final int FILES = 7;
    private static final Comparator<FilePath> ORDER =
            Comparator.comparing(FilePath::parent).thenComparing(Comparator.naturalOrder());

    @TempDir
    Path folder;

    private final List<Finding> findings = new ArrayList<>();
    private final AtomicInteger fired = new AtomicInteger();
    private XnatContent content = XnatContent.small();
    private Map<String, String> before;
    private EmulatedXnat emulator;
    private Path root;
    private LoopbackSite site;
    private Counts counts;
    private int tries = 1;

    @BeforeEach
    void open() throws Exception {
        Files.writeString(folder.resolve("login"), EmulatedXnat.LOGIN);
        emulator = new EmulatedXnat(content);
        collect();
        before = content.shown();
        assertThat(before).hasSize(FILES);
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
        wipe();
    }

    private void collect() throws Exception {
        Path spool = folder.resolve("spool");
        String id = content.sessions.getFirst().id;
        try (Xnat xnat = xnat()) {
            assertThat(new Spool(xnat, spool, 2).deliver(id).missing()).isEmpty();
        }
        root = Spool.tree(spool, id);
    }

    private void wipe() {
        emulator.close();
        content = new XnatContent();
        content.projects.add("BRAIN");
        var _ = content.session("BRAIN", "sub-99", "so that ids differ");
        emulator = new EmulatedXnat(content);
    }

    @AfterEach
    void close() {
        emulator.close();
        site.close();
    }

    @Test
    void aSessionComesBackAndAskedTwiceNothingIsWritten() throws Exception {
        assertThat(restore().complete()).as(findings.toString()).isTrue();

        assertThat(findings).isEmpty();
        assertThat(counts).isEqualTo(new Counts(1, 2, FILES, 0, 0, 0));
        assertThat(content.shown()).isEqualTo(before);
        Session session = session();
        assertThat(session.type).isEqualTo("xnat:mrSessionData");
        assertThat(session.fields).containsEntry("UID", "1.2.3").containsEntry("date", "2026-01-05");
        assertThat(session.holder("scans", "1").fields).containsEntry("series_description", "t1 mprage");
        assertThat(dicom().content).isEqualTo("T1_RAW");
        emulator.writes.clear();

        assertThat(restore().complete()).isTrue();

        assertThat(counts).isEqualTo(new Counts(1, 2, 0, FILES, 0, 0));
        assertThat(emulator.writes).isEmpty();
        assertThat(emulator.open()).as("sessions that are left there").isZero();
    }

    /** The emulator answers nothing after a write; the write before may be done or not. */
    @Test
    void whereverItIsCutTheNextRestoreEndsWithTheSame() throws Exception {
        assertThat(restore().complete()).isTrue();
        int all = emulator.writes.size();
        assertThat(all).isGreaterThan(14);
        for (int cut = 1; cut <= all; cut++) {
            wipe();
            int last = cut;
            Fate how = cut % 2 == 0 ? Fate.LOST : Fate.UNANSWERED;
            emulator.fate = request -> {
                int count = emulator.writes.size();
                return count < last ? Fate.DONE : count == last ? how : Fate.LOST;
            };
            try {
                restore();
            } catch (IOException silent) {
                assertThat(silent).isInstanceOf(DeliveryException.class);
            }
            emulator.fate = request -> Fate.DONE;
            findings.clear();

            assertThat(restore().complete()).as("cut at %d: %s", cut, findings).isTrue();
            assertThat(content.shown()).as("cut at " + cut).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BROKEN", "LOST", "UNANSWERED", "CUT", "PAGE", "REDIRECTED"})
    void faultsThatPassAreOvercome(Fate fate) throws Exception {
        // So many that requests of several threads cannot use them up.
        tries = 10;
        emulator.fate = request -> fired.incrementAndGet() % 7 == 3 ? fate : Fate.DONE;

        assertThat(restore().complete()).as(findings.toString()).isTrue();

        assertThat(findings).isEmpty();
        assertThat(content.shown()).isEqualTo(before);
    }

    @Test
    void aSessionOfTheUserThatExpiresIsRenewed() throws Exception {
        emulator.fate = request -> {
            if (request.startsWith("PUT") && fired.incrementAndGet() % 5 == 0) {
                emulator.expire();
            }
            return Fate.DONE;
        };

        tries = 4;
        assertThat(restore().complete()).as(findings.toString()).isTrue();
        assertThat(content.shown()).isEqualTo(before);
    }

    @Test
    void whatDiffersStaysUnlessSomebodyWantsItReplaced() throws Exception {
        assertThat(restore().complete()).isTrue();
        content.store(dicom(), "1.dcm", "edited there");
        emulator.writes.clear();

        assertThat(restore().complete()).isFalse();

        assertThat(counts).isEqualTo(new Counts(1, 2, 0, FILES - 1, 1, 0));
        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.problem()).isEqualTo(Problem.ARCHIVE_DIFFERS);
            assertThat(finding.message()).endsWith("1.dcm: XNAT has other bytes under this name");
        });
        assertThat(emulator.writes).isEmpty();
        findings.clear();
        assertThat(restore(items(), Selection.ALL, true).complete())
                .as(findings.toString())
                .isTrue();
        assertThat(emulator.writes).singleElement().asString().contains("overwrite=true");
        assertThat(content.shown()).isEqualTo(before);
    }

    /** A digest that is out of date proves nothing: bytes are read back. */
    @Test
    void aStaleDigestIsNoProof() throws Exception {
        assertThat(restore().complete()).isTrue();
        dicom().disk.put("1.dcm", "rotten".getBytes(java.nio.charset.StandardCharsets.UTF_8));

        assertThat(restore().complete()).isFalse();
        assertThat(counts.differing()).isEqualTo(1);
    }

    @Test
    void aDuplicateWith200IsNoSuccess() throws Exception {
        assertThat(restore().complete()).isTrue();
        dicom().catalogue.remove("1.dcm");
        dicom().disk.put("1.dcm", new byte[] {1});
        findings.clear();

        assertThat(restore().complete()).isFalse();

        assertThat(counts).isEqualTo(new Counts(1, 2, 0, FILES - 1, 0, 1));
        assertThat(findings)
                .singleElement()
                .satisfies(finding ->
                        assertThat(finding.message()).contains("a file of this name that its catalogue does not list"));
        assertThat(dicom().disk.get("1.dcm")).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "HALF_STORED, a file of this name that its catalogue does not list",
        "CHANGED, 'XNAT has other bytes under this name, after it was sent'",
        "BROKEN, HTTP status 500",
        "DENIED, ''"
    })
    void anUploadThatDidNotArriveIsAFinding(Fate fate, String why) throws Exception {
        tries = 2;
        emulator.fate =
                request -> request.startsWith("PUT") && request.contains("/files/1.dcm") && request.contains("/NIFTI/")
                        ? fate
                        : Fate.DONE;
        if (fate == Fate.DENIED) {
            assertThatThrownBy(this::restore).hasMessageContaining("HTTP status 403");
            return;
        }

        assertThat(restore().complete()).isFalse();

        assertThat(findings)
                .singleElement()
                .satisfies(finding -> assertThat(finding.message()).contains(why));
        assertThat(counts.sent()).isEqualTo(FILES - 1);
        assertThat(counts.differing() + counts.notSent()).isEqualTo(1);
    }

    @Test
    void aUserWhoMayNotWriteIsToldSo() throws Exception {
        emulator.mayWrite = false;
        assertThatThrownBy(this::restore).hasMessageContaining("HTTP status 403");

        emulator.mayWrite = true;
        emulator.fate = request -> request.contains("inbody") ? Fate.IGNORED : Fate.DONE;
        assertThat(restore().complete()).isFalse();
        assertThat(counts).isEqualTo(new Counts(1, 2, 0, 0, 0, FILES));
        assertThat(findings.getFirst().message()).contains("may its user write in the project?");
    }

    @Test
    void whatXnatCannotTakeIsAFinding() throws Exception {
        wipeWith("NOTES", Map.of("empty", "", "名前", "japanese"));

        assertThat(restore().complete()).isFalse();

        assertThat(findings)
                .extracting(each -> each.message().replaceAll("^[^:]*: ", ""))
                .containsExactlyInAnyOrder(
                        "XNAT accepts no empty files", "it was sent, but XNAT does not list it under its name");
        assertThat(counts.notSent()).isEqualTo(2);
    }

    private void wipeWith(String label, Map<String, String> more) throws Exception {
        emulator.close();
        site.close();
        content = XnatContent.small();
        Res resource = content.resource(content.sessions.getFirst(), label);
        more.forEach((name, text) -> content.store(resource, name, text));
        emulator = new EmulatedXnat(content);
        collect();
        site = LoopbackSite.openSsh(folder.resolve("sshd2"), root, 0);
        wipe();
    }

    @Test
    void anotherSessionWithTheLabelIsNotTouched() throws Exception {
        Session other = content.session("BRAIN", "sub-02", "visit 1");
        assertThatThrownBy(this::restore).hasMessageContaining("XNAT has another session with this label");
        assertThat(other.subject.label).isEqualTo("sub-02");
        assertThat(other.holders).isEmpty();

        content.sessions.remove(other);
        content.session("BRAIN", "sub-01", "visit 1").fields.put("UID", "9.9.9");
        assertThatThrownBy(this::restore).hasMessageContaining("XNAT has another session with this label");
        content.projects.clear();
        assertThatThrownBy(this::restore).hasMessageContaining("XNAT has no project BRAIN");
    }

    @Test
    void whatIsNotAtTheSiteOrNotDescribedIsAFinding() throws Exception {
        Files.writeString(root.resolve("stranger"), "x");
        List<Item> items = items();
        Path damaged = files().stream()
                .filter(each -> each.endsWith("qc.csv"))
                .findFirst()
                .orElseThrow();
        Files.writeString(damaged, "b,a\n");
        Path lost = files().stream()
                .filter(each -> each.endsWith("protocol.pdf"))
                .findFirst()
                .orElseThrow();
        Files.delete(lost);

        assertThat(restore(items, Selection.ALL, false).complete()).isFalse();

        assertThat(findings)
                .extracting(Finding::problem)
                .containsExactlyInAnyOrder(Problem.NOT_SENT, Problem.MISMATCHED, Problem.VANISHED);
        assertThat(counts).isEqualTo(new Counts(1, 2, FILES - 2, 0, 0, 3));
    }

    @Test
    void aSelectionBringsItsFiles() throws Exception {
        FilePath notes = items().stream()
                .map(item -> item.entry().path())
                .filter(path -> path.toString().endsWith("protocol.pdf"))
                .findFirst()
                .orElseThrow();

        assertThat(restore(items(), Selection.of(notes), false).complete()).isTrue();

        assertThat(counts).isEqualTo(new Counts(1, 2, 1, 0, 0, 0));
    }

    @Test
    void withoutMetadataItIsRefused() throws Exception {
        for (String wrong : List.of("{", "{\"format\":\"x\"}", "{\"format\":\"dozo-xnat-1\"}")) {
            Files.writeString(root.resolve("xnat.json"), wrong);
            assertThatThrownBy(this::restore).hasMessageStartingWith("xnat.json");
        }
        List<Item> items = items();
        items.removeIf(each -> each.entry().path().equals(XnatJson.PLACE));
        assertThatThrownBy(() -> restore(items, Selection.ALL, false))
                .hasMessageStartingWith("the manifest has no xnat.json");
        assertThat(emulator.writes).isEmpty();
    }

    private Session session() {
        return content.sessions.stream()
                .filter(each -> each.label.equals("visit 1"))
                .findFirst()
                .orElseThrow();
    }

    private Res dicom() {
        return content.resource(session().holder("scans", "1"), "DICOM");
    }

    private Progress restore() throws IOException, InterruptedException {
        return restore(items(), Selection.ALL, false);
    }

    private Progress restore(List<Item> items, Selection selection, boolean replaces)
            throws IOException, InterruptedException {
        Inventory inventory = (after, limit) -> items.stream()
                .filter(item -> after.isRoot() || ORDER.compare(item.entry().path(), after) > 0)
                .limit(limit)
                .toList();
        try (XnatRestore restore = new XnatRestore(
                new ManifestPart(inventory, "p/E1", 1, selection),
                new ProvenRead(site.address()),
                this::xnat,
                replaces,
                new Throttle(0))) {
            try {
                return restore.run(findings::add);
            } finally {
                counts = restore.counts();
            }
        }
    }

    private Xnat xnat() {
        Limits limits = new Limits(
                Duration.ofSeconds(20),
                Duration.ofSeconds(60),
                Duration.ofSeconds(60),
                tries,
                Duration.ofMillis(1),
                Duration.ofMillis(1));
        try {
            Server server = Server.at(emulator.address(), folder.resolve("login"));
            return new Xnat(server, limits, wait -> {}, InstantSource.system());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private List<Item> items() throws IOException {
        List<Item> items = new ArrayList<>();
        for (Path file : files()) {
            FilePath path = FilePath.between(root, file);
            Facts facts = Facts.told(EntryKind.FILE, Files.size(file), 0, Facts.UNKNOWN_NANOS, 0644, 1, 0, null, null);
            Digest digest = Digest.of(Digest.algorithm().digest(Files.readAllBytes(file)));
            items.add(new Item(new Entry(items.size() + 1, path, facts), new StoredCopy(path, digest)));
        }
        items.sort(Comparator.comparing(item -> item.entry().path(), ORDER));
        return items;
    }
}
