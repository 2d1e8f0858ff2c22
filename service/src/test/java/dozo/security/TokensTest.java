package dozo.security;

import static dozo.RunningService.PASSWORD;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import dozo.people.Role;
import dozo.people.Users;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tokens: shown once, never with more permissions than their user, and invalid when they have expired. */
class TokensTest {

    private static final AtomicInteger COUNT = new AtomicInteger();

    @TempDir
    static Path folder;

    @AutoClose
    private static RunningService service;

    private String user = "";

    @BeforeAll
    static void start() {
        service = RunningService.shared();
    }

    @BeforeEach
    void createUser() {
        user = "u" + COUNT.incrementAndGet();
        service.bean(Users.class).create(user, PASSWORD, Set.of(Role.OPERATOR, Role.AUDITOR), "test");
    }

    @Test
    void aSecretIsShownOnceAndKeptNowhere() {
        Answer made = make("{\"name\": \"nightly\"}");
        String secret = made.string("/secret");

        made.expect(201);
        assertThat(secret).matches("dozo_[A-Za-z0-9_-]{43}");
        with(secret, "GET", "/me").has("/name", user);
        assertThat(with(secret, "GET", "/me/tokens").text())
                .contains("nightly")
                .contains("lastUsedAt")
                .doesNotContain(secret.substring(6));
        assertThat(service.jdbc()
                        .sql("select string_agg(to_jsonb(t)::text, '') from api_token t")
                        .query((row, n) -> row.getString(1))
                        .single())
                .contains("nightly")
                .doesNotContain(secret.substring(6));
        assertThat(service.ledger())
                .filteredOn(entry -> entry.subject().equals(user + "/nightly"))
                .singleElement()
                .satisfies(entry -> {
                    assertThat(entry.action()).isEqualTo("token.created");
                    assertThat(entry.actor()).isEqualTo(user);
                    assertThat(entry.detail()).contains("AUDITOR").doesNotContain(secret.substring(6));
                });
    }

    @Test
    void aRevokedTokenIsOver() {
        Answer made = make("{\"name\": \"t\"}");
        String secret = made.string("/secret");

        with(secret, "DELETE", "/me/tokens/" + made.at("/id").asInt()).expect(204);

        assertOver(secret, "revoked");
        make("{\"name\": \"t\"}").expect(201);
    }

    @Test
    void aNewSecretReplacesTheFormerOneAfterAWhile() {
        Answer made = make("{\"name\": \"t\", \"days\": 30}");
        String former = made.string("/secret");
        String present = rotate(made, 2).expect(200).string("/secret");

        assertThat(present).matches("dozo_[A-Za-z0-9_-]{43}").isNotEqualTo(former);
        with(present, "GET", "/me").expect(200);
        with(former, "GET", "/me").expect(200);
        with(present, "POST", "/me/tokens/" + made.at("/id").asInt() + "/rotation")
                .expect(403);
        later("former_until = former_until - interval '2 days'");
        with(former, "GET", "/me").isProblem(401);
        with(present, "GET", "/me").expect(200);

        String last = rotate(made, 0).string("/secret");
        with(present, "GET", "/me").isProblem(401);
        with(last, "GET", "/me").expect(200);
        assertThat(service.ledger().getLast().action()).isEqualTo("token.rotated");
        assertThat(service.ledger().getLast().detail()).contains("former_until").doesNotContain(last.substring(6));
    }

    @Test
    void aFormerSecretIsValidNoLongerThanItWasToBeAndARevokedOneNever() {
        Answer made = make("{\"name\": \"t\", \"days\": 1}");
        rotate(made, 30).expect(200);
        assertThat(service.count(
                        "select count(*) from api_token where former_until < now() + interval '25 hours' and name = 't'"
                                + " and user_id = (select user_id from dozo_user where name = '%s')".formatted(user)))
                .isEqualTo(1);
        rotate(made, 31).refused(422, "graceDays");
        rotate(made, -1).refused(422, "graceDays");
        service.as(user).delete("/api/v1/me/tokens/" + made.at("/id").asInt()).expect(204);
        assertOver(made.string("/secret"), "revoked");
        rotate(made, 1).expect(404);

        Answer expired = make("{\"name\": \"e\", \"days\": 1}");
        later("created_at = created_at - interval '1 day', expires_at = expires_at - interval '1 day'");
        rotate(expired, 1).expect(404);
        service.post("/api/v1/me/tokens/" + expired.at("/id").asInt() + "/rotation", "{}")
                .expect(404);
    }

    private Answer rotate(Answer token, int graceDays) {
        return service.as(user)
                .post(
                        "/api/v1/me/tokens/" + token.at("/id").asInt() + "/rotation",
                        "{\"graceDays\": %d}".formatted(graceDays));
    }

