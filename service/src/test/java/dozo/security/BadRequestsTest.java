package dozo.security;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dozo.RunningService;
import dozo.db.TestDatabase;
import dozo.start.CapturedLog;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that no browser sends: each gets a 4xx response with the common headers, and none fills the log. */
class BadRequestsTest {

    private static final String FORM = "Content-Type: application/x-www-form-urlencoded\r\n";
    private static final String PARTS = "Content-Type: multipart/form-data; boundary=X\r\n";

    /** Security headers of every response, whatever wrote it. */
    private static final List<String> HEADERS = List.of(
            "Content-Security-Policy: default-src 'self';",
            "frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff",
            "X-Frame-Options: DENY",
            "Referrer-Policy: no-referrer");

    @TempDir
    static Path folder;

    @AutoClose
    private static RunningService service;

    private static String cookie = "";

    private CapturedLog log;

    @BeforeAll
    static void start() throws IOException {
        service = RunningService.start(
                folder.resolve("work"), TestDatabase.fresh(), Map.of("spring.main.cloud-platform", "kubernetes"));
        HttpClient browser = service.browser();
        cookie = "Cookie: %s\r\n"
                .formatted(String.join(
                        "; ",
                        browser.cookieHandler()
                                .orElseThrow()
                                .get(URI.create(service.url() + "/"), Map.of())
                                .get("Cookie")));
    }

    @BeforeEach
    void listen() {
        log = new CapturedLog();
    }

