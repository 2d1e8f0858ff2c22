package dozo.start;

import static dozo.RunningService.basic;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import com.zaxxer.hikari.HikariDataSource;
import dozo.Answer;
import dozo.RunningService;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * While an external database is away, every request fails at once, the log says so once, and everything continues when
 * it is back.
 */
@StartsServices(8)
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

    /** A server that refuses connections is waited for, also by a service that then stands by. */
    @Test
    void aServiceThatStandsByWaitsForADatabaseThatRefuses() throws Exception {
        try (RunningService active = RunningService.start(folder, database, Map.of("dozo.service.name", "one"));
                CapturedLog log = new CapturedLog()) {
            relay.refuse();
            Map<String, String> settings = new HashMap<>(settings());
            settings.put("dozo.service.name", "two");
            CompletableFuture<RunningService> starting =
                    CompletableFuture.supplyAsync(() -> RunningService.start(folder, database, settings));
            await().atMost(LIMIT).until(() -> log.count("does not answer yet; waiting up to 600 s") == 1);

            relay.open();

            try (RunningService other = starting.get()) {
                other.get("/api/v1/service").has("/active", false);
                active.get("/api/v1/service").has("/active", true);
            }
        }
    }

    @Test
    void aWorkerWaitsForADatabaseThatStartsUp() throws Exception {
        RunningService.start(folder, database, Map.of()).close();
        Path output = folder.resolve("output");
        Process worker;
        try (StartingServer server = new StartingServer(relay)) {
            worker = ServeProcess.startWorker(
                    List.of(),
                    folder,
                    output,
                    Map.of(
                            "DOZO_DB_URL",
                            settings().get("dozo.db.url"),
                            "DOZO_DB_USER",
                            String.valueOf(database.getUsername()),
                            "DOZO_DB_PASSWORD",
                            String.valueOf(database.getPassword()),
                            "DOZO_DB_START_WAIT",
                            "10m"));
            await().atMost(LIMIT).until(() -> server.asked() > 2);
        }
        try {
            assertThat(Files.readString(output)).contains("does not answer yet; waiting up to 600 s");
            await().atMost(LIMIT)
                    .ignoreExceptionsInstanceOf(BindException.class)
                    .until(() -> {
                        relay.open();
                        return true;
                    });
            await().atMost(LIMIT)
                    .failFast(() -> !worker.isAlive())
                    .until(() -> Files.readString(output).contains("this worker waits for work"));
        } finally {
            worker.destroyForcibly();
        }
    }

    @Test
    void aDatabaseWhoseNameIsNotKnownIsWaitedForToo() {
        Map<String, String> settings = new HashMap<>(settings());
        settings.put("dozo.db.url", "jdbc:postgresql://database.invalid:5432/dozo");
        settings.put("dozo.db.start-wait", "2s");
        long began = System.nanoTime();

        StartFailure failure = StartFailure.of(catchThrowable(() -> RunningService.start(folder, database, settings)))
                .orElseThrow();

        assertThat(failure.exitCode()).isEqualTo(69);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofSeconds(2));
    }

    /** A PostgreSQL that has just been started: it answers, and admits nobody yet (57P03). */
    private static final class StartingServer implements AutoCloseable {

        private static final int SSL_REQUEST = 80877103;

        private final ServerSocket listening = new ServerSocket();
        private final AtomicInteger asked = new AtomicInteger();

        /** Listens in the place of a relay. */
        StartingServer(Relay relay) throws IOException {
            relay.refuse();
            listening.setReuseAddress(true);
            InetSocketAddress there = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), relay.port());
            // A thread that still accepts holds the port for a moment.
            await().atMost(LIMIT)
                    .ignoreExceptionsInstanceOf(BindException.class)
                    .until(() -> {
                        listening.bind(there);
                        return true;
                    });
            Thread.ofPlatform().daemon().start(() -> {
                while (!listening.isClosed()) {
                    try (Socket client = listening.accept()) {
                        answer(client);
                    } catch (IOException closed) {
                        // The client has left, or this server is closed.
                    }
                }
            });
        }

        private void answer(Socket client) throws IOException {
            DataInputStream in = new DataInputStream(client.getInputStream());
            DataOutputStream out = new DataOutputStream(client.getOutputStream());
            int length = in.readInt();
            int code = in.readInt();
            if (code == SSL_REQUEST) {
                out.writeByte('N');
                length = in.readInt();
                code = in.readInt();
            }
            in.readNBytes(length - 2 * Integer.BYTES);
            byte[] fields = "SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0".getBytes(US_ASCII);
            out.writeByte('E');
            out.writeInt(Integer.BYTES + fields.length);
            out.write(fields);
            out.flush();
            asked.incrementAndGet();
        }

        int asked() {
            return asked.get();
        }

        @Override
        public void close() throws IOException {
            listening.close();
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
