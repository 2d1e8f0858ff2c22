package dozo.archive;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

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
import dozo.source.delivery.Limits;
import dozo.source.delivery.Server;
import dozo.source.dicomweb.Archive;
import dozo.source.dicomweb.Archive.Identity;
import dozo.source.dicomweb.Archive.Proof;
import dozo.source.dicomweb.Archive.Sent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever an archive answers, only what it has with the manifest's bytes counts as restored. */
class InstanceRestoreIT {

    private static final Limits LIMITS = new Limits(
            Duration.ofSeconds(20),
            Duration.ofSeconds(2),
            Duration.ofSeconds(2),
            2,
            Duration.ofMillis(1),
            Duration.ofMillis(1));

    @TempDir
    Path folder;

    private final List<Item> items = new ArrayList<>();
    private final List<Finding> findings = new ArrayList<>();
    private Path root;
    private LoopbackSite site;
    private StrictArchive archive;
    private Counts counts;

    @BeforeEach
    void open() throws IOException {
        root = Files.createDirectory(folder.resolve("dr"));
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
        archive = new StrictArchive();
    }

    @AfterEach
    void close() {
        archive.close();
        site.close();
    }

    @Test
    void whatIsStoredIsReadBackAndNothingIsSentTwice() throws Exception {
        instances(5);

        assertThat(restore(false).complete()).isTrue();

        assertThat(counts).isEqualTo(new Counts(1, 1, 5, 0, 0, 0));
        assertThat(archive.requests).containsExactly(5);
        assertThat(archive.stored.get("1.2.3.4")).isEqualTo(Files.readAllBytes(root.resolve("4")));
        assertThat(restore(false).complete()).isTrue();
        assertThat(counts).isEqualTo(new Counts(1, 1, 0, 5, 0, 0));
        assertThat(archive.requests).hasSize(1);
        assertThat(findings).isEmpty();
    }

    @Test
    void moreThanAHundredGoInSeveralRequests() throws Exception {
        instances(101);

        assertThat(restore(false).complete()).isTrue();

        assertThat(archive.requests).containsExactly(100, 1);
    }

    @Test
    void whatTheArchiveRefusesIsAFindingWithItsReasonAndTheRestIsStored() throws Exception {
        instances(4);
        archive.refused.put("1.2.3.2", 0xA700);

        assertThat(restore(false).complete()).isFalse();

        assertThat(counts).isEqualTo(new Counts(1, 1, 3, 0, 0, 1));
        assertOnly(Problem.NOT_SENT, "2: the archive refused it: failure reason A700h");
        archive.refused.put("1.2.3.1", 0x0110);
        archive.stored.clear();
        archive.refused.put("1.2.3.3", 0x0110);
        archive.refused.put("1.2.3.4", 0x0110);
        restore(false);
        assertThat(counts).as("409").isEqualTo(new Counts(0, 0, 0, 0, 0, 4));
    }

    @Test
    void tooManyBytesAreHalvedAndOneThatIsTooLargeAloneIsAFinding() throws Exception {
        instances(7);
        archive.before = (exchange, uids) ->
                (uids.size() > 2 || uids.contains("1.2.3.3")) && StrictArchive.answer(exchange, 413, "");

        assertThat(restore(false).complete()).isFalse();

        assertThat(counts).isEqualTo(new Counts(1, 1, 6, 0, 0, 1));
        assertOnly(Problem.NOT_SENT, "3: the archive does not accept so many bytes: HTTP status 413");
    }

    @Test
    void anAnswerThatComesTooLateIsNoReasonToSendAgainWhatWasStored() throws Exception {
        instances(4);
        archive.after = (exchange, uids) -> {
            if (archive.requests.size() > 1) {
                return false;
            }
            archive.stored.remove("1.2.3.4");
            archive.closed.await();
            return true;
        };

        assertThat(restore(false).complete()).isTrue();

        assertThat(archive.requests).containsExactly(4, 1);
        assertThat(counts).isEqualTo(new Counts(1, 1, 4, 0, 0, 0));
    }

    @Test
    void anAnswerThatIsCutIsNoVerdict() throws Exception {
        instances(3);
        archive.after = (exchange, uids) -> {
            if (uids.size() > 1) {
                archive.stored.remove("1.2.3.2");
                exchange.sendResponseHeaders(200, 1_000);
                exchange.getResponseBody().write("{\"00081199\":".getBytes(StandardCharsets.UTF_8));
                exchange.getResponseBody().flush();
                return true;
            }
            return false;
        };

        assertThat(restore(false).complete()).isTrue();

        assertThat(archive.requests).containsExactly(3, 1);
    }

