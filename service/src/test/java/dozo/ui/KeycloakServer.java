package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.db.Starts;
import dozo.loopback.Ports;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A real Keycloak on loopback, with its database in memory. Maven fetches the distribution once, and it is unpacked once
 * below {@code target}. It is not in any class path.
 */
final class KeycloakServer implements AutoCloseable {

    private static final String VERSION = "26.4.0";
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Path HOME =
            Path.of("target", "keycloak", "keycloak-" + VERSION).toAbsolutePath();

    private final int port;
    private Optional<Process> process = Optional.empty();

    /** Chooses a port; {@link #start} does the rest. */
    KeycloakServer() throws IOException {
        this.port = Ports.free();
    }

    /** NB: browsers accept its secure cookies without TLS only from this name. */
    String issuer() {
        return "http://localhost:%d/realms/dozo".formatted(port);
    }

    /** Starts with this realm, whose name is {@code dozo}, and waits until it answers. */
    void start(Path folder, String realm) throws IOException, InterruptedException {
        Starts.SERVER.count();
        unpack();
        Path realms = HOME.resolve("data/import");
        Files.createDirectories(realms);
        Files.writeString(realms.resolve("dozo-realm.json"), realm);
        Path log = folder.resolve("keycloak.log");
        Process started = run(
                HOME,
                log,
                "bash",
                "bin/kc.sh",
                "start-dev",
                "--db=dev-mem",
                "--import-realm",
                "--http-host=127.0.0.1",
                "--http-port=" + port);
        process = Optional.of(started);
        HttpClient http = HttpClient.newHttpClient();
        HttpRequest description = HttpRequest.newBuilder(URI.create(issuer() + "/.well-known/openid-configuration"))
                .timeout(Duration.ofSeconds(10))
                .build();
        await().atMost(LIMIT)
                .pollInterval(Duration.ofMillis(500))
                .failFast("Keycloak has ended; see " + log, () -> !started.isAlive())
                .ignoreExceptions()
                .until(() -> http.send(description, BodyHandlers.discarding()).statusCode() == 200);
    }

    private static void unpack() throws IOException, InterruptedException {
        if (Files.exists(HOME)) {
            return;
        }
        Path part = Files.createTempDirectory(Files.createDirectories(HOME.getParent()), "part");
        Path log = part.resolve("maven.log");
        Process maven = run(
                Path.of("").toAbsolutePath(),
                log,
                "mvn",
                "-B",
                "-ntp",
                "-N",
                "dependency:unpack",
                "-Dartifact=org.keycloak:keycloak-quarkus-dist:%s:zip".formatted(VERSION),
                "-DoutputDirectory=" + part);
        assertThat(maven.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(maven.exitValue()).as(Files.readString(log)).isZero();
        Files.move(part.resolve(HOME.getFileName()), HOME);
    }

    private static Process run(Path folder, Path log, String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(List.of(command))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        String java = System.getProperty("java.home");
        builder.environment().put("JAVA_HOME", java);
        builder.environment().put("JAVA", java + File.separator + "bin" + File.separator + "java");
        builder.environment().put("JAVA_OPTS_KC_HEAP", "-Xmx512m");
        // As in test processes: it takes half of the processor time of a start.
        builder.environment().put("JAVA_OPTS_APPEND", "-XX:TieredStopAtLevel=1");
        return builder.start();
    }

    @Override
    public void close() throws InterruptedException {
        if (process.isPresent()) {
            Process running = process.get();
            List<ProcessHandle> all = running.descendants().toList();
            all.forEach(ProcessHandle::destroyForcibly);
            running.destroyForcibly().waitFor();
        }
    }
}
