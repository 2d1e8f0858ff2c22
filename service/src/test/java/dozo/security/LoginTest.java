package dozo.security;

import static dozo.RunningService.PASSWORD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.Answer;
import dozo.RunningService;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.people.Role;
import dozo.start.CapturedLog;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;

/** Logins: sessions, guessing, and the headers of every response. */
@StartsServices(3)
class LoginTest {

    private static final Map<String, String> BEHIND_PROXY = Map.of("dozo.http.tls-proxy", "127.0.0.1");

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    @BeforeEach
    void start() {
        service = RunningService.shared(BEHIND_PROXY);
        service.createUser("tanaka", Role.OPERATOR);
    }

    /** Takes a service of its own, which remembers who has guessed. */
    private void startOwn() {
        service.close();
        service = RunningService.start(folder.resolve("work"), TestDatabase.fresh(), BEHIND_PROXY);
        service.createUser("tanaka", Role.OPERATOR);
    }

    @Test
    void whoGuessesIsToldToWaitAndWhoKnowsIsNot() {
        startOwn();
        service.get("/api/v1/me").expect(200);
        for (int i = 0; i < Throttle.PAIR_FAILURES_FREE; i++) {
            as("admin", "guess" + i).expect(401);
        }

        // The first wait is a second, which may be over before a busy machine sends the next guess. Each wait is twice
        // as
        // long as the one before.
        Answer guessed = as("admin", "another guess");
        for (int i = 0; i < 5 && guessed.status() == 401; i++) {
            guessed = as("admin", "one more guess " + i);
        }

        guessed.isProblem(429);
        assertThat(Integer.parseInt(guessed.headers().firstValue("Retry-After").orElseThrow()))
                .isBetween(1, 60);
        service.get("/api/v1/me").expect(200);
    }

    @Test
    void aThousandGuessesCostFewHashesAndLockNobodyOutWhoKnows() throws Exception {
        startOwn();
        service.get("/api/v1/me").expect(200);
        as("tanaka", PASSWORD).expect(200);
        List<Future<Integer>> guesses = new ArrayList<>();
        try (ExecutorService many = Executors.newVirtualThreadPerTaskExecutor()) {
            Semaphore atOnce = new Semaphore(50);
            for (int i = 0; i < 1_000; i++) {
                String name = i % 2 == 0 ? "tanaka" : "name" + i;
                atOnce.acquire();
                guesses.add(many.submit(() -> {
                    try {
                        return as(name, "guess").status();
                    } finally {
                        atOnce.release();
                    }
                }));
            }
        }

        int looked = 0;
        for (Future<Integer> guess : guesses) {
            assertThat(guess.get()).isIn(401, 429);
            looked += guess.get() == 401 ? 1 : 0;
        }
        System.out.printf("1,000 guesses: %d were looked at%n", looked);
        assertThat(looked).isLessThan(100);
        service.get("/api/v1/me").expect(200);
        as("tanaka", PASSWORD).expect(200);
    }

    @Test
    void anUnknownNameTakesAsLongAsAWrongPassword() {
        long unknown = Long.MAX_VALUE;
        long wrong = Long.MAX_VALUE;
        double ratio = Double.NaN;
        as("warm", "up");
        // Takes the fastest of each, because other processes use the processors. On a busy machine that may take many
        // attempts.
        for (int i = 1; i <= 40 && (i <= 5 || ratio < 0.5 || ratio > 2.0); i++) {
            unknown = Math.min(unknown, nanos("nobody", "198.51.100." + i));
            wrong = Math.min(wrong, nanos("tanaka", "198.51.100." + i));
            ratio = (double) unknown / wrong;
        }
        System.out.printf("unknown name / wrong password: %.2f%n", ratio);
        assertThat(ratio).isBetween(0.5, 2.0);
    }

    @Test
    void aSessionBeginsAtLoginWithANameThatOnlyTlsCarries() throws Exception {
        HttpClient plain = HttpClient.newHttpClient();
        Answer login = logIn(plain, "");

        login.expect(302);
        assertThat(cookie(login, "__Host-dozo="))
                .contains("HttpOnly")
                .contains("Secure")
                .contains("SameSite=Lax")
                .contains("Path=/");
    }