    @Test
    void whatIsInNeitherListIsSentAloneAndThenAFinding() throws Exception {
        instances(5);
        archive.before = (exchange, uids) ->
                uids.contains("1.2.3.5") && StrictArchive.answer(exchange, uids.size() > 2 ? 400 : 200, "<html>");

        assertThat(restore(false).complete()).isFalse();

        assertThat(counts).isEqualTo(new Counts(1, 1, 4, 0, 0, 1));
        assertOnly(Problem.NOT_SENT, "5: the archive did not list it as stored: HTTP status 200");
    }

    @Test
    void whatIsCalledStoredAndIsNotThereIsAFinding() throws Exception {
        instances(2);
        archive.before = (exchange, uids) -> StrictArchive.answer(exchange, 200, archive.list(uids, List.of()));

        assertThat(restore(false).complete()).isFalse();

        assertThat(counts).isEqualTo(new Counts(0, 0, 0, 0, 0, 2));
        assertThat(findings)
                .extracting(Finding::message)
                .allMatch(message -> message.endsWith("the archive called it stored, but does not have it"));
    }

    @Test
    void anArchiveThatRewritesIsAFindingThatNamesTheAttributes() throws Exception {
        instances(1);
        archive.rewriting = bytes -> with(bytes, "OTHER");

        assertThat(restore(false).complete()).isFalse();

        assertThat(counts).isEqualTo(new Counts(0, 0, 0, 0, 1, 0));
        assertOnly(
                Problem.ARCHIVE_DIFFERS,
                "1: the archive has other bytes under the same SOPInstanceUID, after it was sent: 1 attributes differ: (0008,1030)");
        findings.clear();
        archive.rewriting = bytes -> bytes;
        assertThat(restore(true).complete()).as("with leave to replace").isTrue();
        assertThat(counts).isEqualTo(new Counts(1, 1, 1, 0, 0, 0));
    }

    @Test
    void ofTwoFilesWithOneUidTheFirstIsReplacedAndNotAgainByTheSecond() throws Exception {
        instances(1);
        add("twin", with(Files.readAllBytes(root.resolve("1")), "TWIN"));
        archive.stored.put("1.2.3.1", with(Files.readAllBytes(root.resolve("1")), "OTHER"));

        restore(true);

        assertThat(counts).isEqualTo(new Counts(1, 1, 1, 0, 1, 0));
        assertThat(archive.stored.get("1.2.3.1")).isEqualTo(Files.readAllBytes(root.resolve("1")));
        assertThat(findings.getFirst().message()).contains("another file of this restore has the same SOPInstanceUID");
    }

    @Test
    void anInstanceOfAnotherPatientIsNeverReplaced() throws Exception {
        instances(1);
        byte[] others = dicom(1, "S2", 1_000);
        archive.stored.put("1.2.3.1", others);

        assertThat(restore(true).complete()).isFalse();

        assertThat(archive.stored.get("1.2.3.1")).isEqualTo(others);
        assertOnly(
                Problem.ARCHIVE_DIFFERS,
                "1: the archive has other bytes under the same SOPInstanceUID, it is not known to be of the same patient: 1 attributes differ: (0010,0020)");
        findings.clear();
        archive.stored.put("1.2.3.1", new byte[200]);
        assertThat(restore(true).complete()).as("nobody knows whose").isFalse();
        assertThat(archive.requests).isEmpty();
    }

    @Test
    void ofSeveralContentsOnlyTheLatestIsSentWhateverIsReplaced() throws Exception {
        for (boolean replaces : List.of(false, true)) {
            items.clear();
            findings.clear();
            archive.stored.clear();
            byte[] newest = with(dicom(1, "S1", 1_000), "NEWEST");
            add("1.dcm", dicom(1, "S1", 1_000));
            add("2.dcm", dicom(2, "S1", 1_000));
            add("1~ffffffffffffffff.dcm", with(dicom(1, "S1", 1_000), "LATER"));
            add("1~0123456789abcdef.dcm", newest);

            assertThat(restore(replaces).complete()).isFalse();

            assertThat(counts).isEqualTo(new Counts(1, 1, 2, 0, 2, 0));
            assertThat(archive.stored.get("1.2.3.1")).isEqualTo(newest);
            assertThat(findings)
                    .extracting(Finding::message)
                    .hasSize(2)
                    .allMatch(message -> message.contains("a later file of this restore has the same SOPInstanceUID"));
        }
    }

