package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.RunningService;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.loopback.Ports;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The recipes of docs/run/services.md lead to the active service. */
@StartsServices(3)
class LoadBalancerTest {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    @TempDir
    Path folder;

    private final HikariDataSource database = TestDatabase.fresh();

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    void haproxyLeadsToTheActiveServiceAndKeepalivedTracksIt() throws Exception {
        int portOfOne = Ports.free();
        int portOfTwo = Ports.free();
        int port = Ports.free();
        String recipe = recipe("haproxy")
                .replaceFirst("bind .*", "bind 127.0.0.1:" + port)
                .replace("dozo-a.example.org:8080", "127.0.0.1:" + portOfOne)
                .replace("dozo-b.example.org:8080", "127.0.0.1:" + portOfTwo);
        assertThat(recipe).contains(":" + port, ":" + portOfOne, ":" + portOfTwo);
        Path settings = Files.writeString(folder.resolve("haproxy.cfg"), recipe);
        Path output = folder.resolve("haproxy.log");
        RunningService one = start("one", portOfOne);
        try (RunningService two = start("two", portOfTwo)) {
            Process haproxy = new ProcessBuilder(program(), "-db", "-f", settings.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            try {
                await().atMost(LIMIT).until(() -> tracked(portOfOne) == 0);
                assertThat(tracked(portOfTwo)).isNotZero();
                awaitAnswer(haproxy, port, two, "one");

                one.close();

                awaitAnswer(haproxy, port, two, "two");
                await().atMost(LIMIT).until(() -> tracked(portOfTwo) == 0);
                try (RunningService again = start("one", portOfOne)) {
                    assertThat(tracked(portOfOne)).isNotZero();
                    for (int i = 0; i < 10; i++) {
                        assertThat(ask(port, two).body()).contains("\"name\":\"two\"");
                    }
                }
            } finally {
                haproxy.destroy();
                haproxy.waitFor();
            }
        } finally {
            one.close();
        }
    }

    /** Waits until the load balancer has the answer of this service, and says that it is active. */
    private void awaitAnswer(Process haproxy, int port, RunningService any, String name) {
        await().atMost(LIMIT)
                .failFast("HAProxy has ended", () -> !haproxy.isAlive())
                .ignoreExceptionsInstanceOf(IOException.class)
                .until(() -> ask(port, any).body().contains("\"name\":\"%s\"".formatted(name)));
    }

    private HttpResponse<String> ask(int port, RunningService any) throws IOException, InterruptedException {
        return http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/api/v1/service".formatted(port)))
                        .header("Authorization", RunningService.basic("admin", any.password()))
                        .build(),
                BodyHandlers.ofString());
    }

    /** Returns the exit code of the command by which keepalived tracks the service. */
    private static int tracked(int port) throws IOException, InterruptedException {
        Matcher script = Pattern.compile("script \"(.*)\"").matcher(recipe("keepalived"));
        assertThat(script.find()).isTrue();
        return new ProcessBuilder(
                        script.group(1).replace(":8080/", ":" + port + "/").split(" "))
                .inheritIO()
                .start()
                .waitFor();
    }

    private static String recipe(String program) throws IOException {
        Path module = Path.of("").toAbsolutePath();
        Path docs = Files.exists(module.resolve("docs")) ? module : module.getParent();
        Matcher recipe = Pattern.compile("```" + program + "\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(docs.resolve("docs/run/services.md")));
        assertThat(recipe.find()).isTrue();
        return recipe.group(1);
    }

    private RunningService start(String name, int port) {
        return RunningService.start(
                folder.resolve("work"),
                database,
                Map.of("dozo.service.name", name, "dozo.http.port", String.valueOf(port)));
    }

    private static String program() {
        return Stream.of("/usr/sbin/haproxy", "/usr/bin/haproxy", "/usr/local/sbin/haproxy")
                .filter(each -> Files.isExecutable(Path.of(each)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("install haproxy; ./dozo test does so"));
    }
}
