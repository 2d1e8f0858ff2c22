package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A POST with a key is executed once, whatever happens to its response. */
class IdempotencyTest {

    private static final String PROJECTS = "/api/v1/projects";

    @TempDir
    static Path work;

    @AutoClose
    private static RunningService service;

    private static JdbcClient jdbc;

    @BeforeAll
    static void start() {
        service = RunningService.shared();
        jdbc = service.jdbc();
    }

    @Test
    void theSameRequestGetsTheFirstAnswerAgainAndIsNotDoneAgain() {
        Answer first = create("K1", "again-1");
        Answer second = create("K1", "again-1");

        first.expect(201);
        assertThat(first.headers().firstValue("Idempotency-Replayed")).isEmpty();
        second.expect(201);
        assertThat(second.text()).isEqualTo(first.text());
        assertThat(second.location()).isEqualTo(first.location());
        assertThat(second.type()).isEqualTo(first.type());
        assertThat(second.headers().firstValue("Idempotency-Replayed")).contains("true");
        assertThat(told("K1")).isEqualTo(1);
    }

    @Test
    void aRefusalIsAnAnswerToo() {
        Answer first = create("not a code", "refused-1");
        Answer second = create("not a code", "refused-1");

        first.expect(422);
        assertThat(second.text()).isEqualTo(first.text());
        assertThat(second.headers().firstValue("Idempotency-Replayed")).contains("true");
    }

    @Test
    void aKeyOfAnotherRequestIsRefusedAndTheFirstAnswerStays() {
        Answer first = create("K2", "other-1");
        Answer other = create("K2b", "other-1");
        Answer elsewhere = service.askWith("POST", "/api/v1/runs", "{}", "Idempotency-Key", "other-1");

        for (Answer refused : List.of(other, elsewhere)) {
            refused.refused(422, "Idempotency-Key");
        }
        assertThat(told("K2b")).isZero();
        assertThat(create("K2", "other-1").text()).isEqualTo(first.text());
    }

    @Test
    void keysOfOthersAreOthers() {
        service.post("/api/v1/users", """
                {"name": "other", "password": "a long password", "roles": ["ADMIN"]}""");
        create("K3", "mine");

        service.with(RunningService.basic("other", "a long password"))
                .ask("POST", PROJECTS, body("K3o"), "Idempotency-Key", "mine")
                .expect(201);
    }

    @Test
    void whatHasNoKeyOfThisFormIsRefused() {
        for (String key : List.of("", "a b", "x".repeat(256))) {
            Answer refused = create("K4", key);
            assertThat(refused.status()).as(key).isEqualTo(422);
            refused.has("/errors/0/field", "Idempotency-Key");
        }
        service.askWith("POST", PROJECTS, body("K4"), "Idempotency-Key", "a", "Idempotency-Key", "b")
                .expect(422);
        create("K4", "x".repeat(255)).expect(201);
    }

    @Test
    void nothingOfSecretsIsKept() {
        Answer token = service.askWith("POST", "/api/v1/me/tokens", "{\"name\": \"t\"}", "Idempotency-Key", "secret");
        Answer user = service.askWith(
                "POST",
                "/api/v1/users",
                "{\"name\": \"u\", \"password\": \"a long password\"}",
                "Idempotency-Key",
                "secret");

        for (Answer refused : List.of(token, user)) {
            refused.expect(422);
            assertThat(refused.text()).contains("omit the key");
        }
        assertThat(kept("secret")).isZero();
    }

    @Test
    void whoMayNotAskGetsNoAnswerAgain() {
        service.post("/api/v1/users", """
                {"name": "demoted", "password": "a long password", "roles": ["ADMIN"]}""");
        String demoted = RunningService.basic("demoted", "a long password");
        String[] key = {"Idempotency-Key", "demoted"};
        service.with(demoted).ask("POST", PROJECTS, body("K5"), key).expect(201);

        service.patch("/api/v1/users/demoted", "{\"roles\": [\"AUDITOR\"]}");

        service.with(demoted).ask("POST", PROJECTS, body("K5"), key).expect(403);
    }

    @Test
    void whatWasBegunAndNeverAnsweredIsTriedAgain() {
        create("K6", "died");
        jdbc.sql("update kept_answer set status = null, body = null where key = 'died'")
                .update();

        Answer again = create("K6", "died");
        Answer other = create("K6b", "died");

        assertThat(again.status()).as("it is there already").isEqualTo(409);
        assertThat(again.headers().firstValue("Idempotency-Replayed")).isEmpty();
        other.expect(422);
    }

    @Test
    void anAnswerTooLongToKeepIsNotGivenAgainNorIsTheRequestDoneAgain() {
        create("K7", "long");
        jdbc.sql("update kept_answer set body = null where key = 'long'").update();

        assertThat(create("K7", "long").expect(409).text()).contains("executed before with status 201");
    }

    @Test
    void afterADayAKeyIsForgotten() {
        create("K8", "old");
        jdbc.sql("update kept_answer set begun_at = begun_at - interval '25 hours' where key = 'old'")
                .update();

        create("K8c", "old").expect(201);
    }

    @Test
    void whileTheFirstIsGoingOnTheSecondIsToldToWait() throws IOException {
        Answer second = null;
        // The second request may arrive first: then again, with another key.
        for (int attempt = 0; attempt < 50 && (second == null || second.status() != 409); attempt++) {
            second = secondWhileFirstIsSent("W" + attempt);
        }

        second.expect(409);
        assertThat(second.headers().firstValue("Retry-After")).isPresent();
    }

    /**
     * Returns the response to the second of two equal requests, sent while the body of the first is still incomplete.
     */
    private static Answer secondWhileFirstIsSent(String code) throws IOException {
        URI at = URI.create(service.url());
        String body = body(code);
        String head = """
                POST %s HTTP/1.1\r
                Host: localhost\r
                Authorization: %s\r
                Content-Type: application/json\r
                Content-Length: %d\r
                Idempotency-Key: %s\r
                Connection: close\r
                \r
                """.formatted(PROJECTS, RunningService.basic("admin", service.password()), body.length(), code);
        try (Socket first = new Socket(at.getHost(), at.getPort())) {
            OutputStream out = first.getOutputStream();
            out.write(head.getBytes(StandardCharsets.US_ASCII));
            out.flush();
            Answer second = create(code, code);
            out.write(body.getBytes(StandardCharsets.US_ASCII));
            out.flush();
            String answer = new String(first.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (second.status() == 409) {
                assertThat(answer).startsWith("HTTP/1.1 201");
            }
            return second;
        }
    }

    private static Answer create(String code, String key) {
        return service.askWith("POST", PROJECTS, body(code), "Idempotency-Key", key);
    }

    private static String body(String code) {
        return "{\"code\": \"%s\"}".formatted(code);
    }

    private static int kept(String key) {
        return jdbc.sql("select count(*) from kept_answer where key = :key")
                .param("key", key)
                .query(Integer.class)
                .single();
    }

    private static int told(String code) {
        return jdbc.sql("select count(*) from ledger where action = 'project.created' and subject = :code")
                .param("code", code)
                .query(Integer.class)
                .single();
    }
}