    @Test
    void anEarlierContentIsSentOnlyIfTheLatestCannotBeRead() throws Exception {
        add("1.dcm", dicom(1, "S1", 1_000));
        add("1~0123456789abcdef.dcm", with(dicom(1, "S1", 1_000), "NEWEST"));
        archive.refused.put("1.2.3.1", 0xA700);
        restore(false);
        assertThat(counts).as("refused").isEqualTo(new Counts(0, 0, 0, 0, 0, 2));
        assertThat(archive.requests).containsExactly(1);

        archive.refused.clear();
        Files.write(root.resolve("1~0123456789abcdef.dcm"), new byte[10]);
        restore(false);
        assertThat(counts).as("damaged").isEqualTo(new Counts(1, 1, 1, 0, 0, 1));
        assertThat(archive.stored.get("1.2.3.1")).isEqualTo(dicom(1, "S1", 1_000));
    }

    @Test
    void aNameThatOnlyLooksLikeALaterContentIsOneOfItsOwn() throws Exception {
        add("1.dcm", dicom(1, "S1", 1_000));
        add("1~0123456789abcdef.dcm", dicom(2, "S1", 1_000));

        assertThat(restore(false).complete()).isTrue();

        assertThat(counts).isEqualTo(new Counts(1, 1, 2, 0, 0, 0));
    }

    @Test
    void otherTextInPlaceOfAUidIsPartOfNoRequest() throws Exception {
        String odd = new String(dicom(1, "S1", 1_000), StandardCharsets.ISO_8859_1).replace("1.2.3.0", "../../0");
        add("1", odd.getBytes(StandardCharsets.ISO_8859_1));

        assertThat(restore(false).complete()).isFalse();

        assertOnly(Problem.NOT_SENT, "1: it has no valid StudyInstanceUID, SeriesInstanceUID or SOPInstanceUID");
        assertThat(archive.requests).isEmpty();
    }

    @Test
    void anArchiveThatCannotBeAskedEndsTheRestoreAndNothingCounts() throws Exception {
        instances(2);
        archive.retrievalStatus = 500;

        assertThatThrownBy(() -> restore(false)).hasMessage("an instance: HTTP status 500");

        assertThat(archive.requests).isEmpty();
        archive.retrievalStatus = 200;
        archive.before = (exchange, uids) -> StrictArchive.answer(exchange, 403, "");
        assertThatThrownBy(() -> restore(false)).hasMessage("the storing of instances: HTTP status 403");
        assertThat(counts).isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
    }

    @Test
    void anArchiveThatFailsForEachOneIsGivenUp() throws Exception {
        instances(20);
        archive.before = (exchange, uids) -> StrictArchive.answer(exchange, 500, "");

        assertThatThrownBy(() -> restore(false)).hasMessage("the storing of instances: HTTP status 500");

        assertThat(counts.notSent()).isEqualTo(7);
    }

    @Test
    void aServerThatTakesNoBytesIsGivenUp() throws Exception {
        add("large", dicom(1, "X", 64 << 20));
        byte[] bytes = Files.readAllBytes(root.resolve("large"));
        Fetched large = new Fetched(
                items.getFirst().entry(), 0, new Proof(new Identity("1.2.3", "1.2.3.0", "1.2.3.1"), "", null));
        try (ServerSocket silent = new ServerSocket(0, 2, InetAddress.ofLiteral("127.0.0.1"));
                Archive deaf = deaf(silent);
                Batch batch = new Batch()) {
            batch.write(bytes, 0, bytes.length, 0);

            assertThat(deaf.send(batch.parts(List.of(large)), 2)).isInstanceOf(Sent.TooMuch.class);
        }
    }