    @AfterEach
    void stopListening() {
        log.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "C.UTF-8",
                ";",
                "en;q=x",
                "",
                "ja;q=2",
                "-",
                "--",
                ",",
                "en-",
                "*",
                "x-",
                "a,b,,;q=",
                "\u00ff",
                "日本",
                "en;q=0.5, nonsense_______too_long_for_a_language"
            })
    void aLanguageThatCannotBeReadIsAsNone(String header) throws IOException {
        String asked = "Accept: text/html\r\nAccept-Language: " + header + "\r\n";

        assertThat(get("/login", asked)).startsWith("HTTP/1.1 200").contains("<html lang=\"en\"");
        assertThat(get("/", asked + cookie)).startsWith("HTTP/1.1 200").contains("<html lang=\"en\"");
        assertThat(get("/nix", asked + cookie)).startsWith("HTTP/1.1 404").contains("<html lang=\"en\"");
        assertThat(get("/api/v1/me", asked)).startsWith("HTTP/1.1 401");
        assertQuiet();
    }

    @Test
    void aLanguageAsProgramsWriteItIsUnderstood() throws IOException {
        for (String japanese : List.of("ja_JP", "ja_JP;q=0.9", "C.UTF-8, ja", "JA-jp", "fr, en;q=0.1, ja;q=0.9")) {
            assertThat(get("/login", "Accept-Language: " + japanese + "\r\n"))
                    .as(japanese)
                    .contains("<html lang=\"ja\"");
        }
        for (String english : List.of("en_US", "en_US, ja", "ja;q=0.1, en_GB.UTF-8, en;q=0.2")) {
            assertThat(get("/login", "Accept-Language: " + english + "\r\n"))
                    .as(english)
                    .contains("<html lang=\"en\"");
        }
        assertQuiet();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/?lang=%",
                "/?lang=%25&x=%FF",
                "/?q=%FF",
                "/?%FF",
                "/experiments?q=%FF",
                "/runs?after=%zz",
                "/login?x=%FF",
                "/login?lang=%",
                "/dozo.css?x=%FF",
                "/gaps.csv?from=%FF",
                "/?x=%ED%A0%80",
                "/?%08=1"
            })
    void aQueryThatCannotBeReadIsABadRequest(String path) throws IOException {
        String page = get(path, "Accept: text/html\r\n" + cookie);

        assertThat(page)
                .startsWith("HTTP/1.1 400")
                .contains("Content-Type: text/html")
                .doesNotContain("Exception", "\tat ");
        assertHeaders(page);
        assertThat(get(path, "Accept: text/html\r\n")).startsWith("HTTP/1.1 400");
        assertThat(get(path, cookie)).startsWith("HTTP/1.1 400");
        for (String other : List.of("/nix", "/logout", "/actuator/health", "/error")) {
            assertThat(get(other + "?x=%FF", cookie)).as(other).matches("(?s)HTTP/1.1 (200|40[04]) .*");
        }
        assertThat(get("/error?x=%FF", "Accept: text/html\r\n" + cookie)).startsWith("HTTP/1.1 404");
        assertThat(get("/api/v1/projects?after=%FF", authorization()))
                .startsWith("HTTP/1.1 400")
                .contains("application/problem+json");
        assertQuiet();
    }

    @Test
    void thePageOfErrorsIsNoAddress() throws IOException {
        String page = get("/error", "Accept: text/html\r\n" + cookie);

        assertThat(page).startsWith("HTTP/1.1 404").contains("Not found");
        assertThat(get("/error", cookie)).startsWith("HTTP/1.1 404").doesNotContain("999");
        assertThat(get("/error", "Accept: text/html\r\n")).startsWith("HTTP/1.1 302");
        assertQuiet();
    }

    @Test
    void aFormThatCannotBeReadIsABadRequest() throws IOException {
        for (String path : List.of("/login", "/logout", "/do/post/runs", "/do/put/me/password", "/nix", "/error")) {
            for (String body : List.of("_csrf=%FF", "a=%", "%zz=1", "username=%FF&_csrf=x", "a=1&".repeat(2_000))) {
                String answer = post(path, "Accept: text/html\r\n" + cookie + FORM, body);
                assertThat(answer)
                        .as(path + " " + body)
                        .startsWith("HTTP/1.1 400")
                        .contains("text/html");
                assertHeaders(answer);
            }
        }
        assertThat(post("/login", FORM + "Transfer-Encoding: chunked\r\n", "zz\r\nx"))
                .startsWith("HTTP/1.1 400");
        assertQuiet();
    }

    @Test
    void partsThatCannotBeReadAreRefused() throws IOException {
        String cut = "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nabc";
        String many = "--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n".repeat(300) + "--X--\r\n";
        for (String path : List.of("/login", "/register/csv", "/gaps/bookings", "/do/post/runs")) {
            for (String body : List.of("garbage", cut, many, "--X\r\nContent-Disp\u00ff\r\n\r\nabc\r\n--X--\r\n")) {
                for (String type : List.of(PARTS, "Content-Type: multipart/form-data\r\n")) {
                    String answer = post(path, "Accept: text/html\r\n" + cookie + type, body);
                    assertThat(answer)
                            .as(path + " " + type + body)
                            .startsWith("HTTP/1.1 4")
                            .contains("text/html");
                    assertHeaders(answer);
                }
            }
        }
        assertQuiet();
    }

    @Test
    void aBodyThatBreaksOffIsNoMatterOfTheLog() throws IOException {
        for (String path : List.of("/api/v1/projects", "/api/v1/experiments/bulk", "/api/v1/bookings/bulk")) {
            String type = path.endsWith("bulk") ? "text/csv" : "application/json";
            String head = authorization() + "Content-Type: " + type + "\r\nTransfer-Encoding: chunked\r\n";
            assertThat(post(path, head, "zz\r\nx")).as(path).startsWith("HTTP/1.1 400");
        }
        assertQuiet();
    }

    @Test
    void whatTomcatAnswersByItselfHasTheHeadersOfEveryAnswer() throws IOException {
        for (String request : List.of(
                "GET /% HTTP/1.1\r\nHost: localhost",
                "GET /%FF HTTP/1.1\r\nHost: localhost",
                "GET /%00 HTTP/1.1\r\nHost: localhost",
                "GET /a%2fb HTTP/1.1\r\nHost: localhost",
                "GET /.. HTTP/1.1\r\nHost: localhost",
                "GET //x HTTP/1.1\r\nHost: localhost",
                "GET /a;b HTTP/1.1\r\nHost: localhost",
                "GET /a b HTTP/1.1\r\nHost: localhost",
                "GET /\\x HTTP/1.1\r\nHost: localhost",
                "GET /login HTTP/1.1\r\nHost: localhost\r\nHost: localhost",
                "GET /login HTTP/1.1\r\nHost: a b",
                "GET /login HTTP/1.1\r\nHost: [::1",
                "GET /login HTTP/1.1\r\nX: y",
                "GET /login HTTP/1.1\r\nHost: localhost\r\nX: " + "a".repeat(9_000),
                "GET /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: x",
                "GET /login HTTP/1.1\r\nHost: localhost\r\nCookie: dozo-language=\u0001",
                "GET /login HTTP/1.1\r\nHost: localhost\r\nExpect: x",
                "TRACE /login HTTP/1.1\r\nHost: localhost",
                "TRACE /api/v1/me HTTP/1.1\r\nHost: localhost",
                "GET /api/v1/% HTTP/1.1\r\nHost: localhost",
                "POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: foo",
                "GET /login HTTQ/1.1\r\nHost: localhost",
                "GET /login HTTP/2.0\r\nHost: localhost",
                "\u0016\u0003\u0001\u0002")) {
            String answer = send(request + "\r\nAccept: text/html\r\nConnection: close\r\n\r\n");
            assertThat(answer)
                    .as(request)
                    .matches("(?s)HTTP/1.1 (4\\d\\d|501|505) .*")
                    .doesNotContain("Tomcat", "Apache", "Exception", "Server:");
            assertHeaders(answer);
        }
        assertQuiet();
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "PUT", "DELETE", "PROPFIND", "FOO", "PATCH", "OPTIONS", "CONNECT", "QUERY"})
    void aMethodThatIsNotThereIsNoDefect(String method) throws IOException {
        for (String path : List.of("/", "/login", "/nix", "/do/post/runs", "/error", "/actuator/health", "/dozo.css")) {
            String answer = send("%s %s HTTP/1.1\r\nHost: localhost\r\n%sConnection: close\r\n\r\n"
                    .formatted(method, path, "Accept: text/html\r\n" + cookie));
            assertThat(answer).as(path).matches("(?s)HTTP/1.1 (2\\d\\d|3\\d\\d|4\\d\\d|501) .*");
            assertHeaders(answer);
        }
        assertQuiet();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Cookie: JSESSIONID=\u00ff",
                "Cookie: a=b;;;=",
                "Cookie: \"",
                "Cookie: JSESSIONID=\"a",
                "Cookie: dozo-language=\"ja; dozo-theme==",
                "Accept: x",
                "Accept: */*;q=x",
                "Accept-Encoding: \u00ff",
                "Content-Type: /",
                "Content-Type: text/html; charset=nix",
                "Range: bytes=9-1",
                "If-None-Match: \"",
                "If-Modified-Since: x",
                "Authorization: Basic x",
                "Authorization: Bearer",
                "X-Forwarded-For: \u00ff",
                "Upgrade: websocket"
            })
    void aHeaderThatCannotBeReadIsNoDefect(String header) throws IOException {
        for (String path : List.of("/login", "/", "/dozo.css", "/api/v1/projects", "/actuator/health")) {
            assertThat(get(path, header + "\r\n")).as(path).matches("(?s)HTTP/1.1 [234]\\d\\d .*");
        }
        assertQuiet();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-300000000-01-01",
                "%2B999999999-12-31",
                "-4714-01-01",
                "0000-01-01",
                "9999-12-31",
                "0001-01-01",
                "%2B1000000000-12-31T23:59:59.999999999Z",
                "99999999999999999999",
                "-9223372036854775809",
                "%00",
                "2020-02-30",
                ",",
                "%F0%9F%98%80"
            })
    void aValueThatCannotBeIsNoDefectOfAPage(String value) throws IOException {
        List<String> parameters =
                List.of("from", "until", "asOf", "after", "site", "by", "state", "kind", "project", "run");
        for (String path : List.of(
                "/",
                "/experiments",
                "/runs",
                "/findings",
                "/gaps",
                "/gaps.csv",
                "/audit",
                "/audit/proof",
                "/audit/coverage.csv",
                "/arrivals",
                "/origins",
                "/register/suggestions")) {
            for (String parameter : parameters) {
                assertThat(get("%s?%s=%s".formatted(path, parameter, value), "Accept: text/html\r\n" + cookie))
                        .as("%s?%s", path, parameter)
                        .matches("(?s)HTTP/1.1 [234]\\d\\d .*");
            }
        }
        for (String list : List.of("/audit/changes.csv", "/audit/waits.csv")) {
            assertThat(get("%s?from=%s&until=2026-01-01".formatted(list, value), cookie))
                    .matches("(?s)HTTP/1.1 [24]\\d\\d .*");
            assertThat(get("%s?from=2026-01-01&until=%s".formatted(list, value), cookie))
                    .matches("(?s)HTTP/1.1 [24]\\d\\d .*");
        }
        assertQuiet();
    }

    private static String get(String path, String headers) throws IOException {
        return send("GET %s HTTP/1.1\r\nHost: localhost\r\n%sConnection: close\r\n\r\n".formatted(path, headers));
    }

    private static String post(String path, String headers, String body) throws IOException {
        String length = headers.contains("Transfer-Encoding") ? "" : "Content-Length: %d\r\n".formatted(body.length());
        return send("POST %s HTTP/1.1\r\nHost: localhost\r\n%s%sConnection: close\r\n\r\n%s"
                .formatted(path, headers, length, body));
    }

    private static String authorization() {
        return "Authorization: %s\r\n".formatted(RunningService.basic("admin", service.password()));
    }

    private static String send(String request) throws IOException {
        URI at = URI.create(service.url());
        try (Socket socket = new Socket(at.getHost(), at.getPort())) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static void assertHeaders(String answer) {
        assertThat(answer.substring(0, answer.indexOf("\r\n\r\n"))).contains(HEADERS);
    }

    /** Asserts that wrong requests are not logged: only the client needs to know. */
    private void assertQuiet() {
        assertThat(log.events())
                .noneSatisfy(event -> assertThat(event.getThrowableProxy()).isNotNull())
                .noneSatisfy(event -> assertThat(event.getLevel().isGreaterOrEqual(Level.WARN))
                        .isTrue());
    }
}
