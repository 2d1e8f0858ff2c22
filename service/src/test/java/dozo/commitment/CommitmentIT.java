package dozo.commitment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.db.ActiveService;
import dozo.db.Program;
import dozo.db.TestDatabase;
import dozo.loopback.Ports;
import dozo.security.MadeKeys;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A scanner, played by pynetdicom, may delete exactly what is safe, and asks once. */
class CommitmentIT {

    private static final String PACKAGES = "pynetdicom==3.0.4";
    private static final String NONE = "0";

    private final DataSource database = TestDatabase.fresh();
    private final ProvenImages catalogue = new ProvenImages(database, 1_000, 950);
    private final int own = Ports.free();
    private final int theirs = Ports.free();
    private CommitmentPort port = service();

    @TempDir
    Path folder;

    private CommitmentPort service() {
        return service("", "", "");
    }

    private CommitmentPort service(String certificate, String key, String trust) {
        CommitmentSettings settings = new CommitmentSettings(
                own,
                "127.0.0.1",
                "DOZO",
                "MR=127.0.0.1:%d".formatted(theirs),
                Duration.ofHours(36),
                certificate,
                key,
                trust);
        return new CommitmentPort(
                settings, ActiveService.alone(), catalogue.commitments(), catalogue.images, catalogue.clock);
    }

    @AfterEach
    void stop() {
        port.close();
    }

    private Path listed(int images) throws IOException {
        return Files.write(
                folder.resolve(images + ".txt"),
                IntStream.rangeClosed(1, images)
                        .mapToObj(n -> ProvenImages.MR + " 1.2.3." + n)
                        .toList());
    }

