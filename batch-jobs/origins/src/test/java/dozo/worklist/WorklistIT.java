package dozo.worklist;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.loopback.Ports;
import dozo.registry.Refusal;
import dozo.source.dicom.PseudonymousCode;
import dozo.worklist.JudgedBooking.Outcome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Bookings come from a real worklist server (dcmtk's wlmscpfs) through a real Orthanc. */
class WorklistIT {

    private static final LocalDate DAY = LocalDate.of(2026, 4, 17);

    @TempDir
    static Path folder;

    private static final List<Process> PROCESSES = new ArrayList<>();
    private static int orthancPort;
    private static int bareServerPort;

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Ledger ledger = new Ledger(jdbc, InstantSource.system());
    private final PseudonymousCode codes = new PseudonymousCode("a key for tests, of many bytes".getBytes(US_ASCII));
    private final Bookings bookings =
            new Bookings(jdbc, ledger, codes, InstantSource.system(), new JdbcTransactionManager(database));

    @BeforeAll
    static void start() throws Exception {
        Path worklists = Files.createDirectories(folder.resolve("wl/LABWL"));
        Files.createFile(worklists.resolve("lockfile"));
        String procedure = "7T 視覚実験";
        byte[] iso2022 = procedure.getBytes(Charset.forName("ISO-2022-JP"));
        write(worklists, 1, "ISO_IR 192", procedure.getBytes(UTF_8), "20260417");
        write(worklists, 2, "\\ISO 2022 IR 87", iso2022, "20260417");
        write(worklists, 3, "", procedure.getBytes(UTF_8), "20260417");
        write(worklists, 4, "ISO_IR 100", procedure.getBytes(Charset.forName("windows-31j")), "20260417");
        write(worklists, 5, "ISO_IR 192", "another day".getBytes(UTF_8), "20260420");
        int serverPort = Ports.free();
        bareServerPort = Ports.free();
        start(folder, "wlmscpfs", "-csk", "-dfp", folder.resolve("wl").toString(), "" + serverPort);
        start(folder, "wlmscpfs", "-dfp", folder.resolve("wl").toString(), "" + bareServerPort);
        orthancPort = Ports.free();
        Path orthanc = Files.createDirectories(folder.resolve("orthanc"));
        Files.writeString(
                orthanc.resolve("orthanc.json"), """
                {"Name": "test", "StorageDirectory": "db", "IndexDirectory": "db", "HttpPort": %d, "RemoteAccessAllowed": false,
                 "AuthenticationEnabled": true, "RegisteredUsers": {"dozo": "secret"}, "DicomServerEnabled": false,
                 "DicomAet": "INGEST", "DefaultEncoding": "Utf8",
                 "DicomModalities": {"ris": ["LABWL", "127.0.0.1", %d], "bare": ["LABWL", "127.0.0.1", %d],
                                     "stranger": ["NOBODY", "127.0.0.1", %d]}}
                """.formatted(orthancPort, serverPort, bareServerPort, serverPort));
        start(orthanc, "Orthanc", "orthanc.json");
        await().atMost(Duration.ofMinutes(5))
                .ignoreExceptions()
                .until(() -> HttpClient.newHttpClient()
                                .send(
                                        HttpRequest.newBuilder(
                                                        URI.create("http://127.0.0.1:%d/system".formatted(orthancPort)))
                                                .build(),
                                        BodyHandlers.discarding())
                                .statusCode()
                        == 401);
    }

    @AfterAll
    static void stop() {
        PROCESSES.forEach(Process::destroy);
    }

    @Test
    void whatIsPlannedIsKeptInAnyCharacterSetWithoutAnybodysName() {
        Bookings.Answer answer = worklist("ris").read(DAY, DAY.plusDays(1), "ris");

        Map<String, JudgedBooking> lines = byAccession(answer);
        assertThat(lines).containsOnlyKeys("A26-1", "A26-2", "A26-3", "A26-4");
        assertThat(lines.get("A26-1").booking())
                .isEqualTo(new Booking(
                        "A26-1",
                        null,
                        "2.25.111",
                        "MR7T01",
                        "MR",
                        DAY,
                        LocalTime.of(9, 30, 1),
                        "7T 視覚実験",
                        null,
                        codes.of("S0123").orElseThrow()));
        assertThat(lines.values()).allSatisfy(line -> {
            assertThat(line.outcome()).isEqualTo(Outcome.BOOKED);
            assertThat(line.booking().procedure()).isEqualTo("7T 視覚実験");
        });
        assertThat(everything()).contains("A26-1").doesNotContain("S0123", "PSEUDO", "試験");
        assertThat(worklist("ris").read(DAY, DAY.plusDays(1), "ris").count(Outcome.UNCHANGED))
                .isEqualTo(4);
    }

    @Test
    void anAnswerThatNamesNoCharacterSetIsReadAllTheSame() {
        Map<String, JudgedBooking> lines = byAccession(worklist("bare").read(DAY, DAY, "ris"));

        assertThat(lines.get("A26-1").booking().procedure()).isEqualTo("7T 視覚実験");
        assertThat(lines.get("A26-2").booking().procedure()).isEqualTo("7T 視覚実験");
        assertThat(lines.get("A26-3").booking().procedure()).isEqualTo("7T 視覚実験");
    }

    @Test
    void aServerThatRefusesOrAnOrthancThatIsNotThereIsTold() {
        assertThatThrownBy(() -> worklist("stranger").read(DAY, DAY, "ris"))
                .isInstanceOf(WorklistException.class)
                .hasMessageContaining("stranger");
        assertThatThrownBy(() -> worklist("unheard-of").read(DAY, DAY, "ris"))
                .isInstanceOf(WorklistException.class)
                .hasMessageContaining("404");
        assertThatThrownBy(() -> at("http://127.0.0.1:9").read(DAY, DAY, "ris")).isInstanceOf(WorklistException.class);
        assertThatThrownBy(() -> at(null).read(DAY, DAY, "ris")).isInstanceOf(Refusal.class);
        assertThatThrownBy(() -> worklist("ris").read(DAY, DAY.minusDays(1), "ris"))
                .isInstanceOf(Refusal.class);
    }

    @Test
    void nonsenseIsToldAndOneBadBookingKeepsNoOtherFromBeingKept() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        List<String> answers = List.of(
                "no json",
                "{}",
                "[{\"0008,0050\": \"A1\", \"0040,0100\": [{\"0040,0002\": \"20260417\"}]}, {\"0008,0050\": \"A2\"}, {},"
                        + " {\"0008,0050\": \"A1\", \"0040,0100\": [{\"0040,0002\": \"20260416\"}]},"
                        + " {\"0008,0050\": \"A3\", \"0020,000d\": \"x\", \"0040,0100\": [{\"0040,0002\": \"20260417\"}]}]");
        List<String> left = new ArrayList<>(answers);
        server.createContext("/", exchange -> {
            byte[] body = left.removeFirst().getBytes(UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            Worklist worklist = at("http://127.0.0.1:" + server.getAddress().getPort());
            assertThatThrownBy(() -> worklist.read(DAY, DAY, "ris")).isInstanceOf(WorklistException.class);
            assertThatThrownBy(() -> worklist.read(DAY, DAY, "ris")).isInstanceOf(WorklistException.class);

            Bookings.Answer answer = worklist.read(DAY, DAY, "ris");

            assertThat(answer.count(Outcome.BOOKED)).isEqualTo(1);
            assertThat(answer.count(Outcome.REFUSED)).isEqualTo(3);
            // The earlier of two steps.
            assertThat(byAccession(answer).get("A1").booking().on()).isEqualTo(DAY.minusDays(1));
        } finally {
            server.stop(0);
        }
    }

    @Test
    void byTheClockItIsReadFromYesterdayOnAndHowThatGoesIsKnownAfterARestart() {
        Instant[] now = {Instant.parse("2026-04-17T01:00:00Z")};
        WorklistReadings readings = readings(worklist("ris"), now);
        WorklistReadings broken = readings(worklist("unheard-of"), now);

        assertThat(readings.last()).isEmpty();
        assertThat(readings.read().booked()).isEqualTo(5);
        assertThat(byActor()).containsExactly(Ledger.SYSTEM);

        now[0] = now[0].plus(Duration.ofHours(1));
        Instant failed = now[0];
        broken.read();
        now[0] = now[0].plus(Duration.ofHours(30));
        broken.read();
        WorklistReadings.Reading failing = readings(worklist("ris"), now).last().orElseThrow();
        assertThat(failing.failingSince()).isEqualTo(failed);
        assertThat(failing.triedAt()).isEqualTo(now[0]);
        assertThat(failing.readAt()).isEqualTo(Instant.parse("2026-04-17T01:00:00Z"));
        assertThat(failing.message()).contains("404");
        assertThat(failing.booked()).isEqualTo(5);

        assertThat(readings.read().failingSince()).isNull();
        assertThat(readings.last().orElseThrow().unchanged()).isPositive();
    }

    private WorklistReadings readings(Worklist worklist, Instant[] now) {
        return new WorklistReadings(jdbc, worklist, 5, () -> now[0], ZoneId.of("Asia/Tokyo"));
    }

    private List<String> byActor() {
        return ledger.after(0, 100).stream()
                .map(Ledger.LedgerEntry::actor)
                .distinct()
                .toList();
    }

    private String everything() {
        return jdbc.sql("select string_agg(t::text, '|') from booking t")
                        .query(String.class)
                        .single()
                + ledger.after(0, 100);
    }

    /** The scheduler's thread that reads it must come back. */
    @Test
    void anAnswerThatBeginsAndNeverEndsIsGivenUp() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write('[');
            exchange.getResponseBody().flush();
        });
        server.start();
        try {
            Worklist worklist = new Worklist(
                    new Worklist.Address(
                            URI.create("http://127.0.0.1:" + server.getAddress().getPort()), "ris", "", () -> ""),
                    bookings,
                    codes,
                    Duration.ofSeconds(1));
            assertThatThrownBy(() -> worklist.read(DAY, DAY, "ris"))
                    .isInstanceOf(WorklistException.class)
                    .hasMessageContaining("does not answer");
        } finally {
            server.stop(0);
        }
    }

    private Worklist worklist(String server) {
        return new Worklist(
                new Worklist.Address(
                        URI.create("http://127.0.0.1:%d/".formatted(orthancPort)), server, "dozo", () -> "secret"),
                bookings,
                codes);
    }

    private Worklist at(@org.jspecify.annotations.Nullable String url) {
        return new Worklist(
                new Worklist.Address(url == null ? null : URI.create(url), "ris", "", () -> ""), bookings, codes);
    }

    private static Map<String, JudgedBooking> byAccession(Bookings.Answer answer) {
        return answer.lines().stream()
                .filter(line -> line.accession() != null)
                .collect(Collectors.toMap(line -> "" + line.accession(), Function.identity()));
    }

    private static void write(Path worklists, int number, String characterSet, byte[] procedure, String day)
            throws Exception {
        Path dump = folder.resolve(number + ".dump");
        String head = characterSet.isEmpty() ? "" : "(0008,0005) CS [%s]\n".formatted(characterSet);
        String begin = head + """
                (0008,0050) SH [A26-%d]
                (0010,0010) PN [PSEUDO^S0123]
                (0010,0020) LO [S0123]
                (0020,000d) UI [2.25.11%d]
                (0032,1060) LO [""".formatted(number, number);
        String end = """
                ]
                (0040,1001) SH [RP%d]
                (0040,0100) SQ
                (fffe,e000) -
                (0008,0060) CS [MR]
                (0040,0001) AE [MR7T01]
                (0040,0002) DA [%s]
                (0040,0003) TM [09300%d]
                (0040,0007) LO [step]
                (0040,0009) SH [SPS%d]
                (0040,0010) SH [MR7T01]
                (fffe,e00d) -
                (fffe,e0dd) -
                """.formatted(number, day, number, number);
        byte[] first = begin.getBytes(UTF_8);
        byte[] last = end.getBytes(UTF_8);
        byte[] all = new byte[first.length + procedure.length + last.length];
        System.arraycopy(first, 0, all, 0, first.length);
        System.arraycopy(procedure, 0, all, first.length, procedure.length);
        System.arraycopy(last, 0, all, first.length + procedure.length, last.length);
        Files.write(dump, all);
        Process made = new ProcessBuilder(
                        "dump2dcm",
                        "-q",
                        "+te",
                        dump.toString(),
                        worklists.resolve(number + ".wl").toString())
                .redirectErrorStream(true)
                .start();
        assertThat(made.waitFor())
                .as(new String(made.getInputStream().readAllBytes(), UTF_8))
                .isZero();
    }

    private static void start(Path in, String... command) throws IOException {
        PROCESSES.add(new ProcessBuilder(command)
                .directory(in.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("log-" + PROCESSES.size()).toFile())
                .start());
    }
}
