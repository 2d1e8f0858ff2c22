package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An editor whose version is out of date is refused, and overwrites nothing. */
class EditionsTest {

    private static final String TRIPWIRE = "{\"percent\": %d, \"entries\": 50}";

    @TempDir
    static Path work;

    @AutoClose
    private static RunningService service;

    @BeforeAll
    static void start() throws IOException {
        service = RunningService.shared();
        Files.createDirectory(work.resolve("e1"));
        Files.writeString(work.resolve("list"), "a\n");
        service.createProject("RACE");
        service.createExperiment("P", "E", work.resolve("e1"));
        service.post("/api/v1/users", "{\"name\": \"u\", \"password\": \"a long password\"}");
        Files.writeString(work.resolve("key"), "none");
        service.put("/api/v1/sites/s", site(22)).expect(200);
    }

    @Test
    void whatIsKnownAlreadyIsNotSentAgain() {
        for (String path : List.of("projects/P", "experiments/P/E", "sites/s", "users/u")) {
            String tag = tag("/api/v1/" + path);
            Answer known = service.askWith("GET", "/api/v1/" + path, null, "If-None-Match", tag);
            Answer other = service.askWith("GET", "/api/v1/" + path, null, "If-None-Match", "\"other\"");

            assertThat(tag).as(path).matches("\"[0-9a-f]{32}\"");
            assertThat(known.status()).as(path).isEqualTo(304);
            assertThat(known.text()).as(path).isEmpty();
            assertThat(other.status()).as(path).isEqualTo(200);
        }
    }

    @Test
    void aProjectIsEditedByWhoSawItAsItIs() {
        assertEdited("/api/v1/projects/P", "PUT", "/tripwire", TRIPWIRE.formatted(31), TRIPWIRE.formatted(32));
    }

    @Test
    void aSiteIsEditedByWhoSawItAsItIs() {
        assertEdited("/api/v1/sites/s", "PUT", "", site(23), site(24));
    }

    @Test
    void aUserIsEditedByWhoSawThemAsTheyAre() {
        assertEdited("/api/v1/users/u", "PATCH", "", "{\"roles\": [\"AUDITOR\"]}", "{\"roles\": [\"OPERATOR\"]}");
    }

    @Test
    void anExperimentIsEditedByWhoSawItAsItIs() {
        String path = "/api/v1/experiments/P/E";
        String list = "{\"list\": \"%s\", \"listForm\": \"find\"}".formatted(work.resolve("list"));
        String before = tag(path);

        edit("PUT", path + "/list", list, before).expect(200);
        edit("DELETE", path + "/list", null, before).expect(412);
        service.get(path).has("/listForm", "find");
        edit("DELETE", path + "/list", null, tag(path)).expect(200);
    }

    @Test
    void anyOfSeveralTagsWillDoAndAStarIsWhateverThereIs() {
        String path = "/api/v1/projects/P";

        edit("PUT", path + "/tripwire", TRIPWIRE.formatted(41), "\"x\", " + tag(path))
                .expect(200);
        edit("PUT", path + "/tripwire", TRIPWIRE.formatted(42), "*").expect(200);
        edit("PUT", path + "/tripwire", TRIPWIRE.formatted(43), "W/" + tag(path))
                .expect(412);
    }

    @Test
    void withoutATagItIsEditedInAnyCase() {
        service.put("/api/v1/projects/P/tripwire", TRIPWIRE.formatted(51)).expect(200);
    }

    @Test
    void whatIsNotThereIsNotWhatWasSeen() {
        edit("PUT", "/api/v1/sites/new", site(22), "*").expect(412);
        service.get("/api/v1/sites/new").expect(404);
    }

    @Test
    void aTagThatWouldNotBeHeededIsRefused() {
        Answer garbage = edit("PUT", "/api/v1/projects/P/tripwire", TRIPWIRE.formatted(61), "abc");
        Answer nowhere = edit("PUT", "/api/v1/projects/P/members/u", null, "\"x\"");

        for (Answer refused : List.of(garbage, nowhere)) {
            refused.refused(422, "If-Match");
        }
    }

    @Test
    void ofManyWhoSawTheSameOneWins() throws Exception {
        String path = "/api/v1/projects/RACE";
        String seen = tag(path);
        List<Future<Answer>> edits = new ArrayList<>();
        try (ExecutorService editors = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int percent = 60; percent < 68; percent++) {
                String body = TRIPWIRE.formatted(percent);
                edits.add(editors.submit(() -> edit("PUT", path + "/tripwire", body, seen)));
            }
        }

        List<Integer> statuses = new ArrayList<>();
        for (Future<Answer> each : edits) {
            statuses.add(each.get().status());
        }
        assertThat(statuses).containsOnlyOnce(200).containsOnly(200, 412);
    }

    private static void assertEdited(String path, String method, String below, String one, String other) {
        String before = tag(path);

        Answer first = edit(method, path + below, one, before);
        Answer second = edit(method, path + below, other, before);

        first.expect(200);
        assertThat(first.headers().firstValue("ETag")).contains(tag(path));
        assertThat(tag(path)).isNotEqualTo(before);
        second.isProblem(412);
        assertThat(service.get(path).text()).isEqualTo(first.text());
    }

    private static Answer edit(String method, String path, @Nullable String body, String tags) {
        return service.askWith(method, path, body, "If-Match", tags);
    }

    private static String tag(String path) {
        return service.get(path).headers().firstValue("ETag").orElseThrow();
    }

    private static String site(int port) {
        return """
                {"host": "127.0.0.1", "port": %d, "user": "u", "root": "/r", "identity": "%s",
                 "hostKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH5VR9XtVOoP1GUvlyXhnsx3lhinMK4e5ROUed98ByDX"}
                """.formatted(port, work.resolve("key"));
    }
}
