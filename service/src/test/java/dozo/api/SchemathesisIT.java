package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.PythonTools;
import dozo.RunningService;
import dozo.db.Campaign;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The running service conforms to its description, whatever is sent: no server errors, and no response that is not
 * described. No request is excluded: runs and scrubs start, too, to a site that refuses every connection. Valid and
 * invalid requests are sent, alone and in sequences where one uses the response of another. Takes over two minutes:
 * thousands of requests.
 */
@Tag(Campaign.TAG)
class SchemathesisIT {

    /** A site that does not answer is not a server error, and is described. */
    private static final String SETTINGS = """
            [checks]
            enabled = false
            not_a_server_error = { enabled = true, expected-statuses = ["2xx", "3xx", "4xx", "502"] }
            status_code_conformance.enabled = true
            content_type_conformance.enabled = true
            response_schema_conformance.enabled = true
            response_headers_conformance.enabled = true
            unsupported_method.enabled = true

            # GET /runs/{id} answers as for any other word that is no number.
            [[operations]]
            include-path = "/api/v1/runs/experiments"
            checks.unsupported_method.enabled = false

            # What is there, for requests to come past "there is no such thing".
            [parameters]
            "path.project" = "P1"
            "path.code" = "E1"
            "query.site" = "dr"
            """;

    private static final Pattern CASES = Pattern.compile("(\\d+) generated, (\\d+) passed");

    private static final int EXAMPLES = Campaign.times(5);

    @TempDir
    static Path work;

    @AutoClose
    private static RunningService service;

    @BeforeAll
    static void start() throws IOException {
        service = RunningService.start(work.resolve("service"));
        Path source = Files.createDirectories(work.resolve("source"));
        Path key = Files.writeString(work.resolve("key"), "none");
        made(service.post("/api/v1/projects", "{\"code\": \"P1\", \"title\": \"one\"}"));
        made(service.post(
                "/api/v1/experiments",
                "{\"project\": \"P1\", \"code\": \"E1\", \"source\": \"%s\"}".formatted(source)));
        made(service.put("/api/v1/sites/dr", """
                {"host": "127.0.0.1", "port": 1, "user": "u", "root": "/r", "identity": "%s",
                 "hostKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH5VR9XtVOoP1GUvlyXhnsx3lhinMK4e5ROUed98ByDX"}
                """.formatted(key)));
        made(service.post("/api/v1/users", """
                {"name": "lm", "password": "a long password", "roles": ["LAB_MANAGER"]}"""));
        made(service.put("/api/v1/projects/P1/members/lm", ""));
    }

    /** Both fuzzers run at once, like real users: one may find what the other has changed, in any state. */
    @Test
    void itHoldsForAnAdministratorAndALabManager() throws Exception {
        try (ExecutorService both = Executors.newFixedThreadPool(2)) {
            List<Future<@Nullable Void>> fuzzed = both.invokeAll(List.of(
                    () -> fuzz("admin:" + service.password(), "coverage,fuzzing,stateful"),
                    () -> fuzz("lm:a long password", "fuzzing,stateful")));
            for (Future<@Nullable Void> each : fuzzed) {
                each.get();
            }
        }
    }

    private static @Nullable Void fuzz(String who, String phases) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory(work, "fuzz");
        Files.writeString(folder.resolve("schemathesis.toml"), SETTINGS);
        Path api = Files.writeString(
                folder.resolve("openapi.json"), service.get("/api/v1/openapi").text());
        List<String> arguments = new ArrayList<>(List.of(api.toString(), "--url", service.url()));
        arguments.addAll(List.of("--auth", who));
        arguments.addAll(List.of("--phases", phases, "--mode", "all"));
        arguments.addAll(List.of(
                "--max-examples",
                String.valueOf(EXAMPLES),
                "--seed",
                String.valueOf(Campaign.TIMES),
                "--generation-deterministic",
                "--no-shrink"));
        arguments.addAll(List.of("--suppress-health-check", "all"));
        arguments.addAll(List.of("--continue-on-failure", "--request-timeout", "60"));

        PythonTools.Verdict verdict = Schemathesis.run(folder, arguments, Campaign.TIMES);

        assertThat(verdict.exitCode()).as(verdict.said()).isZero();
        Matcher cases = CASES.matcher(verdict.said());
        assertThat(cases.find()).as(verdict.said()).isTrue();
        assertThat(cases.group(2)).as(verdict.said()).isEqualTo(cases.group(1));
        System.out.printf("schemathesis, %s: %s%n", who.substring(0, who.indexOf(':')), cases.group());
        return null;
    }

    private static void made(Answer answer) {
        assertThat(answer.status()).as(answer.text()).isBetween(200, 201);
    }
}
