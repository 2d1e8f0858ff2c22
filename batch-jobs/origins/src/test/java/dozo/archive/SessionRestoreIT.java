package dozo.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Progress;
import dozo.copy.Inventory;
import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.copy.ManifestPart;
import dozo.copy.ProvenRead;
import dozo.db.TestDatabase;
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
import dozo.source.delivery.Limits;
import dozo.source.flywheel.CollectedTree;
import dozo.source.flywheel.Flywheels;
import dozo.source.flywheel.WritableFlywheel;
import dozo.source.flywheel.WritableFlywheel.Fate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import tools.jackson.databind.json.JsonMapper;

/** Whatever a Flywheel answers, only what it has with the manifest's bytes counts, and nothing is there twice. */
class SessionRestoreIT {

    private static final JsonMapper JSON = new JsonMapper();

    private static final Comparator<FilePath> ORDER =
            Comparator.comparing(FilePath::parent).thenComparing(Comparator.naturalOrder());

    @TempDir
    Path folder;

    private final List<Finding> findings = new ArrayList<>();
    private final HikariDataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private Path root;
    private LoopbackSite site;
    private WritableFlywheel flywheel;
    private List<String> before;
    private Counts counts;
    private int tries = 1;

    @BeforeEach
    void open() throws Exception {
        root = Files.createDirectory(folder.resolve("dr"));
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
        jdbc.sql("""
                        insert into origin (name, kind, address, spool, automatic, active, updated_at)
                        values ('fw', 'flywheel', 'http://localhost:1', '/spool', false, false, now())
                        """).update();
        flywheel = Flywheels.filled(1);
        before = CollectedTree.shown(flywheel.content);
        CollectedTree.ofSession(flywheel.content, root);
        wipe();
    }

    private void wipe() {
        flywheel.close();
        flywheel = new WritableFlywheel(2);
    }

    @AfterEach
    void close() {
        flywheel.close();
        site.close();
    }

    @Test
    void aSessionComesBackAndAskedTwiceNothingIsWritten() throws Exception {
        assertThat(restore().complete()).isTrue();

        assertThat(findings).isEmpty();
        assertThat(counts).isEqualTo(new Counts(1, 2, 4, 0, 0, 0));
        assertThat(CollectedTree.shown(flywheel.content)).isEqualTo(before);
        flywheel.writes.clear();
        assertThat(restore().complete()).isTrue();
        assertThat(counts).isEqualTo(new Counts(1, 2, 0, 4, 0, 0));
        assertThat(flywheel.writes).isEmpty();
        jdbc.sql("delete from flywheel_restored").update();
        assertThat(restore().complete()).as("found by labels, uids and times").isTrue();
        assertThat(flywheel.writes).isEmpty();
    }

    /** The emulator answers nothing after a write; the write before may be done or not. */
    @Test
    void whereverItIsCutTheNextRestoreEndsWithTheSame() throws Exception {
        assertThat(restore().complete()).isTrue();
        int all = flywheel.writes.size();
        assertThat(all).isGreaterThan(12);
        for (int cut = 1; cut <= all; cut++) {
            jdbc.sql("delete from flywheel_restored").update();
            wipe();
            int last = cut;
            Fate how = cut % 2 == 0 ? Fate.LOST : Fate.UNANSWERED;
            flywheel.fate = request -> {
                int count = flywheel.writes.size();
                return count < last ? Fate.DONE : count == last ? how : Fate.LOST;
            };
            try {
                restore();
            } catch (IOException silent) {
                assertThat(silent).hasMessageContaining("connection closed");
            }
            flywheel.fate = request -> Fate.DONE;
            findings.clear();

            assertThat(restore().complete()).as("cut at %d: %s", cut, findings).isTrue();

            assertThat(findings).as("cut at " + cut).isEmpty();
            assertThat(CollectedTree.shown(flywheel.content))
                    .as("cut at " + cut)
                    .isEqualTo(before);
        }
    }

    @Test
    void temporaryRefusalsAndLostAnswersAreWaitedFor() throws Exception {
        tries = 4;
        List<Fate> fates = List.of(Fate.BUSY, Fate.BROKEN, Fate.UNANSWERED, Fate.LOST, Fate.DONE);
        flywheel.fate = request -> fates.get(flywheel.writes.size() % fates.size());

        assertThat(restore().complete()).as(findings.toString()).isTrue();

        assertThat(findings).isEmpty();
        assertThat(CollectedTree.shown(flywheel.content)).isEqualTo(before);
    }

