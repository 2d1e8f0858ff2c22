package dozo.source.dicomweb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dozo.copy.Trees;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.source.delivery.Checked;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Recheck;
import dozo.source.delivery.Server;
import dozo.source.delivery.Trouble;
import dozo.source.dicom.Header;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.PseudonymousCode;
import dozo.source.dicom.SharedData;
import dozo.source.dicom.Tag;
import dozo.source.dicomweb.FaultyProxy.Fault;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What has rotted on a real Orthanc's disk is found, although its list and its stored MD5 are unchanged; what was replaced or deleted
 * there is not accused.
 */
class OrthancRecheckIT {

    private static final Limits LIMITS = new Limits(
            Duration.ofSeconds(5),
            Duration.ofSeconds(30),
            Duration.ofSeconds(30),
            3,
            Duration.ofMillis(1),
            Duration.ofMillis(1));
    private static final Pattern MD5 = Pattern.compile("/instances/[^/]+/attachments/dicom/md5");
    private static final Pattern VERIFY = Pattern.compile("/instances/[^/]+/attachments/dicom/verify-md5");
    private static final Pattern BYTES = Pattern.compile("/instances/[^/]+/attachments/dicom/compressed-data");
    private static final Recheck.Asked ALL =
            new Recheck.Asked(FilePath.ROOT, List.of(), 1_000, Long.MAX_VALUE, paths -> Map.of());

    @TempDir
    Path folder;

    private OrthancServer server;
    private FaultyProxy proxy;
    private Orthanc orthanc;
    private Spool spool;

    @BeforeEach
    void open() throws Exception {
        server = new OrthancServer(Files.createDirectory(folder.resolve("orthanc")), 1, true);
        proxy = new FaultyProxy(server.address());
        orthanc = new Orthanc(Server.at(proxy.address()), LIMITS, wait -> {}, InstantSource.system());
        spool = new Spool(orthanc, new PseudonymousCode(new byte[32]), folder.resolve("spool"), 3);
    }

    @AfterEach
    void close() throws Exception {
        assertThat(proxy.isUsedUp()).as("every planned fault came true").isTrue();
        orthanc.close();
        proxy.close();
        server.close();
    }

    @Test
    void whatHasRottedOnTheDiskIsFoundAndNoBytesAreMovedForTheRest() throws Exception {
        String study = deliver("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2");
        List<Path> files = delivered(study);
        assertThat(spool.check(study, ALL)).satisfies(result -> {
            assertThat(result.files()).hasSize(14).allMatch(Checked.Equal.class::isInstance);
            assertThat(result.bytesMoved()).isZero();
            assertThat(result.next()).isNull();
        });
        assertThat(proxy.asked(BYTES)).isZero();
        List<Path> stored = files.subList(0, 4).stream().map(this::stored).toList();
        // Otherwise its memory answers.
        server.stop();
        Trees.flip(stored.get(0), 9_000);
        try (FileChannel shorter = FileChannel.open(stored.get(1), StandardOpenOption.WRITE)) {
            shorter.truncate(6_000);
        }
        Files.delete(stored.get(2));
        server.start();
        Trees.flip(stored.get(3), 9_000);

        Map<FilePath, Checked> checked = byPath(spool.check(study, ALL));

        assertThat(checked.get(path(study, files.get(0))))
                .isEqualTo(new Checked.Other(path(study, files.get(0)), digest(stored.get(0)), null, false));
        assertThat(checked.get(path(study, files.get(1))))
                .isEqualTo(new Checked.Other(path(study, files.get(1)), digest(stored.get(1)), null, false));
        assertThat(checked.get(path(study, files.get(2)))).isInstanceOf(Checked.Unknown.class);
        assertThat(checked.get(path(study, files.get(3)))).isInstanceOf(Checked.Other.class);
        assertThat(checked.values().stream().filter(Checked.Equal.class::isInstance))
                .hasSize(10);
        try (Archive archive = Archive.open(Server.at(server.address()), LIMITS, wait -> {}, InstantSource.system())) {
            assertThat(archive.find(proof(files.get(0))))
                    .as("a restore sends it")
                    .isEqualTo(Archive.There.OTHER);
            assertThat(archive.find(proof(files.get(5)))).isEqualTo(Archive.There.EQUAL);
        }
    }

    @Test
    void anotherDigestThanThatOfWhatWasSentIsFoundAlthoughTheOriginIsAsDelivered() throws Exception {
        String study = deliver("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2");
        FilePath path = path(study, delivered(study).getFirst());
        Digest sent = Digest.ofText("other");

        Map<FilePath, Checked> checked = byPath(spool.check(
                study, new Recheck.Asked(FilePath.ROOT, List.of(path), 10, 1, paths -> Map.of(path, sent))));

        assertThat(checked.get(path))
                .isEqualTo(new Checked.Other(path, digest(delivered(study).getFirst()), sent, true));
        assertThat(checked).hasSize(1);
    }

    @Test
    void whatWasReplacedOrDeletedIsNotAccused() throws Exception {
        Path conflicts = SharedData.folder().resolve("made_conflicts_and_broken");
        Path second = conflicts.resolve("same_sop_uid_v2_other_pixels.dcm");
        String study = deliver("made_conflicts_and_broken/same_sop_uid_v1.dcm");
        proxy.plan(MD5, 0, () -> server.store(second));

        assertThat(spool.check(study, ALL).files())
                .as("replaced between the list and the reading")
                .singleElement()
                .isInstanceOf(Checked.Edited.class);
        assertThat(spool.check(study, ALL).files()).singleElement().isInstanceOf(Checked.Edited.class);

        String other = deliver("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2");
        String one = orthanc.lookUp(other).getFirst();
        delete("/instances/"
                + orthanc.series(orthanc.study(one).series().getFirst())
                        .instances()
                        .iterator()
                        .next());
        assertThat(spool.check(other, ALL).files().stream().filter(Checked.Edited.class::isInstance))
                .hasSize(1);
        delete("/studies/" + one);
        assertThat(catchThrowableOfType(DeliveryException.class, () -> spool.check(other, ALL))
                        .trouble())
                .isEqualTo(Trouble.GONE);
    }

