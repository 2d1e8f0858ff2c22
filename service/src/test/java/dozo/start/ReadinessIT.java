package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.db.ChildJava;
import dozo.db.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
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

    /** Only the report, in a process with the variable. */
    static final class Reporting {

        static void main() {
            Readiness.report();
        }
    }

    @Test
    void theServiceReportsWhenItListens() throws Exception {
        String socket = folder.resolve("notify").toString();
        assertThat(heard(socket, () -> served(socket))).isEqualTo("READY=1\n");
    }

    @Test
    void aSocketMayHaveAnAbstractName() throws Exception {
        String socket = "@dozo-" + ProcessHandle.current().pid();
        assertThat(heard(socket, () -> reported(socket))).isEqualTo("READY=1\n");
    }

    @Test
    void aReportThatNobodyHearsIsNoFailure() throws Exception {
        assertThat(reported(folder.resolve("nobody").toString()))
                .contains("cannot report to systemd that the service is ready: nobody receives at ");
        assertThat(reported("/" + "x".repeat(200))).contains("NOTIFY_SOCKET is longer than");
        assertThat(reported("vsock:2:1")).isEmpty();
    }

    /** Returns what comes to a socket from a process that says nothing about it. */
    private String heard(String socket, Callable<String> reporting) throws Exception {
        Path heard = folder.resolve("heard");
        Process listener = new ProcessBuilder("python3", "-c", LISTENER, socket)
                .redirectErrorStream(true)
                .redirectOutput(heard.toFile())
                .start();
        try {
            await().atMost(LIMIT).until(() -> Files.readString(heard).startsWith("bound"));
            assertThat(reporting.call()).doesNotContain("systemd");
            assertThat(listener.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            return Files.readString(heard).replaceFirst("bound\n", "");
        } finally {
            listener.destroyForcibly().waitFor();
        }
    }

    /** Reports without a service, and returns the output. */
    private static String reported(String socket) throws Exception {
        ProcessBuilder process = ChildJava.of(Reporting.class).process().redirectErrorStream(true);
        process.environment().put("NOTIFY_SOCKET", socket);
        Process reporting = process.start();
        String said = new String(reporting.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(reporting.waitFor()).as(said).isZero();
        return said;
    }

    /** Starts a service, waits until it says how to log in, which is after its report, and returns its output. */
    private String served(String socket) throws Exception {
        var database = TestDatabase.fresh();
        Map<String, String> settings = Map.of(
                "NOTIFY_SOCKET", socket,
                "DOZO_DB_URL", String.valueOf(database.getJdbcUrl()),
                "DOZO_DB_USER", String.valueOf(database.getUsername()),
                "DOZO_DB_PASSWORD", String.valueOf(database.getPassword()));
        Path output = folder.resolve("output");
        Process service = ServeProcess.start(folder.resolve("work"), output, settings);
        try {
            await().atMost(LIMIT).until(() -> Files.readString(output).contains("log in as ") || !service.isAlive());
            return Files.readString(output);
        } finally {
            service.destroyForcibly().waitFor();
        }
    }
}
