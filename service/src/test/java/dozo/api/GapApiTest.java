package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dozo.Answer;
import dozo.Ended;
import dozo.RunningService;
import dozo.people.Role;
import dozo.people.Scope;
import dozo.people.Tokens;
import dozo.worklist.Studies;
import dozo.worklist.Studies.ReceivedSeries;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bookings, gaps, and whether a console may delete a study, over REST. */
class GapApiTest {

    private static final LocalDate DAY = LocalDate.now(ZoneId.systemDefault()).minusDays(5);
    private static final Instant NOW = Instant.now();

    @TempDir
    static Path folder;

    @AutoClose
    private static RunningService service;

    @BeforeAll
    static void start() throws Exception {
        service = RunningService.shared();
        service.createProject("P1");
        service.createProject("P2");
        service.createUser("lab", Role.LAB_MANAGER, "P1");
        String csv = "受付番号,検査日,患者ID,患者氏名,シリーズ数,課題\r\nA1,%s,S1,脳 花子,2,P1\r\nA2,%s,S2,脳 太郎,2,P2\r\nA3,%s,S3,x,1,P1\r\n"
                .formatted(DAY, DAY, DAY);
        Answer kept = service.as("admin")
                .post("/api/v1/bookings/bulk", "text/csv", csv.getBytes(Charset.forName("windows-31j")));
        kept.has("/booked", 3);
        assertThat(kept.text()).doesNotContain("花子", "S1\"");
        receive("2.25.3", "A3", NOW.minus(Duration.ofDays(5)));
    }

    @Test
    void aLabManagerSeesTheGapsOfTheirProjectsAndNothingElse() {
        Answer all = service.get("/api/v1/gaps");
        Answer own = service.as("lab").get("/api/v1/gaps");

        assertThat(all.items()).isEqualTo(2);
        assertThat(own.items()).isEqualTo(1);
        own.has("/items/0/accession", "A1");
        own.has("/items/0/gaps/0", "never-scanned");
        assertThat(service.as("lab").get("/api/v1/gaps?all=true").items()).isEqualTo(2);
        assertThat(service.as("lab").get("/api/v1/gaps?kind=late").items()).isZero();
    }

    @Test
    void theListIsASheetToo() {
        String sheet = service.get("/api/v1/gaps?format=csv").text();

        assertThat(sheet.lines()).hasSize(3);
        assertThat(sheet.lines().toList().get(1)).startsWith("never-scanned," + DAY + ",,A1,P1,");
    }

    @Test
    void whatIsNoKindOrDayIsRefusedByItsName() {
        service.get("/api/v1/gaps?kind=lost").has("/errors/0/field", "kind");
        service.get("/api/v1/gaps?plannedFrom=soon").has("/errors/0/field", "plannedFrom");
        service.get("/api/v1/gaps?plannedFrom=2026-02-01&plannedUntil=2026-01-01")
                .expect(422);
    }

    @Test
    void nothingMayBeDeletedOfWhichNothingIsKnown() {
        service.get("/api/v1/studies/2.25.999").expect(404);
        Answer received = service.get("/api/v1/studies/2.25.3?instances=10");
        received.has("/received", 10);
        assertThat(received.at("/copied").asBoolean(true)).isFalse();
        assertThat(received.at("/verified").asBoolean(true)).isFalse();
        service.as("lab").get("/api/v1/studies/2.25.3").expect(404);
        service.get("/api/v1/studies/2.25.3?instances=0").expect(422);
    }