    @Test
    void whoHasNotLoggedInHasNoSession() throws Exception {
        HttpClient plain = HttpClient.newHttpClient();
        for (String path : List.of("/login", "/", "/findings?page=2", "/nothing", "/login?error", "/actuator/health")) {
            assertThat(send(plain, request(path).header("Accept", "text/html").build())
                            .headers()
                            .allValues("Set-Cookie"))
                    .as(path)
                    .noneMatch(cookie -> cookie.startsWith("__Host-dozo="));
        }
    }

    @Test
    void afterTheLoginComesThePageThatWasWantedIfItsAddressIsNotTooLong() throws Exception {
        HttpClient plain = HttpClient.newHttpClient();
        Answer wanted = send(
                plain, request("/findings?page=2").header("Accept", "text/html").build());
        Answer tooLong = send(
                plain,
                request("/findings?page=" + "2".repeat(5_000))
                        .header("Accept", "text/html")
                        .build());

        tooLong.expect(302);
        assertThat(tooLong.headers().allValues("Set-Cookie")).isEmpty();
        Answer login = logIn(plain, value(cookie(wanted, "REDIRECT_URI=")) + "; ");
        assertThat(login.header("Location")).isEqualTo("/findings?page=2");
    }

    @Test
    void aLargeBodyAtTheLoginIsRefusedUnread() throws Exception {
        try (Socket socket = post("192.0.2.8", 8193, "")) {
            assertThat(statusLine(socket)).startsWith("HTTP/1.1 413");
        }
    }

    @Test
    void fewThreadsWaitForTheSlowBodiesOfOneAddress() throws Exception {
        List<Socket> slow = new ArrayList<>();
        AtomicInteger over = new AtomicInteger();
        try (ExecutorService many = Executors.newVirtualThreadPerTaskExecutor()) {
            try {
                for (int i = 0; i < 60; i++) {
                    Socket socket = post("192.0.2.9", 1_000, "username=");
                    slow.add(socket);
                    many.submit(() -> {
                        // NB: empty if the connection is closed before all of the refusal is read.
                        var _ = statusLine(socket);
                        return over.incrementAndGet();
                    });
                }

                await().atMost(Duration.ofMinutes(1)).until(over::get, count -> count >= 40);
                service.get("/actuator/health").expect(200);
                as("tanaka", PASSWORD).expect(200);
            } finally {
                for (Socket each : slow) {
                    each.close();
                }
            }
        }
    }

