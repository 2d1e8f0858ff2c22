package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dozo.Ended;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * {@code dozo flywheel} against a server with a few fixed responses. Tests of the delivery itself are in its own room.
 */
class FlywheelCommandTest {

    private static final String SESSION = "650000030000000a0000000a";
    private static final String KEY = "a-key-of-nobody";

    @TempDir
    Path folder;

    Path keyFile;
    HttpServer flywheel;
    Map<String, String> answers = new java.util.concurrent.ConcurrentHashMap<>();

    @BeforeEach
    void open() throws IOException {
        flywheel = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        flywheel.createContext("/api", exchange -> {
            try (exchange) {
                boolean known = ("scitran-user " + KEY)
                        .equals(exchange.getRequestHeaders().getFirst("Authorization"));
                String answer = answers.get(exchange.getRequestURI().getPath());
                byte[] body = String.valueOf(answer).getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(!known ? 401 : answer == null ? 404 : 200, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        flywheel.start();
        keyFile = Files.writeString(folder.resolve("key"), key(KEY));
        answers.put("/api/auth/status", "{}");
        answers.put("/api/sessions/" + SESSION, """
                {"_id":"%s","label":"first visit","files":[{"file_id":"f1","name":"notes.txt","size":5}],
                 "parents":{"group":"g","project":"p","subject":"s"}}
                """.formatted(SESSION));
        answers.put("/api/groups/g", "{\"_id\":\"g\"}");
        answers.put("/api/projects/p", "{\"_id\":\"p\"}");
        answers.put("/api/subjects/s", "{\"_id\":\"s\"}");
        answers.put("/api/sessions/%s/acquisitions".formatted(SESSION), "[]");
        answers.put("/api/sessions/%s/analyses".formatted(SESSION), "[]");
        answers.put("/api/sessions/%s/files/notes.txt".formatted(SESSION), "bytes");
    }

    @AfterEach
    void close() {
        flywheel.stop(0);
    }

    @Test
    void aSessionComesAndItIsSaidWhatIsWorthAWord() throws IOException {
        Ended ended = run("--key-file", keyFile.toString(), SESSION);

        assertThat(ended.err()).isEmpty();
        ended.ends(Exit.WELL);
        assertThat(ended.out())
                .contains("first visit: 1 of 1 files", "5 B downloaded now; complete")
                .contains("remark  NO_HASH       session first visit/notes.txt (f1)");
        assertThat(folder.resolve("spool").resolve(SESSION).resolve("tree/files/notes.txt"))
                .hasContent("bytes");
    }

    @Test
    void whatIsMissingIsNamedAndTheExitCodeSaysSo() {
        answers.remove("/api/sessions/%s/files/notes.txt".formatted(SESSION));

        Ended ended = run("--key-file", keyFile.toString(), SESSION);
        Ended asJson = run("--key-file", keyFile.toString(), "--json", SESSION);

        ended.ends(Exit.NOT_SAFE);
        assertThat(ended.out()).contains("NOT COMPLETE", "missing GONE          session first visit/notes.txt (f1)");
        JsonNode json = Connection.JSON.readTree(asJson.out());
        assertThat(json.at("/0/missing/0/trouble").asString()).isEqualTo("GONE");
        assertThat(json.at("/0/complete").asBoolean(true)).isFalse();
    }

    @Test
    void aKeyThatIsNotAcceptedIsSaidSoAndNotShown() throws IOException {
        Files.writeString(keyFile, key("another-key-of-nobody"));

        assertThat(run("--key-file", keyFile.toString(), SESSION)
                        .ends(Exit.NOT_ALLOWED)
                        .err())
                .contains("rejects the API key")
                .doesNotContain("another-key");
    }

    @Test
    void badInputIsToldWithWhatIsAccepted() throws IOException {
        assertThat(run(SESSION).err()).contains("--key-file", "DOZO_FLYWHEEL_KEY_FILE");
        assertThat(run("--key-file", folder.resolve("none").toString(), SESSION).code())
                .isEqualTo(Exit.CONFIGURATION);
        Files.writeString(keyFile, "no key");
        assertThat(run("--key-file", keyFile.toString(), SESSION).err()).contains("HOST:KEY or HOST:PORT:KEY");
        assertThat(run("--key-file", keyFile.toString(), "../x").err()).contains("24 hexadecimal digits");
        assertThat(run("--key-file", keyFile.toString(), "--at-once", "0", SESSION)
                        .err())
                .contains("1 to 16");
    }

    private String key(String secret) {
        return "localhost:%d:__force_insecure:%s\n"
                .formatted(flywheel.getAddress().getPort(), secret);
    }

    private Ended run(String... arguments) {
        List<String> all = new ArrayList<>(
                List.of("flywheel", "--spool", folder.resolve("spool").toString()));
        all.addAll(List.of(arguments));
        return Ended.of(all.toArray(String[]::new));
    }
}