    /** Exit codes as documented: 0: may be deleted, 1: not yet, 2: unknown. */
    @Test
    void theScriptForConsolesDeletesNothingThatIsNotSaidToBeVerified() throws Exception {
        String token = service.bean(Tokens.class)
                .create("admin", "console", null, true, Scope.STUDIES, 1)
                .secret();
        Path secret = Files.writeString(folder.resolve("token"), token + "\n");
        Path wrong = Files.writeString(folder.resolve("wrong"), "dozo_wrong");
        String real = service.url();

        assertThat(mayDelete(real, secret, "2.25.3", "10")).as("received").isEqualTo(1);
        assertThat(mayDelete(real, secret, "2.25.999", "10")).as("unknown").isEqualTo(2);
        assertThat(mayDelete(real, secret, "2.25.3")).as("how many?").isEqualTo(2);
        assertThat(mayDelete(real, secret, "", "10")).as("which?").isEqualTo(2);
        assertThat(mayDelete(real, secret, "2.25.3", "none")).isEqualTo(2);
        assertThat(mayDelete(real, secret, "../me?x=", "10")).isEqualTo(2);
        assertThat(mayDelete(real, wrong, "2.25.3", "10")).isEqualTo(2);
        assertThat(mayDelete(real, folder.resolve("none"), "2.25.3", "10")).isEqualTo(2);
        assertThat(mayDelete("http://127.0.0.1:9", secret, "2.25.3", "10"))
                .as("down")
                .isEqualTo(2);
        assertThat(mayDeleteAt("{\"studyInstanceUid\":\"2.25.3\",\"verified\":true}"))
                .isZero();
        assertThat(mayDeleteAt("{\"studyInstanceUid\":\"2.25.3\",\"verified\":false}"))
                .isEqualTo(1);
        assertThat(mayDeleteAt("{\"studyInstanceUid\":\"2.25.33\",\"verified\":true}"))
                .as("another")
                .isEqualTo(2);
        assertThat(mayDeleteAt("{\"studyInstanceUid\":\"2.25.3\",\"experiment\":\"\\\"verified\\\":true\"}"))
                .isEqualTo(2);
        assertThat(mayDeleteAt("<html>\"verified\":true</html>")).isEqualTo(2);
    }

    /** Runs the script against a server that sends this response. */
    private static int mayDeleteAt(String answer) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 8);
        server.createContext("/", exchange -> {
            byte[] body = answer.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            String address = "http://127.0.0.1:" + server.getAddress().getPort();
            return mayDelete(address, Files.writeString(folder.resolve("any"), "dozo_any"), "2.25.3", "10");
        } finally {
            server.stop(0);
        }
    }

    private static int mayDelete(String address, Path token, String... arguments) throws Exception {
        String docs = Files.readString(Path.of("..", "docs", "reference", "worklist.md"));
        int begin = docs.indexOf("#!/bin/sh");
        Path script =
                Files.writeString(folder.resolve("may-delete"), docs.substring(begin, docs.indexOf("```", begin)));
        List<String> command = new ArrayList<>(List.of("sh", script.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("DOZO_URL", address);
        builder.environment().put("DOZO_TOKEN_FILE", token.toString());
        return Ended.of(builder).code();
    }

    @Test
    void aWorklistThatIsNotThereIsRefused() {
        service.post("/api/v1/bookings/worklist", "{\"from\": \"2026-12-01\", \"until\": \"2026-12-02\"}")
                .refused(422, "worklist");
    }

    @Test
    void aScannersTitleBelongsToOneScanner() {
        put("T7", "{\"aeTitles\": [\"MR7T01\"], \"purgeDays\": 14}").expect(200);
        put("T3", "{\"aeTitles\": [\"MR7T01\"]}").has("/errors/0/field", "aeTitles");
        put("T3", "{\"aeTitles\": [null]}").expect(422);
        put("T3", "{\"purgeDays\": 0}").has("/errors/0/field", "purgeDays");
        service.as("lab").get("/api/v1/scanners").has("/items/0/code", "T7");
        assertThat(service.as("lab").get("/api/v1/scanners").items()).isEqualTo(1);

        put("T7", "{\"aeTitles\": [\"MR7T01\"], \"title\": \"7T, room 2\"}").has("/title", "7T, room 2");
        service.as("lab").get("/api/v1/scanners").has("/items/0/title", "7T, room 2");
        assertThat(service.ledger().getLast().detail()).contains("unknown days, title 7T, room 2");
        put("T7", "{\"title\": \"two\\nlines\"}").refused(422, "title");
    }

    private static void receive(String study, String accession, Instant at) {
        service.bean(Studies.class)
                .received(new ReceivedSeries(
                        study, study + ".1", accession, null, DAY, null, null, "MR7T01", "MR", 10, null, at, at));
    }

    private static Answer put(String scanner, String body) {
        return service.put("/api/v1/scanners/" + scanner, body);
    }
}