    @Test
    void anOrthancThatDoesNotVerifyItselfSendsTheBytes() throws Exception {
        String study = deliver("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2");
        proxy.plan(VERIFY, 0, 1, Fault.GONE);

        Recheck.Result result = spool.check(study, ALL);

        assertThat(result.files()).hasSize(14).allMatch(Checked.Equal.class::isInstance);
        assertThat(proxy.asked(BYTES)).isEqualTo(1);

        Path record = folder.resolve("spool").resolve(Spool.folder(study)).resolve("delivered");
        Files.writeString(record, Files.readString(record).replaceAll("(FIRST) [0-9a-f]{32}", "$1"));
        Recheck.Result old = spool.check(study, ALL);
        assertThat(old.files()).hasSize(14).allMatch(Checked.Equal.class::isInstance);
        assertThat(old.bytesMoved())
                .isEqualTo(delivered(study).stream()
                        .mapToLong(file -> file.toFile().length())
                        .sum());
    }

    @Test
    void whatCannotBeReadIsUnknown() throws Exception {
        String study = deliver("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2");
        proxy.plan(MD5, 0, 3, Fault.BUSY);
        proxy.plan(MD5, 2, 1, Fault.GONE);
        proxy.plan(VERIFY, 4, 1, Fault.GONE);
        proxy.plan(BYTES, 0, 3, Fault.DROPPED);

        Recheck.Result result = spool.check(study, ALL);

        assertThat(result.files().stream().filter(Checked.Unknown.class::isInstance))
                .hasSize(3);
        assertThat(result.files().stream().filter(Checked.Equal.class::isInstance))
                .hasSize(11);

        proxy.plan(MD5, 3, 1, Fault.REFUSED);
        assertThat(catchThrowableOfType(DeliveryException.class, () -> spool.check(study, ALL))
                        .trouble())
                .isEqualTo(Trouble.REFUSED);
        proxy.plan(MD5, 0, 24, Fault.BROKEN);
        assertThat(catchThrowableOfType(DeliveryException.class, () -> spool.check(study, ALL))
                        .trouble())
                .as("eight in a row")
                .isEqualTo(Trouble.SERVER_FAULT);
        Files.delete(folder.resolve("spool").resolve(Spool.folder(study)).resolve("delivered"));
        assertThat(catchThrowableOfType(DeliveryException.class, () -> spool.check(study, ALL))
                        .trouble())
                .isEqualTo(Trouble.SPOOL);
    }

    @Test
    void aCheckContinuesWhereTheLastOneHasStopped() throws Exception {
        String study = deliver("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2");

        Recheck.Result first =
                spool.check(study, new Recheck.Asked(FilePath.ROOT, List.of(), 9, Long.MAX_VALUE, _ -> Map.of()));
        assertThat(first.files()).hasSize(9);
        FilePath next = first.next();
        assertThat(next).isEqualTo(first.files().getLast().path());
        Recheck.Result second =
                spool.check(study, new Recheck.Asked(next, List.of(), 9, Long.MAX_VALUE, _ -> Map.of()));
        assertThat(second.files()).hasSize(5);
        assertThat(second.next()).isNull();
    }

    private String deliver(String name) throws Exception {
        Path sent = SharedData.folder().resolve(name);
        server.store(sent);
        server.awaitStable();
        Path one = Files.isDirectory(sent) ? files(sent).getFirst() : sent;
        String study = ((Header) new HeaderReader().read(one))
                .text(Tag.STUDY_INSTANCE_UID)
                .orElseThrow();
        assertThat(spool.deliver(study).isComplete()).isTrue();
        return study;
    }

    private List<Path> delivered(String study) throws IOException {
        return files(spool.tree(study));
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private FilePath path(String study, Path file) {
        return FilePath.between(spool.tree(study), file);
    }

    /** Returns Orthanc's file with these bytes. */
    private Path stored(Path delivered) {
        try {
            for (Path file : files(folder.resolve("orthanc/db"))) {
                if (Files.size(file) == Files.size(delivered) && Files.mismatch(file, delivered) == -1) {
                    return file;
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        throw new AssertionError("Orthanc has no such file: " + delivered);
    }

    private static Digest digest(Path file) throws IOException {
        return Digest.ofContent(Files.readAllBytes(file));
    }

    private static Archive.Proof proof(Path file) throws Exception {
        Header header = (Header) new HeaderReader().read(file);
        return new Archive.Proof(
                new Archive.Identity(
                        header.text(Tag.STUDY_INSTANCE_UID).orElseThrow(),
                        header.text(Tag.SERIES_INSTANCE_UID).orElseThrow(),
                        header.text(Tag.SOP_INSTANCE_UID).orElseThrow()),
                HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(Files.readAllBytes(file))),
                digest(file));
    }

    private void delete(String path) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            assertThat(http.send(
                                    HttpRequest.newBuilder(URI.create(server.address() + path))
                                            .DELETE()
                                            .build(),
                                    BodyHandlers.discarding())
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    private static Map<FilePath, Checked> byPath(Recheck.Result result) {
        return result.files().stream().collect(Collectors.toMap(Checked::path, file -> file));
    }
}