    @Test
    void oneAddressCannotTakeAllConnectionsUnlessItIsTheProxy() throws Exception {
        InetAddress client = InetAddress.getByName("127.0.0.3");
        URI uri = URI.create(service.url());
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < Connections.OF_ADDRESS_MAX; i++) {
                silent.add(new Socket(uri.getHost(), uri.getPort(), client, 0));
            }
            try (Socket oneMore = new Socket(uri.getHost(), uri.getPort(), client, 0)) {
                assertThat(statusLine(oneMore)).isEmpty();
            }
            // NB: tests reach the service from the proxy's address.
            service.get("/actuator/health").expect(200);
        } finally {
            for (Socket each : silent) {
                each.close();
            }
        }
        await().atMost(Duration.ofMinutes(1)).until(() -> {
            try (Socket again = new Socket(uri.getHost(), uri.getPort(), client, 0)) {
                again.getOutputStream().write("GET /login HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                return statusLine(again).startsWith("HTTP/1.1");
            }
        });
    }

    @Test
    void aBodyThatComesTooSlowlyIsGivenUp() throws Exception {
        try (Socket socket = post("192.0.2.10", 8_000, "username=");
                ScheduledExecutorService drip = Executors.newScheduledThreadPool(1)) {
            ScheduledFuture<?> drops = drip.scheduleAtFixedRate(
                    () -> {
                        try {
                            socket.getOutputStream().write('x');
                        } catch (IOException closed) {
                            throw new UncheckedIOException(closed);
                        }
                    },
                    0,
                    100,
                    TimeUnit.MILLISECONDS);
            var _ = statusLine(socket);

            await().atMost(Duration.ofMinutes(1)).until(drops::isDone);
        }
    }

    @Test
    void refusalsAreLoggedInOneFormAndFewOfAnAddress() throws Exception {
        List<String> said = new ArrayList<>();
        List<String> lines;
        try (CapturedLog log = new CapturedLog("dozo.security.Refusals")) {
            var _ = from("192.0.2.20", RunningService.basic("ta\nnaka\"", "guess"), "/api/v1/me");
            var _ = from("192.0.2.21", "Bearer dozo_nothing", "/api/v1/me");
            var _ = from("192.0.2.22", RunningService.basic("tanaka", PASSWORD), "/api/v1/users");
            while (from("192.0.2.23", RunningService.basic("suzuki", "guess"), "/api/v1/me")
                            .status()
                    != 429) {
                // The wait grows with each guess.
            }
            said.add(log.messages().getLast());
            for (int i = 0; i < 40; i++) {
                var _ = send(
                        HttpClient.newHttpClient(),
                        request("/login").POST(BodyPublishers.ofString("x")).build());
            }
            lines = log.messages();
        }

        assertThat(said).as("too many requests").containsExactly("refused login from 192.0.2.23 user \"suzuki\"");
        assertThat(lines)
                .filteredOn(line -> !line.contains("192.0.2.23"))
                .contains(
                        "refused login from 192.0.2.20 user \"ta?naka?\"",
                        "refused token from 192.0.2.21 user \"\"",
                        "refused request from 192.0.2.22 user \"tanaka\"",
                        "refused form from 192.0.2.7 user \"\"")
                // A minute may end meanwhile.
                .hasSizeLessThanOrEqualTo(3 + 39);
        String filter = Files.readString(Path.of("../docs/run/people.md"))
                .replaceAll("(?s).*\nfailregex = ([^\n]+)\n.*", "$1")
                .replace("<HOST>", "([0-9.]+)");
        assertThat(lines).allMatch(line -> ("INFO  Refusals               " + line).matches(filter));
    }

    private Answer from(String address, String authorization, String path) {
        return service.with(authorization).ask("GET", path, null, "X-Forwarded-For", address);
    }

    /** Begins to post a form. */
    private Socket post(String address, int bytes, String part) throws IOException {
        URI uri = URI.create(service.url());
        Socket socket = new Socket(uri.getHost(), uri.getPort());
        socket.setSoTimeout(60_000);
        socket.getOutputStream().write("""
                POST /login HTTP/1.1\r
                Host: localhost\r
                X-Forwarded-For: %s\r
                X-Forwarded-Proto: https\r
                Content-Type: application/x-www-form-urlencoded\r
                Content-Length: %d\r
                \r
                %s""".formatted(address, bytes, part).getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** Returns the first line of the response; an empty one if the connection ends before. */
    private static String statusLine(Socket socket) {
        try {
            String line = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                    .readLine();
            return line == null ? "" : line;
        } catch (IOException closed) {
            return "";
        }
    }

    /** Sends the form of the login with its cookie, after these. */
    private Answer logIn(HttpClient plain, String cookies) throws Exception {
        Answer form =
                send(plain, request("/login").header("Accept", "text/html").build());
        String csrf = form.text().replaceAll("(?s).*name=\"_csrf\"[^>]*value=\"([^\"]+)\".*", "$1");
        String all = cookies + value(cookie(form, "__Host-dozo-form="));
        return send(
                plain,
                request("/login")
                        .header("Cookie", all)
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(
                                "username=tanaka&password=%s&_csrf=%s".formatted(PASSWORD.replace(" ", "+"), csrf)))
                        .build());
    }

    private static String value(String cookie) {
        return cookie.replaceAll(";.*", "");
    }

    @Test
    void aLoginWithoutItsFormIsRefused() throws Exception {
        send(
                        HttpClient.newHttpClient(),
                        request("/login")
                                .header("Content-Type", "application/x-www-form-urlencoded")
                                .POST(BodyPublishers.ofString("username=tanaka&password=" + PASSWORD.replace(" ", "+")))
                                .build())
                .expect(403);
    }

    @Test
    void answersAreKeptByNobodyAndSayWhatABrowserMay() throws Exception {
        Answer answer = send(
                HttpClient.newHttpClient(),
                request("/api/v1/me")
                        .header("Authorization", RunningService.basic("tanaka", PASSWORD))
                        .build());

        answer.expect(200);
        assertThat(answer.header("Cache-Control")).contains("no-store");
        assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(answer.header("Content-Security-Policy")).contains("frame-ancestors 'none'");
        assertThat(answer.header("Referrer-Policy")).isEqualTo("no-referrer");
        assertThat(answer.header("Strict-Transport-Security")).contains("max-age=31536000");
        assertThat(answer.header("Cross-Origin-Opener-Policy")).isEqualTo("same-origin");
        assertThat(answer.headers().firstValue("Set-Cookie")).isEmpty();
    }

    @Test
    void ownPasswordsAreChangedWithThePresentOne() {
        String change = "{\"present\": \"%s\", \"password\": \"%s\"}";

        put(change.formatted("not it", "another password")).has("/errors/0/field", "present");
        put(change.formatted(PASSWORD, "short")).has("/errors/0/field", "password");
        put(change.formatted(PASSWORD, "tanaka's new password")).has("/errors/0/field", "password");
        put(change.formatted(PASSWORD, "Password1234")).has("/errors/0/field", "password");
        put(change.formatted(PASSWORD, "another password")).expect(204);

        as("tanaka", PASSWORD).expect(401);
        as("tanaka", "another password").expect(200);
    }

    @Test
    void aCommonPasswordIsRefused() {
        for (String common : List.of("123456789123", "Password1234", "qwertyqwerty")) {
            String fresh = "{\"name\": \"suzuki\", \"password\": \"%s\"}".formatted(common);

            assertThat(service.post("/api/v1/users", fresh).text()).as(common).contains("one of the most common ones");
        }
    }

    @Test
    void aHashByAnEarlierMethodStillHoldsAndIsReplacedAtTheLogin() {
        JdbcClient jdbc = service.jdbc();
        String earlier = "{bcrypt}" + new BCryptPasswordEncoder(4).encode("an earlier password");
        jdbc.sql("update dozo_user set password_hash = :hash where name = 'tanaka'")
                .param("hash", earlier)
                .update();
        String state = "select password_hash || ' ' || stamp from dozo_user where name = 'tanaka'";
        String before = jdbc.sql(state).query(String.class).single();

        as("tanaka", "not it").expect(401);
        assertThat(jdbc.sql(state).query(String.class).single()).isEqualTo(before);
        as("tanaka", "an earlier password").expect(200);

        String after = jdbc.sql(state).query(String.class).single();
        assertThat(after).startsWith("{argon2id}$argon2id$v=19$m=19456,t=2,p=1$");
        assertThat(after.split(" ")[1]).as("sessions continue").isEqualTo(before.split(" ")[1]);
        as("tanaka", "an earlier password").expect(200);
        as("tanaka", "not it").expect(401);
    }

    @Test
    void theAdministratorCannotBeLockedOut() {
        for (String body :
                List.of("{\"disabled\": true}", "{\"roles\": [\"AUDITOR\"]}", "{\"password\": \"another password\"}")) {
            service.patch("/api/v1/users/admin", body).expect(422);
        }
        assertThat(service.get("/api/v1/me").at("/roles").toString()).isEqualTo("[\"ADMIN\"]");
    }

    @Test
    void whoIsDisabledIsOutAtOnce() {
        as("tanaka", PASSWORD).expect(200);

        service.patch("/api/v1/users/tanaka", "{\"disabled\": true}");

        as("tanaka", PASSWORD).expect(401);
    }

    private Answer put(String body) {
        return service.as("tanaka").put("/api/v1/me/password", body);
    }

    private Answer as(String name, String password) {
        return service.with(RunningService.basic(name, password)).get("/api/v1/me");
    }

    private long nanos(String name, String address) {
        long begin = System.nanoTime();
        service.with(RunningService.basic(name, "guess"))
                .ask("GET", "/api/v1/me", null, "X-Forwarded-For", address)
                .expect(401);
        return System.nanoTime() - begin;
    }

    /** Returns a request as a TLS proxy forwards it. */
    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(service.url() + path))
                .header("X-Forwarded-For", "192.0.2.7")
                .header("X-Forwarded-Proto", "https");
    }

    private static Answer send(HttpClient http, HttpRequest request) throws IOException, InterruptedException {
        return Answer.of(http.send(request, BodyHandlers.ofString()));
    }

    private static String cookie(Answer response, String start) {
        return response.headers().allValues("Set-Cookie").stream()
                .filter(cookie -> cookie.startsWith(start))
                .findFirst()
                .orElseThrow(() -> new AssertionError(response.headers().toString()));
    }
}
