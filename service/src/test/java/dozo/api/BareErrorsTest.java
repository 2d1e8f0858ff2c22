package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every error response is a problem detail, even if no controller has seen the request. */
class BareErrorsTest {

    private static final String PROJECTS = "/api/v1/projects";

    @TempDir
    static Path work;

    @AutoClose
    private static RunningService service;

    @BeforeAll
    static void start() {
        service = RunningService.shared();
    }

    @Test
    void whatTomcatCannotReadIsAProblem() throws IOException {
        for (String line : List.of(
                "GET /api/v1/projects/%00 HTTP/1.1",
                "GET /api/v1/projects/%zz HTTP/1.1",
                "GET /api/v1/projects/%ff HTTP/1.1",
                "GET /api/v1/projects/a%2fb HTTP/1.1",
                "GET /api/v1/projects?q=[x] HTTP/1.1",
                "GET /api/v1/projects HTTP/1.1\r\nAccept: " + "a".repeat(9_000),
                "POST /api/v1/projects HTTP/1.1\r\nContent-Length: -1")) {
            assertProblem(400, raw(line));
        }
        assertProblem(405, raw("TRACE /api/v1/projects HTTP/1.1"));
    }

    @Test
    void whatTheFirewallTurnsAwayIsAProblem() throws IOException {
        assertProblem(400, raw("GET /api/v1/projects/a;b HTTP/1.1"));
        assertProblem(400, raw("GET /api/v1/../x HTTP/1.1"));
    }

    @Test
    void anUnreadableQueryIsAProblem() throws IOException {
        for (String query : List.of("after=%ff", "after=%zz", "=1", "after=%ED%A0%80", "%08=1")) {
            assertProblem(400, raw("GET /api/v1/projects?%s HTTP/1.1".formatted(query)));
        }
    }

    @Test
    void methodsThatAreNotThereAreSaidWithThoseThatAre() {
        for (String method : List.of("QUERY", "PROPFIND", "FOO", "DELETE")) {
            Answer answer = service.as("admin").ask(method, PROJECTS, null);
            assertThat(answer.status()).as(method).isEqualTo(405);
            assertThat(answer.type()).isEqualTo("application/problem+json");
            assertThat(answer.header("Allow")).contains("GET", "POST");
        }
    }

    @Test
    void onlyJsonIsGivenAndTaken() {
        for (String accepted : List.of("application/yaml", "text/html", "application/x+json", "x")) {
            Answer answer = service.askWith("GET", PROJECTS, null, "Accept", accepted);
            assertThat(answer.status()).as(accepted).isEqualTo(406);
            assertThat(answer.type()).isEqualTo("application/problem+json");
        }
        for (String type : List.of("application/yaml", "multipart/form-data", "text/plain", "foo")) {
            Answer answer = service.as("admin").post(PROJECTS, type, "code: Y".getBytes(StandardCharsets.UTF_8));
            assertThat(answer.status()).as(type).isEqualTo(415);
            assertThat(answer.type()).isEqualTo("application/problem+json");
        }
    }

    @Test
    void textThatNoDatabaseKeepsIsRefusedWithItsField() {
        for (String text : List.of("\\u0000", "\\ud800")) {
            service.post(PROJECTS, "{\"code\": \"%s\"}".formatted(text)).refused(422, "code");
        }
        service.get("/api/v1/projects?after=%00").refused(422, "after");
    }

    @Test
    void unknownFieldsAndParametersAreRefusedWithThoseThatThereAre() {
        Answer field = service.post(PROJECTS, "{\"codes\": \"X\"}");
        Answer parameter = service.get("/api/v1/projects?limt=1");

        field.has("/errors/0/field", "codes");
        assertThat(field.string("/errors/0/message")).contains("code, title");
        parameter.refused(422, "limt");
        assertThat(parameter.string("/errors/0/message")).contains("after, limit");
    }

    @Test
    void longJsonIsRefusedUnread() {
        assertThat(service.post(PROJECTS, "{\"code\": \"%s\"}".formatted("a".repeat(2_000_000)))
                        .expect(413)
                        .type())
                .isEqualTo("application/problem+json");
    }

    private static void assertProblem(int status, String answer) {
        assertThat(answer)
                .startsWith("HTTP/1.1 " + status)
                .contains("Content-Type: application/problem+json")
                .contains("\"status\":" + status)
                .doesNotContain("<html");
    }

    private static String raw(String line) throws IOException {
        URI at = URI.create(service.url());
        try (Socket socket = new Socket(at.getHost(), at.getPort())) {
            String request = "%s\r\nHost: localhost\r\nAuthorization: %s\r\nConnection: close\r\n\r\n"
                    .formatted(line, RunningService.basic("admin", service.password()));
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
