package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Ended;
import dozo.RunningService;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** With {@code --json} every error is a JSON object, the last line of standard error; standard output stays empty. */
class ComplaintTest {

    private static final String NOWHERE = "http://127.0.0.1:1";

    @TempDir
    Path folder;

    @Test
    void whatRestRefusesIsPassedOnWithKindAndExitCode() {
        try (RunningService service = RunningService.shared(Map.of())) {
            JsonNode refused = error(Ended.dozo(service, "project add --json --title T P/1"), Exit.REFUSED, "refused");
            assertThat(refused.at("/problem/status").intValue()).isEqualTo(422);
            assertThat(refused.at("/problem/errors/0/field").stringValue()).isEqualTo("code");
            assertThat(refused.path("message").stringValue()).startsWith("code: ");
            assertThat(refused.has("hint")).isFalse();

            JsonNode missing = error(Ended.dozo(service, "status --json 4711"), Exit.REFUSED, "refused");
            assertThat(missing.at("/problem/status").intValue()).isEqualTo(404);

            System.setProperty("dozo.token", "dozo_wrong");
            try {
                JsonNode stranger = error(Ended.dozo(service, "status --json"), Exit.NOT_ALLOWED, "not-allowed");
                assertThat(stranger.path("hint").stringValue()).startsWith("Set DOZO_USER and DOZO_PASSWORD_FILE");
                assertThat(stranger.path("message").stringValue()).doesNotContain("DOZO_USER");
                assertThat(stranger.at("/problem/status").intValue()).isEqualTo(401);
                assertThat(Ended.dozo(service, "status").err())
                        .as("a person reads both")
                        .startsWith("dozo: " + stranger.path("message").stringValue() + ". Set DOZO_USER");
            } finally {
                System.clearProperty("dozo.token");
            }
        }
    }

    @Test
    void nobodyAnswers() {
        JsonNode error = error(Ended.of("coverage", "--json", "--url", NOWHERE), Exit.UNAVAILABLE, "unavailable");

        assertThat(error.path("message").stringValue()).isEqualTo("no service answers at " + NOWHERE);
        assertThat(error.path("hint").stringValue()).startsWith("Start one with `dozo serve`");
        assertThat(error.has("problem")).isFalse();
        error(Ended.of("coverage", "--json", "--url", "nowhere"), Exit.CONFIGURATION, "configuration");
    }

    @Test
    void noSecretIsInAnError() {
        for (String wrong : List.of("dozo_secret\ndozo_secret", "dozo_secretß", "dozo_secret secret")) {
            System.setProperty("dozo.token", wrong);
            try {
                assertThat(Ended.of("coverage", "--json", "--url", NOWHERE)
                                .ends(Exit.CONFIGURATION)
                                .err())
                        .doesNotContain("secret");
            } finally {
                System.clearProperty("dozo.token");
            }
        }
        for (String url : List.of("http://admin:secret@127.0.0.1:1", "ftp://admin:secret@nowhere")) {
            assertThat(Ended.of("coverage", "--json", "--url", url).err()).doesNotContain("secret");
        }
    }

    @Test
    void aWrongCommandLineSaysSoToProgramsToo() {
        for (String line : List.of(
                "coverage --json --never",
                "coverage --json --as-of soon",
                "coverage --json --csv",
                "project add --json",
                "gaps --json --as-of soon",
                "restore --json",
                "copy --json only-one")) {
            error(Ended.of(line.split(" ")), Exit.USAGE, "usage");
        }
        assertThat(error(Ended.of("coverage", "--json", "--never"), Exit.USAGE, "usage")
                        .path("hint")
                        .stringValue())
                .isEqualTo("See dozo coverage --help");
        assertThat(Ended.of("register", "--", "--json").err())
                .as("no option there")
                .startsWith("--project is required");
    }

    @Test
    void aCopyThatFailsAndADefectAreObjects() {
        error(Ended.of("copy", "--json", folder + "/never", "u@127.0.0.1:/dst"), Exit.REFUSED, "refused");
        JsonNode defect = error(
                Ended.by((out, err) -> Complaint.print(err, List.of("--json"), new IllegalStateException("of Dozo"))),
                Exit.DEFECT,
                "defect");
        assertThat(defect.path("message").stringValue()).contains("internal error", "of Dozo");
        assertThat(defect.at("/trace/0").stringValue()).contains("ComplaintTest");
    }

    private static JsonNode error(Ended ended, int exitCode, String kind) {
        assertThat(ended.ends(exitCode).out()).isEmpty();
        String last = Stream.of(ended.err().split("\n", -1))
                .filter(line -> !line.isEmpty())
                .reduce((_, line) -> line)
                .orElseThrow();
        JsonNode error = Connection.JSON.readTree(last);
        assertThat(error.path("kind").stringValue()).isEqualTo(kind);
        assertThat(error.path("exitCode").intValue()).isEqualTo(exitCode);
        assertThat(error.path("message").stringValue()).isNotBlank().doesNotStartWith("dozo: ");
        return error;
    }
}
