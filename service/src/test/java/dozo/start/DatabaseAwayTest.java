package dozo.start;

import static dozo.RunningService.basic;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import com.zaxxer.hikari.HikariDataSource;
import dozo.Answer;
import dozo.RunningService;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * While an external database is away, every request fails at once, the log says so once, and everything continues when
 * it is back.
 */
@StartsServices(4)
class DatabaseAwayTest {

    /** On an idle machine a response takes milliseconds, at most 2 s; without the watch it took 30 s. */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);

    private static final Duration LIMIT = Duration.ofMinutes(5);

    @TempDir
    Path folder;

    private final HikariDataSource database = TestDatabase.fresh();

    @AutoClose
    private Relay relay;

    private Duration slowest = Duration.ZERO;

    @BeforeEach
    void open() throws IOException {
        relay = new Relay(
                URI.create(database.getJdbcUrl().substring("jdbc:".length())).getPort());
        relay.open();
    }

    @Test
    void everybodyIsToldToComeAgainAndTheServiceGoesOnByItself() throws Exception {
        try (RunningService service = RunningService.start(folder, database, settings());
                CapturedLog log = new CapturedLog()) {
            String password = service.password();
            HttpClient browser = service.browser();
            String token =
                    service.post("/api/v1/me/tokens", "{\"name\": \"nightly\"}").string("/secret");

            relay.refuse();
            assertTold(timed(() -> service.get("/api/v1/projects")));
            // Earlier, the pool may still hand out a lost connection, whose statement fails.
            await().atMost(LIMIT).until(() -> log.count("does not answer") == 1);
            CompletableFuture<Long> schedule = CompletableFuture.supplyAsync(() -> users(service));

            assertTold(timed(() -> service.get("/api/v1/projects")));
            assertTold(timed(() -> service.with(RunningService.basic("admin", "wrong " + password))
                    .get("/api/v1/projects")));
            assertTold(timed(() -> service.with("Bearer " + token).get("/api/v1/projects")));
            assertTold(timed(() -> service.with("Bearer dozo_wrong").get("/api/v1/projects")));
            assertTold(timed(() -> service.with(basic("nobody", "x")).post("/api/v1/projects", "{}")));
            assertPage(timed(() -> service.look(browser, "/", "en")), "Not now", "The database does not answer");
            assertPage(timed(() -> service.look(browser, "/runs", "ja")), "今は表示できません", "データベースが応答しません");
            for (String tried : List.of(password, "wrong")) {
                HttpClient fresh = HttpClient.newBuilder()
                        .cookieHandler(new java.net.CookieManager())
                        .build();
                assertPage(
                        timed(() -> service.submit(fresh, "/login", "username=admin&password=" + tried)),
                        "Not now",
                        "The database does not answer");
            }
            Answer health = timed(() -> service.with(null).get("/actuator/health"));
            health.expect(503);
            health.has("/status", "DOWN");
            await().atMost(LIMIT).until(() -> log.count("does not answer") == 1);

            relay.open();
            await().atMost(LIMIT)
                    .until(() -> service.with(null).get("/actuator/health").status() == 200);
            service.get("/api/v1/projects").expect(200);
            service.look(browser, "/", "en").expect(200);
            service.with(RunningService.basic("admin", "wrong"))
                    .get("/api/v1/projects")
                    .expect(401);
            assertThat(schedule.get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .as("what is no request waited")
                    .isPositive();
            assertQuiet(log);
            System.out.printf("the slowest of all answers without a database: %d ms%n", slowest.toMillis());
        }
    }

    /** A server whose connection was cut does not notice, and keeps the lock of the service's former session. */
    @Test
    void theServiceIsNotTakenForAnotherOne() throws Exception {
        try (RunningService service = RunningService.start(folder, database, settings());
                CapturedLog log = new CapturedLog()) {
            for (int i = 1; i <= 3; i++) {
                int cut = i;
                relay.refuse();
                await().atMost(LIMIT).until(() -> log.count("does not answer") == cut);
                relay.open();
                await().atMost(LIMIT).until(() -> log.count("answers again") == cut);
            }
            service.get("/api/v1/projects").expect(200);
        }
    }

    @Test
    void aStartWaitsForADatabaseThatIsNotThereYet() throws Exception {
        relay.turnAway();
        CompletableFuture<RunningService> starting =
                CompletableFuture.supplyAsync(() -> RunningService.start(folder, database, settings()));
        await().atMost(LIMIT).until(() -> relay.turnedAway() > 2);

        relay.letThrough();

        try (RunningService service = starting.get()) {
            service.get("/api/v1/projects").expect(200);
        }
    }

    private Map<String, String> settings() {
        return Map.of(
                "dozo.db.url",
                database.getJdbcUrl().replaceFirst(":\\d+/", ":" + relay.port() + "/"),
                "dozo.db.start-wait",
                "10m",
                "dozo.db.request-limit",
                "2s",
                RunningService.CLOCK,
                "on");
    }

    /** A long statement of a request is cancelled; other work waits as long as necessary. */
    @Test
    void aRequestThatAsksTheDatabaseForTooLongIsToldToComeAgain() throws Exception {
        try (RunningService service = RunningService.start(folder, database, settings());
                Connection other = database.getConnection()) {
            other.setAutoCommit(false);
            try (Statement lock = other.createStatement()) {
                lock.execute("lock table project in access exclusive mode");
            }
            CompletableFuture<Long> work =
                    CompletableFuture.supplyAsync(() -> service.count("select count(*) from project"));

            assertTold(timed(() -> service.get("/api/v1/projects")));

            assertThat(work.isDone()).isFalse();
            other.rollback();
            assertThat(work.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isZero();
            service.get("/api/v1/projects").expect(200);
        }
    }

    private static long users(RunningService service) {
        return service.count("select count(*) from dozo_user");
    }

    private <T> T timed(Callable<T> asked) throws Exception {
        long begin = System.nanoTime();
        T answer = asked.call();
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        slowest = took.compareTo(slowest) > 0 ? took : slowest;
        assertThat(took).isLessThan(ANSWER_LIMIT);
        return answer;
    }

    private static void assertTold(Answer answer) {
        answer.isProblem(503);
        assertThat(answer.string("/detail")).contains("the database does not answer");
        assertThat(answer.headers().firstValueAsLong("Retry-After").orElse(0)).isPositive();
    }

    private static void assertPage(Answer page, String title, String text) {
        page.expect(503);
        assertThat(page.headers().firstValueAsLong("Retry-After").orElse(0)).isPositive();
        assertThat(page.headers().firstValue("Content-Security-Policy")).isPresent();
        assertThat(page.text()).contains("<h1>" + title + "</h1>").contains(text);
    }

    /** Asserts one line when the database is away, one when it is back, and no stack trace. */
    private static void assertQuiet(CapturedLog log) {
        assertThat(log.events())
                .noneSatisfy(event -> assertThat(event.getThrowableProxy()).isNotNull());
        assertThat(log.events().stream().filter(event -> event.getLevel().isGreaterOrEqual(Level.WARN)))
                .extracting(ILoggingEvent::getFormattedMessage)
                .satisfiesExactly(
                        away -> assertThat(away).contains("the database does not answer"),
                        back -> assertThat(back).contains("answers again after"));
    }
}
