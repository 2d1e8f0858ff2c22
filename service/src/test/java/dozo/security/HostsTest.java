package dozo.security;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.RunningService;
import dozo.db.TestDatabase;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Host header: only known hosts get responses, none is repeated in an address, and health checks work under every
 * name.
 */
class HostsTest {

    private static final String LISTED = "Dozo.example.org, 192.0.2.7, [2001:db8::1]";

    @TempDir
    static Path folder;

    @AutoClose
    private static RunningService service;

    /** Starts the service as in a container of an orchestrator. */
    @BeforeAll
    static void start() {
        service = RunningService.start(
                folder.resolve("work"),
                TestDatabase.fresh(),
                Map.of("dozo.http.hosts", LISTED, "spring.main.cloud-platform", "kubernetes"));
    }

    @Test
    void knownHostsAreAnswered() throws IOException {
        for (String host : List.of(
                "localhost",
                "LOCALHOST:1",
                "127.0.0.1",
                "127.0.0.1:8080",
                "[::1]",
                "[::1]:8080",
                "[0:0:0:0:0:0:0:1]",
                "dozo.example.org",
                "DOZO.EXAMPLE.ORG:443",
                "192.0.2.7",
                "[2001:db8::1]:443")) {
            assertThat(get("/login", host)).as(host).startsWith("HTTP/1.1 200");
        }
        assertThat(raw("GET /login HTTP/1.0\r\n\r\n")).as("no header").startsWith("HTTP/1.1 200");
    }

    @Test
    void otherHostsAreRefusedOnEveryAddress() throws IOException {
        for (String host : List.of(
                "evil.example",
                "evil.example:8080",
                "",
                "localhost.evil.example",
                "127.0.0.1.evil.example",
                "192.0.2.8",
                "localhost.")) {
            for (String path : List.of("/", "/login", "/nix", "/dozo.css", "/error")) {
                String page = get(path, host);
                assertThat(page)
                        .as(host + path)
                        .startsWith("HTTP/1.1 421")
                        .contains("text/html", "DOZO_HTTP_HOSTS", "Content-Security-Policy: ")
                        .doesNotContain("Location:", "Set-Cookie", "evil");
            }
            assertThat(get("/api/v1/me", host))
                    .as(host)
                    .startsWith("HTTP/1.1 421")
                    .contains("application/problem+json", "DOZO_HTTP_HOSTS")
                    .doesNotContain("WWW-Authenticate");
        }
    }

    @Test
    void healthIsToldToProbesThatAskByAnyAddress() throws IOException {
        for (String host : List.of("10.1.2.3:8080", "dozo-7f9c.pods.example", "localhost")) {
            assertThat(raw("GET /actuator/health HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n".formatted(host)))
                    .as(host)
                    .startsWith("HTTP/1.1 200")
                    .contains("UP");
        }
        assertThat(get("/actuator/healthy", "10.1.2.3")).startsWith("HTTP/1.1 421");
        assertThat(get("/actuator/health/../../login", "10.1.2.3")).doesNotContain("name=\"password\"");
    }

    @Test
    void noRedirectSaysAHost() throws IOException {
        assertThat(get("/", "localhost:1")).startsWith("HTTP/1.1 302").contains("Location: /login\r\n");
        assertThat(get("/runs/4711?x=1", "localhost:1")).contains("Location: /login\r\n");
        assertThat(get("/login?lang=ja", "localhost:1"))
                .contains("Location: /login\r\n", "Set-Cookie: dozo-language=ja");
    }

    @Test
    void whatAProxySaysOfHostsCountsForNothing() throws IOException {
        String forwarded =
                "X-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\nX-Forwarded-Proto: https\r\n"
                        + "X-Forwarded-Port: 99\r\nX-Forwarded-Prefix: /evil\r\n";
        assertThat(get("/", "localhost", forwarded))
                .contains("Location: /login\r\n")
                .doesNotContain("evil", "Strict-Transport-Security");
        assertThat(get("/login", "evil.example", "X-Forwarded-Host: localhost\r\n"))
                .startsWith("HTTP/1.1 421");
    }

    /** After login, the requested page is shown, whatever host its request named. */
    @Test
    void afterTheLoginThePageThatWasWantedIsShown() throws IOException {
        String first = get("/runs?after=7", "localhost:1");
        String form = get("/login", "localhost:1");
        String cookie = cookies(first) + "; " + cookies(form);
        String token = form.replaceAll("(?s).*name=\"_csrf\"[^>]*value=\"([^\"]+)\".*", "$1");
        String body = "username=admin&password=%s&_csrf=%s".formatted(service.password(), token);

        String login = raw("""
                POST /login HTTP/1.1
                Host: localhost:1
                Cookie: %s
                Content-Type: application/x-www-form-urlencoded
                Content-Length: %d
                Connection: close

                %s""".formatted(cookie, body.length(), body).replace("\n", "\r\n"));

        assertThat(login).startsWith("HTTP/1.1 302");
        assertThat(header(login, "Location")).startsWith("/runs?after=7");
    }

    private static String cookies(String answer) {
        return answer.lines()
                .filter(line -> line.startsWith("Set-Cookie: "))
                .map(line -> line.substring("Set-Cookie: ".length()).replaceAll(";.*", ""))
                .collect(Collectors.joining("; "));
    }

    private static String header(String answer, String name) {
        return answer.lines()
                .filter(line -> line.startsWith(name + ": "))
                .map(line -> line.substring(name.length() + 2))
                .findFirst()
                .orElseThrow();
    }

    private static String get(String path, String host, String... more) throws IOException {
        return raw("GET %s HTTP/1.1\r\nHost: %s\r\nAccept: text/html\r\n%sConnection: close\r\n\r\n"
                .formatted(path, host, String.join("", more)));
    }

    private static String raw(String request) throws IOException {
        URI at = URI.create(service.url());
        try (Socket socket = new Socket(at.getHost(), at.getPort())) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