    @Test
    void aKeyThatMayNotWriteEndsTheRestoreWithASentence() {
        flywheel.fate = request -> request.startsWith("POST /projects") ? Fate.DENIED : Fate.DONE;

        assertThatThrownBy(this::restore)
                .hasMessage("Flywheel does not let this API key write (/projects: 403 user does not have permission);"
                        + " give its user a role that may create and change this");
        assertThat(flywheel.writes).hasSize(2);
    }

    @Test
    void aServerThatAnswersNothingEndsTheRestore() {
        flywheel.fate = request -> Fate.BROKEN;

        assertThatThrownBy(this::restore).hasMessage("/groups: 503 as planned");
        flywheel.close();
        assertThatThrownBy(this::restore).hasMessageContaining("no connection");
    }

    @Test
    void aHashOfOtherBytesIsNoProof() throws Exception {
        flywheel.content.hashing = hash -> hash.substring(0, hash.length() - 1) + (hash.endsWith("0") ? "1" : "0");

        assertThat(restore().complete()).isFalse();

        assertThat(counts).isEqualTo(new Counts(1, 2, 0, 0, 3, 1));
        assertThat(findings)
                .filteredOn(each -> each.problem() == Problem.ARCHIVE_DIFFERS)
                .hasSize(3)
                .allSatisfy(each -> assertThat(each.message())
                        .endsWith("Flywheel has other bytes under this name, after it was sent"));
    }

    @Test
    void withoutAHashTheBytesAreReadBack() throws Exception {
        flywheel.content.hashing = hash -> "";

        assertThat(restore().complete()).as(findings.toString()).isTrue();
        flywheel.writes.clear();
        assertThat(restore().complete()).isTrue();
        assertThat(flywheel.writes).isEmpty();
    }

    @Test
    void signedUploadsGoWithoutTheKeyAndOnlyToAllowedHosts() throws Exception {
        flywheel.signs = true;
        flywheel.parts = 3;
        flywheel.storageHost = "localhost";
        assertThatThrownBy(this::restore).hasMessageContaining("host localhost, which is not an allowed storage host");
        assertThat(flywheel.storageHeaders).isEmpty();
        flywheel.storageHost = "127.0.0.1";
        tries = 2;
        List<Integer> lost = new ArrayList<>();
        flywheel.fate = request -> {
            boolean cut = request.startsWith("PUT /bucket") && lost.size() < 1;
            if (cut) {
                lost.add(1);
            }
            return cut ? Fate.LOST : Fate.DONE;
        };

        assertThat(restore().complete()).as(findings.toString()).isTrue();

        assertThat(lost).hasSize(1);
        assertThat(flywheel.storageHeaders).hasSizeGreaterThan(6).allMatch(each -> each.equals("none none"));
    }

    @Test
    void ofForeignSessionsWithTheSameLabelNoneIsTouched() throws Exception {
        assertThat(restore().complete()).isTrue();
        String other = Flywheels.session(flywheel, "ses-1", "9.9.9", null);
        jdbc.sql("delete from flywheel_restored where kind = 'session'").update();

        assertThat(restore().complete()).as("one has another uid").isTrue();
        assertThat(flywheel.content.everything())
                .filteredOn(each -> each.path("label").asString().equals("ses-1"))
                .hasSize(2);
        assertThat(JSON.writeValueAsString(Flywheels.container(flywheel, other)))
                .contains("\"files\":[]");
    }

    @Test
    void ifTwoMayBeTheSessionNeitherIsUsedAndNoneIsCreated() throws Exception {
        wipe();
        Flywheels.above(flywheel);
        var _ = Flywheels.session(flywheel, "ses-1", null, null);
        var _ = Flywheels.session(flywheel, "ses-1", null, null);

        assertThat(restore().complete()).isFalse();

        assertThat(counts).isEqualTo(new Counts(0, 0, 0, 0, 0, 4));
        assertThat(findings.getFirst().message())
                .startsWith("flywheel.json: session ses-1: Flywheel has 2 with this label, and none is known to be it");
        assertThat(flywheel.content.everything())
                .filteredOn(each -> each.path("container_type").asString().equals("session"))
                .hasSize(2);
    }

    @Test
    void whatDiffersStaysUnlessSomebodyWantsItReplaced() throws Exception {
        assertThat(restore().complete()).isTrue();
        Flywheels.change(flywheel);

        assertThat(restore().complete()).isFalse();

        assertThat(counts).isEqualTo(new Counts(1, 2, 0, 3, 1, 0));
        assertThat(findings)
                .extracting(Finding::message)
                .containsExactlyInAnyOrder(
                        "flywheel.json: session ses-1: Flywheel has other values for info, weight; they stay",
                        "files/protocol.pdf: Flywheel has other bytes under this name");
        findings.clear();
        assertThat(restore(true).complete()).as(findings.toString()).isTrue();
        assertThat(CollectedTree.shown(flywheel.content)).isEqualTo(before);
    }