    private void later(String change) {
        service.jdbc()
                .sql("update api_token set " + change
                        + " where user_id = (select user_id from dozo_user where name = :user)")
                .param("user", user)
                .update();
    }

    @Test
    void anAdministratorRevokesTheTokensOfOthers() {
        Answer made = make("{\"name\": \"t\"}");
        String path = "/api/v1/users/%s/tokens".formatted(user);
        assertThat(service.get(path).text()).contains("\"t\"");

        service.delete(path + "/" + made.at("/id").asInt()).expect(204);
        service.delete(path + "/" + made.at("/id").asInt()).expect(404);

        assertOver(made.string("/secret"), "revoked");
    }

    @Test
    void anotherUsersTokenIsNotThere() {
        Answer made = make("{\"name\": \"t\"}");

        service.delete("/api/v1/me/tokens/" + made.at("/id").asInt()).expect(404);
        with(made.string("/secret"), "GET", "/me").expect(200);
    }

    @Test
    void anExpiredTokenIsOver() {
        String secret = make("{\"name\": \"t\", \"days\": 1}").string("/secret");
        service.jdbc().sql("""
                        update api_token set created_at = created_at - interval '1 day', expires_at = expires_at - interval '1 day'
                        where user_id = (select user_id from dozo_user where name = :user)
                        """).param("user", user).update();

        assertOver(secret, "expired");
    }

    @Test
    void theTokenOfADisabledUserIsOver() {
        String secret = make("{\"name\": \"t\"}").string("/secret");

        service.patch("/api/v1/users/" + user, "{\"disabled\": true}");

        assertOver(secret, "is disabled");
    }

    @Test
    void aTokenLosesWhatItsUserLoses() {
        String secret = make("{\"name\": \"t\", \"roles\": [\"OPERATOR\"]}").string("/secret");
        with(secret, "GET", "/runs").expect(200);

        service.patch("/api/v1/users/" + user, "{\"roles\": [\"AUDITOR\"]}");

        with(secret, "GET", "/runs").expect(403);
    }

    @Test
    void aTokenHasItsOwnScope() {
        String auditor = make("{\"name\": \"a\", \"roles\": [\"AUDITOR\"]}").string("/secret");
        String reader = make("{\"name\": \"r\", \"readOnly\": true}").string("/secret");
        String whole = make("{\"name\": \"w\"}").string("/secret");

        assertThat(with(auditor, "POST", "/runs/4711/stop").string("/detail")).contains("OPERATOR");
        assertThat(with(reader, "POST", "/runs/4711/stop").string("/detail")).contains("read-only");
        with(whole, "POST", "/runs/4711/stop").expect(404);
        assertThat(with(whole, "POST", "/me/tokens").string("/detail")).contains("tokens do not permit this");
    }

    @Test
    void aTokenForAConsoleOnlyAsksWhetherAStudyMayBeDeleted() {
        Answer made = make("{\"name\": \"console\", \"scope\": \"studies\"}");
        String console = made.string("/secret");

        made.has("/scope", "studies");
        made.has("/readOnly", true);
        with(console, "GET", "/studies/2.25.1").expect(404);
        with(console, "GET", "/me").has("/detail", "this token only permits GET /api/v1/studies/{studyInstanceUid}");
        with(console, "POST", "/me/tokens").expect(403);
        service.get("/api/v1/users/%s/tokens".formatted(user)).has("/items/0/scope", "studies");
    }

    @Test
    void whatIsNoTokenIsRefused() {
        for (String secret :
                new String[] {"", "dozo_", "dozo_" + "A".repeat(43), "x".repeat(5_000), "eyJhbGciOiJub25lIn0.e30."}) {
            assertThat(with(secret, "GET", "/me").status()).as(secret).isEqualTo(401);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"name\": \"\"} | name",
                "{\"name\": \"a\\u0000b\"} | name",
                "{\"name\": \"t\", \"days\": 0} | days",
                "{\"name\": \"t\", \"days\": 367} | days",
                "{\"name\": \"t\", \"scope\": \"everything\"} | scope",
                "{\"name\": \"t\", \"roles\": []} | roles",
                "{\"name\": \"t\", \"roles\": [\"ADMIN\"]} | roles",
                "{\"name\": \"t\", \"roles\": [\"KING\"]} | roles"
            })
    void aTokenThatCannotBeIsRefused(String body, String field) {
        make(body).refused(422, field);
    }

    private void assertOver(String secret, String why) {
        Answer answer = with(secret, "GET", "/me");
        answer.isProblem(401);
        assertThat(answer.string("/detail")).contains(why);
    }

    private Answer make(String body) {
        return service.as(user).post("/api/v1/me/tokens", body);
    }

    private static Answer with(String secret, String method, String path) {
        return service.with("Bearer " + secret).ask(method, "/api/v1" + path, method.equals("POST") ? "" : null);
    }
}