    private CompletableFuture<List<String>> scanner(String... arguments) throws IOException {
        Path script = folder.resolve("scu.py");
        try (InputStream in = Objects.requireNonNull(CommitmentIT.class.getResourceAsStream("scu.py"))) {
            Files.write(script, in.readAllBytes());
        }
        String[] all = Stream.concat(Stream.of(script.toString()), Stream.of(arguments))
                .toArray(String[]::new);
        return CompletableFuture.supplyAsync(() -> {
            try {
                return Program.python("pynetdicom", Map.of(), PACKAGES, all)
                        .succeeded()
                        .lines()
                        .toList();
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** Returns what the scanner saw. The service looks again and again; time passes for it once the scanner may listen. */
    private List<String> seen(boolean listening, CompletableFuture<List<String>> scanner) {
        await().atMost(Duration.ofMinutes(5)).until(() -> {
            if (listening) {
                pass(Reports.RETRY_MIN);
            }
            port.look();
            return scanner.isDone();
        });
        return scanner.join();
    }

    private void pass(Duration time) {
        catalogue.now.updateAndGet(now -> now.plus(time));
    }

    /** Returns what a scanner sees that only waits for a report. */
    private List<String> reported() throws IOException {
        return seen(true, scanner(NONE, String.valueOf(theirs), "MR", "DOZO", "-", "-"));
    }

    private List<String> ask(boolean listening, String title, String transaction, int images, String... tls)
            throws IOException {
        List<String> asked = List.of(
                String.valueOf(own),
                listening ? String.valueOf(theirs) : NONE,
                title,
                "DOZO",
                transaction,
                listed(images).toString());
        return seen(
                listening, scanner(Stream.concat(asked.stream(), Stream.of(tls)).toArray(String[]::new)));
    }

    /** Makes a certificate and its key, and returns their files. */
    private String[] made(String name) throws Exception {
        Path store = MadeKeys.store(folder.resolve(name), "EC", "dns:localhost", "-1d");
        Path certificate = folder.resolve(name + ".pem");
        Path key = folder.resolve(name + "-key.pem");
        MadeKeys.write(certificate, MadeKeys.certificate(store));
        MadeKeys.write(key, MadeKeys.key(store));
        return new String[] {certificate.toString(), key.toString()};
    }

    /** Certificates are valid now, not in October. */
    private void open(String certificate, String key, String trust) {
        catalogue.now.set(Instant.now());
        port = service(certificate, key, trust);
        port.look();
    }

    private static Map<String, Long> counted(List<String> seen) {
        return seen.stream().collect(Collectors.groupingBy(line -> line.split(" ")[0], Collectors.counting()));
    }

    @Test
    void exactlyTheProvenImagesAreCommittedTo() throws Exception {
        port.look();
        assertThat(ask(false, "MR", "1.2.9.1", 1_000)).containsExactly("echo 0000", "status 0000");
        pass(Duration.ofHours(37));

        List<String> seen = reported();

        assertThat(seen.getFirst()).isEqualTo("report 2 1.2.9.1");
        assertThat(counted(seen)).isEqualTo(Map.of("report", 1L, "safe", 950L, "failed", 50L));
        assertThat(seen).contains("safe 1.2.3.1", "safe 1.2.3.950", "failed 1.2.3.951 0112", "failed 1.2.3.1000 0112");
        assertThat(catalogue
                        .jdbc
                        .sql("select detail from ledger where action = 'commitment.reported'")
                        .query((row, n) -> row.getString(1))
                        .single())
                .contains("\"committed\": \"950\"", "\"failed\": \"50\"");
    }

    @Test
    void whatIsSafeIsReportedAtOnceAndAfterANightTheRest() throws Exception {
        port.look();

        assertThat(ask(true, "MR", "1.2.9.2", 950)).contains("report 1 1.2.9.2", "safe 1.2.3.950");

        assertThat(ask(false, "MR", "1.2.9.3", 1_000)).contains("status 0000");
        catalogue.prove(951, 1_000);
        pass(Reports.LOOK);
        assertThat(counted(reported())).isEqualTo(Map.of("report", 1L, "safe", 1_000L));
    }

    @Test
    void aReportSurvivesARestart() throws Exception {
        port.look();
        assertThat(ask(false, "MR", "1.2.9.4", 950)).contains("status 0000");
        port.close();
        pass(Duration.ofHours(2));
        port = service();

        assertThat(reported()).contains("report 1 1.2.9.4").hasSize(951);
    }

    @Test
    void theSameRequestIsReportedAgainAndAnotherUnderItsNumberRefused() throws Exception {
        port.look();
        assertThat(ask(true, "MR", "1.2.9.5", 10)).contains("report 1 1.2.9.5");
        assertThat(ask(true, "MR", "1.2.9.5", 10)).contains("status 0000", "report 1 1.2.9.5");

        assertThat(ask(false, "MR", "1.2.9.5", 11)).containsExactly("echo 0000", "status 0131");
    }

    @Test
    void withATrustFileBothDirectionsAreTlsAndBothSidesNeedACertificate() throws Exception {
        String[] ours = made("ours");
        String[] scanner = made("scanner");
        String[] stranger = made("stranger");
        open(ours[0], ours[1], scanner[0]);

        assertThat(ask(true, "MR", "1.2.9.7", 10, ours[0], scanner[0], scanner[1]))
                .contains("echo 0000", "status 0000", "report 1 1.2.9.7", "safe 1.2.3.10");
        assertThat(ask(false, "MR", "1.2.9.8", 10, ours[0], stranger[0], stranger[1]))
                .containsExactly("no association");
        assertThat(ask(false, "MR", "1.2.9.8", 10, ours[0])).as("without one").containsExactly("no association");
        assertThat(ask(false, "MR", "1.2.9.8", 10)).as("without TLS").containsExactly("no association");
        assertThat(catalogue
                        .jdbc
                        .sql("select count(*) from commitment")
                        .query((row, n) -> row.getInt(1))
                        .single())
                .isOne();
    }

    @Test
    void withoutATrustFileOnlyRequestsAreTlsAndNewFilesNeedNoRestart() throws Exception {
        String[] ours = made("ours");
        String[] later = made("later");
        open(ours[0], ours[1], "");
        assertThat(ask(true, "MR", "1.2.9.9", 10, ours[0])).contains("status 0000", "report 1 1.2.9.9");

        Files.delete(Path.of(ours[1]));
        assertThat(ask(false, "MR", "1.2.9.10", 10, ours[0])).as("no key").containsExactly("no association");
        Files.copy(Path.of(later[0]), Path.of(ours[0]), StandardCopyOption.REPLACE_EXISTING);
        Files.copy(Path.of(later[1]), Path.of(ours[1]), StandardCopyOption.COPY_ATTRIBUTES);
        assertThat(ask(false, "MR", "1.2.9.10", 10, later[0])).contains("status 0000");
    }

    @Test
    void strangersAreRejected() throws Exception {
        port.look();

        assertThat(ask(false, "CT", "1.2.9.6", 10)).containsExactly("rejected");
        assertThat(catalogue
                        .jdbc
                        .sql("select count(*) from commitment")
                        .query((row, n) -> row.getInt(1))
                        .single())
                .isZero();
    }
}
