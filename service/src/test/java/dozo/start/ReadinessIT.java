package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A service that systemd has started reports that it is ready, when it listens. */
class ReadinessIT {

    private static final Duration LIMIT = Duration.ofMinutes(10);

    /** Prints the message that comes to a socket. */
    private static final String LISTENER = """
            import os, socket, sys
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            listener.bind('\\0' + sys.argv[1][1:] if sys.argv[1].startswith('@') else sys.argv[1])
            print('bound', flush=True)
            print(listener.recv(1000).decode(), flush=True)
            """;

    @TempDir
    Path folder;

    @Test
    void theServiceReportsWhenItListens() throws Exception {
        for (String socket : new String[] {
            folder.resolve("notify").toString(),
            "@dozo-" + ProcessHandle.current().pid()
        }) {
            Path heard = folder.resolve("heard");
            Process listener = new ProcessBuilder("python3", "-c", LISTENER, socket)
                    .redirectErrorStream(true)
                    .redirectOutput(heard.toFile())
                    .start();
            try {
                await().atMost(LIMIT).until(() -> Files.readString(heard).startsWith("bound"));
                String said = said(Map.of("NOTIFY_SOCKET", socket));

                assertThat(listener.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
                        .isTrue();
                assertThat(Files.readString(heard)).isEqualTo("bound\nREADY=1\n");
                assertThat(said).doesNotContain("systemd");
            } finally {
                listener.destroyForcibly().waitFor();
            }
        }
    }

    @Test
    void aServiceStartsAlsoIfNobodyListens() throws Exception {
        assertThat(said(Map.of("NOTIFY_SOCKET", folder.resolve("nobody").toString())))
                .contains("cannot report to systemd that the service is ready: nobody receives at ");
        assertThat(said(Map.of("NOTIFY_SOCKET", "/" + "x".repeat(200)))).contains("NOTIFY_SOCKET is longer than");
        assertThat(said(Map.of("NOTIFY_SOCKET", "vsock:2:1"))).doesNotContain("systemd");
    }

    /** Starts a service, waits until it says how to log in, which is after its report, and returns its output. */
    private String said(Map<String, String> more) throws Exception {
        var database = TestDatabase.fresh();
        Map<String, String> settings = new HashMap<>(more);
        settings.put("DOZO_DB_URL", String.valueOf(database.getJdbcUrl()));
        settings.put("DOZO_DB_USER", String.valueOf(database.getUsername()));
        settings.put("DOZO_DB_PASSWORD", String.valueOf(database.getPassword()));
        Path output = Files.createTempFile(folder, "output", "");
        Process service = ServeProcess.start(folder.resolve("work"), output, settings);
        try {
            await().atMost(LIMIT).until(() -> Files.readString(output).contains("log in as ") || !service.isAlive());
            return Files.readString(output);
        } finally {
            service.destroyForcibly().waitFor();
        }
    }
}