    @Test
    void whatIsNotAtTheSiteOrNotDescribedIsAFinding() throws Exception {
        Files.writeString(root.resolve("files/stranger"), "x");
        List<Path> copies = files().stream()
                .filter(each -> each.toString().contains("acquisitions"))
                .toList();
        Digest whole = digest(copies.getFirst());
        Items items = new Items(items());
        items.damage(copies.getFirst(), root);
        Files.delete(copies.getLast());

        assertThat(restore(items.all(), Selection.ALL, false).complete()).isFalse();

        assertThat(whole).isNotEqualTo(digest(copies.getFirst()));
        assertThat(findings)
                .extracting(Finding::problem)
                .contains(Problem.NOT_SENT, Problem.MISMATCHED, Problem.VANISHED);
        assertThat(counts.sent()).isEqualTo(1);
        assertThat(counts.notSent()).isEqualTo(4);
    }

    @Test
    void aSelectionBringsItsFiles() throws Exception {
        assertThat(restore(items(), Selection.of(FilePath.of("files/protocol.pdf")), false)
                        .complete())
                .isTrue();

        assertThat(counts).isEqualTo(new Counts(1, 2, 1, 0, 0, 0));
    }

    @Test
    void withoutMetadataItIsRefused() throws Exception {
        byte[] metadata = Files.readAllBytes(root.resolve("flywheel.json"));
        for (String wrong :
                List.of("{", "{\"format\":\"x\"}", "{\"format\":\"dozo-flywheel-1\",\"containers\":[{}]}")) {
            Files.writeString(root.resolve("flywheel.json"), wrong);
            assertThatThrownBy(this::restore).hasMessageStartingWith("flywheel.json");
        }
        Files.write(root.resolve("flywheel.json"), metadata);
        List<Item> items = items();
        Files.writeString(root.resolve("flywheel.json"), "{}");
        assertThatThrownBy(() -> restore(items, Selection.ALL, false))
                .hasMessage("the copy of flywheel.json is not what was verified; check the site's disks");
        items.removeIf(each -> each.entry().path().equals(FlywheelJson.PLACE));
        assertThatThrownBy(() -> restore(items, Selection.ALL, false))
                .hasMessageStartingWith("the manifest has no flywheel.json");
        assertThat(flywheel.writes).isEmpty();
    }

    // --- the restore ---

    private Progress restore() throws IOException, InterruptedException {
        return restore(false);
    }

    private Progress restore(boolean replaces) throws IOException, InterruptedException {
        return restore(items(), Selection.ALL, replaces);
    }

    private Progress restore(List<Item> items, Selection selection, boolean replaces)
            throws IOException, InterruptedException {
        Inventory inventory = (after, limit) -> items.stream()
                .filter(item -> after.isRoot() || ORDER.compare(item.entry().path(), after) > 0)
                .limit(limit)
                .toList();
        Limits limits = new Limits(
                Duration.ofSeconds(20),
                Duration.ofSeconds(60),
                Duration.ofSeconds(60),
                tries,
                Duration.ofMillis(1),
                Duration.ofMillis(1));
        int origin = jdbc.sql("select origin_id from origin")
                .query((row, n) -> row.getInt(1))
                .single();
        try (SessionRestore restore = new SessionRestore(
                new ManifestPart(inventory, "p/E1", 1, selection),
                new ProvenRead(site.address()),
                () -> Flywheels.open(flywheel, limits, Set.of("127.0.0.1")),
                new RestoredIds(jdbc).of(origin),
                replaces,
                new Throttle(0))) {
            try {
                return restore.run(findings::add);
            } finally {
                counts = restore.counts();
            }
        }
    }

    /** Items that a test changes. */
    private record Items(List<Item> all) {

        /** Changes a copy at the site without changing its size. */
        void damage(Path copy, Path root) throws IOException {
            byte[] bytes = Files.readAllBytes(copy);
            bytes[0] ^= 1;
            Files.write(copy, bytes);
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private static Digest digest(Path file) throws IOException {
        return Digest.of(Digest.algorithm().digest(Files.readAllBytes(file)));
    }

    private List<Item> items() throws IOException {
        List<Item> items = new ArrayList<>();
        for (Path file : files()) {
            FilePath path = FilePath.between(root, file);
            Facts facts = Facts.told(EntryKind.FILE, Files.size(file), 0, Facts.UNKNOWN_NANOS, 0644, 1, 0, null, null);
            items.add(new Item(new Entry(items.size() + 1, path, facts), new StoredCopy(path, digest(file))));
        }
        items.sort(Comparator.comparing(item -> item.entry().path(), ORDER));
        return items;
    }
}