    /** Returns an archive whose answer to the first question is "no Orthanc", and that then reads nothing. */
    private static Archive deaf(ServerSocket silent) throws Exception {
        Thread.ofVirtual().start(() -> {
            try (Socket first = silent.accept()) {
                first.getOutputStream()
                        .write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                                .getBytes(StandardCharsets.US_ASCII));
                first.getOutputStream().flush();
                first.shutdownOutput();
                first.getInputStream().readAllBytes();
            } catch (IOException gone) {
                // The client closed the connection first.
            }
        });
        return Archive.open(
                Server.at("http://127.0.0.1:" + silent.getLocalPort()), LIMITS, wait -> {}, InstantSource.system());
    }

    private void assertOnly(Problem problem, String message) {
        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.problem()).isEqualTo(problem);
            assertThat(finding.message()).isEqualTo(message);
        });
    }

    @Test
    void aReadWaitsForTheLimitAndAStopEndsTheWait() throws Exception {
        instances(1);
        Item item = items.getFirst();
        try (ProvenRead from = new ProvenRead(site.address());
                Batch batch = new Batch()) {
            FutureTask<Fetched> reading = new FutureTask<>(
                    () -> InstanceRead.of(from, item.entry(), requireNonNull(item.copy()), batch, 0, new Throttle(1)));
            Thread thread = Thread.ofVirtual().start(reading);
            await().until(() -> Arrays.stream(thread.getStackTrace())
                    .anyMatch(frame -> frame.getClassName().equals(Throttle.class.getName())));
            thread.interrupt();
            assertThatThrownBy(reading::get).hasStackTraceContaining("the restore is stopped");
        }
    }

    private Progress restore(boolean replaces) throws IOException, InterruptedException {
        Inventory inventory = (after, limit) -> {
            int from = after.isRoot() ? 0 : 1 + index(after);
            return items.subList(from, Math.min(items.size(), from + limit));
        };
        try (InstanceRestore restore = new InstanceRestore(
                new ManifestPart(inventory, "p/E1", 1, Selection.ALL),
                new ProvenRead(site.address()),
                () -> Archive.open(Server.at(archive.address()), LIMITS, wait -> {}, InstantSource.system()),
                replaces,
                new Throttle(0))) {
            try {
                return restore.run(findings::add);
            } finally {
                counts = restore.counts();
            }
        }
    }

    private int index(FilePath path) {
        return items.stream().map(item -> item.entry().path()).toList().indexOf(path);
    }

    private void instances(int count) throws IOException {
        for (int i = 1; i <= count; i++) {
            add("" + i, dicom(i, "S1", 1_000));
        }
    }

    private void add(String name, byte[] bytes) throws IOException {
        Files.write(root.resolve(name), bytes);
        FilePath path = FilePath.of(name);
        Facts facts = Facts.told(EntryKind.FILE, bytes.length, 0, Facts.UNKNOWN_NANOS, 0644, 1, 0, null, null);
        items.add(new Item(
                new Entry(items.size() + 1, path, facts),
                new StoredCopy(path, Digest.of(Digest.algorithm().digest(bytes)))));
    }

    /** Returns an instance, with boundaries of multipart bodies in its pixels. */
    private static byte[] dicom(int number, String patient, int pixels) {
        return dicom(number, patient, "usual", pixels);
    }

    private static byte[] dicom(int number, String patient, String description, int pixels) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(new byte[128]);
        out.writeBytes("DICM".getBytes(StandardCharsets.US_ASCII));
        element(out, 0x0002, 0x0010, "UI", "1.2.840.10008.1.2.1");
        element(out, 0x0008, 0x0018, "UI", "1.2.3." + number);
        element(out, 0x0008, 0x1030, "LO", description);
        element(out, 0x0010, 0x0020, "LO", patient);
        element(out, 0x0020, 0x000D, "UI", "1.2.3");
        element(out, 0x0020, 0x000E, "UI", "1.2.3.0");
        byte[] bytes = new byte[pixels];
        new Random(number).nextBytes(bytes);
        byte[] odd = "\r\n--of\r\n--of--\r\n".getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(odd, 0, bytes, pixels - odd.length, odd.length);
        out.writeBytes(ByteBuffer.allocate(12)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort((short) 0x7FE0)
                .putShort((short) 0x0010)
                .put("OW".getBytes(StandardCharsets.US_ASCII))
                .putShort((short) 0)
                .putInt(pixels)
                .array());
        out.writeBytes(bytes);
        return out.toByteArray();
    }

    private static void element(ByteArrayOutputStream out, int group, int number, String vr, String text) {
        byte[] value = (text.length() % 2 == 0 ? text : text + (vr.equals("UI") ? "\0" : " "))
                .getBytes(StandardCharsets.US_ASCII);
        out.writeBytes(ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort((short) group)
                .putShort((short) number)
                .put(vr.getBytes(StandardCharsets.US_ASCII))
                .putShort((short) value.length)
                .array());
        out.writeBytes(value);
    }

    /** Returns the same instance with another description. */
    private static byte[] with(byte[] bytes, String description) {
        int number = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("1.2.3.") + 6;
        String uid = new String(bytes, number, 3, StandardCharsets.US_ASCII).replaceAll("[^0-9].*", "");
        return dicom(Integer.parseInt(uid), "S1", description, 1_000);
    }
}
