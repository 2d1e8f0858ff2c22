package dozo.security;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.RunningService;
import dozo.RunningService.Answer;
import dozo.ledger.Ledger;
import dozo.people.Role;
import dozo.people.Users;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Tokens: shown once, never with more permissions than their user, and invalid when they have expired. */
class TokensTest {

    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final String PASSWORD = "a password for tests";

    @TempDir
    static Path folder;

    private static RunningService service;

    private String user = "";

    @BeforeAll
    static void start() {
        service = RunningService.shared();
    }

    @AfterAll
    static void stop() {
        service.close();
    }

    @BeforeEach
    void createUser() {
        user = "u" + COUNT.incrementAndGet();
        service.bean(Users.class).create(user, PASSWORD, Set.of(Role.OPERATOR, Role.AUDITOR), "test");
    }

    @Test
    void aSecretIsShownOnceAndKeptNowhere() {
        Answer made = make("{\"name\": \"nightly\"}");
        String secret = made.at("/secret").asString();

        assertThat(made.status()).isEqualTo(201);
        assertThat(secret).matches("dozo_[A-Za-z0-9_-]{43}");
        assertThat(with(secret, "GET", "/me").at("/name").asString()).isEqualTo(user);
        assertThat(with(secret, "GET", "/me/tokens").text())
                .contains("nightly")
                .contains("lastUsedAt")
                .doesNotContain(secret.substring(6));
        assertThat(service.bean(JdbcClient.class)
                        .sql("select string_agg(to_jsonb(t)::text, '') from api_token t")
                        .query((row, n) -> row.getString(1))
                        .single())
                .contains("nightly")
                .doesNotContain(secret.substring(6));
        assertThat(service.bean(Ledger.class).after(0, 10_000))
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
        String secret = made.at("/secret").asString();

        assertThat(with(secret, "DELETE", "/me/tokens/" + made.at("/id").asInt())
                        .status())
                .isEqualTo(204);

        assertOver(secret, "revoked");
        assertThat(make("{\"name\": \"t\"}").status()).isEqualTo(201);
    }

    @Test
    void anAdministratorRevokesTheTokensOfOthers() {
        Answer made = make("{\"name\": \"t\"}");
        String path = "/api/v1/users/%s/tokens".formatted(user);
        assertThat(service.get(path).text()).contains("\"t\"");

        assertThat(service.delete(path + "/" + made.at("/id").asInt()).status()).isEqualTo(204);
        assertThat(service.delete(path + "/" + made.at("/id").asInt()).status()).isEqualTo(404);

        assertOver(made.at("/secret").asString(), "revoked");
    }

    @Test
    void anotherUsersTokenIsNotThere() {
        Answer made = make("{\"name\": \"t\"}");

        assertThat(service.delete("/api/v1/me/tokens/" + made.at("/id").asInt()).status())
                .isEqualTo(404);
        assertThat(with(made.at("/secret").asString(), "GET", "/me").status()).isEqualTo(200);
    }

    @Test
    void anExpiredTokenIsOver() {
        String secret = make("{\"name\": \"t\", \"days\": 1}").at("/secret").asString();
        service.bean(JdbcClient.class).sql("""
                        update api_token set created_at = created_at - interval '1 day', expires_at = expires_at - interval '1 day'
                        where user_id = (select user_id from dozo_user where name = :user)
                        """).param("user", user).update();

        assertOver(secret, "expired");
    }

    @Test
    void theTokenOfADisabledUserIsOver() {
        String secret = make("{\"name\": \"t\"}").at("/secret").asString();

        service.patch("/api/v1/users/" + user, "{\"disabled\": true}");

        assertOver(secret, "is disabled");
    }

    @Test
    void aTokenLosesWhatItsUserLoses() {
        String secret = make("{\"name\": \"t\", \"roles\": [\"OPERATOR\"]}")
                .at("/secret")
                .asString();
        assertThat(with(secret, "GET", "/runs").status()).isEqualTo(200);

        service.patch("/api/v1/users/" + user, "{\"roles\": [\"AUDITOR\"]}");

        assertThat(with(secret, "GET", "/runs").status()).isEqualTo(403);
    }

    @Test
    void aTokenHasItsOwnScope() {
        String auditor = make("{\"name\": \"a\", \"roles\": [\"AUDITOR\"]}")
                .at("/secret")
                .asString();
        String reader =
                make("{\"name\": \"r\", \"readOnly\": true}").at("/secret").asString();
        String whole = make("{\"name\": \"w\"}").at("/secret").asString();

        assertThat(with(auditor, "POST", "/runs/4711/stop").at("/detail").asString())
                .contains("OPERATOR");
        assertThat(with(reader, "POST", "/runs/4711/stop").at("/detail").asString())
                .contains("read-only");
        assertThat(with(whole, "POST", "/runs/4711/stop").status()).isEqualTo(404);
        assertThat(with(whole, "POST", "/me/tokens").at("/detail").asString()).contains("tokens do not permit this");
    }

    @Test
    void aTokenForAConsoleOnlyAsksWhetherAStudyMayBeDeleted() {
        Answer made = make("{\"name\": \"console\", \"scope\": \"studies\"}");
        String console = made.at("/secret").asString();

        assertThat(made.at("/scope").asString()).isEqualTo("studies");
        assertThat(made.at("/readOnly").asBoolean()).isTrue();
        assertThat(with(console, "GET", "/studies/2.25.1").status()).isEqualTo(404);
        assertThat(with(console, "GET", "/me").at("/detail").asString())
                .isEqualTo("this token only permits GET /api/v1/studies/{studyInstanceUid}");
        assertThat(with(console, "POST", "/me/tokens").status()).isEqualTo(403);
        assertThat(service.get("/api/v1/users/%s/tokens".formatted(user))
                        .at("/items/0/scope")
                        .asString())
                .isEqualTo("studies");
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
        Answer refused = make(body);

        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.at("/errors/0/field").asString()).isEqualTo(field);
    }

    private void assertOver(String secret, String why) {
        Answer answer = with(secret, "GET", "/me");
        assertThat(answer.status()).isEqualTo(401);
        assertThat(answer.type()).startsWith("application/problem+json");
        assertThat(answer.at("/detail").asString()).contains(why);
    }

    private Answer make(String body) {
        return service.askAs(RunningService.basic(user, PASSWORD), "POST", "/api/v1/me/tokens", body);
    }

    private static Answer with(String secret, String method, String path) {
        return service.askAs("Bearer " + secret, method, "/api/v1" + path, method.equals("POST") ? "" : null);
    }
}
