package dozo;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.FileSystemUtils;

/**
 * Starts a service with its own database, sends it a few requests and commands, and stops it. The launcher has Java
 * record this, so that later starts find their classes loaded.
 */
final class ServiceRehearsal {

    static final String OPTION = "--rehearse";

    /** The option with a word of the program that sends the service commands, see {@link CommandRehearsal}. */
    static final String CLIENT = "--rehearse-client";

    private static final List<String> ASKED =
            List.of("actuator/health", "actuator/prometheus", "login", "api/v1/coverage");

    /** Ten times what a slow machine needs. A start that hangs must not block the build. */
    private static final Duration TIME_MAX = Duration.ofMinutes(4);

    private ServiceRehearsal() {}

    /** Rehearses in a new subfolder of this folder, and removes the subfolder. The client may be empty. */
    static void in(Path folder, List<String> client) throws IOException, InterruptedException {
        Thread.ofPlatform().daemon().name("end of the rehearsal's time").start(ServiceRehearsal::endInTime);
        Path work = Files.createTempDirectory(folder.toRealPath(), "service-rehearsal");
        try (ConfigurableApplicationContext service = Application.start(settings(work));
                HttpClient http = HttpClient.newHttpClient()) {
            URI address = Application.address(service);
            for (String path : ASKED) {
                // The response does not matter: nobody is logged in.
                http.send(
                        HttpRequest.newBuilder(address.resolve(path))
                                .timeout(TIME_MAX)
                                .build(),
                        HttpResponse.BodyHandlers.discarding());
            }
            if (!client.isEmpty()) {
                run(client, address, work);
            }
        } finally {
            FileSystemUtils.deleteRecursively(work);
        }
    }

    private static Map<String, String> settings(Path work) {
        return Map.of(
                "dozo.work", work.toString(),
                "dozo.schedule.cron", "-",
                "dozo.drill.cron", "-",
                "dozo.drill.site-cron", "-",
                "dozo.scrub.window", "-",
                "dozo.http.port", "0",
                "logging.level.dozo", "WARN");
    }

    /** The client's failure is its own: it prints the reason, and leaves no cache. */
    private static void run(List<String> client, URI address, Path work) throws IOException, InterruptedException {
        ProcessBuilder program = new ProcessBuilder(client).inheritIO();
        program.environment().put("DOZO_URL", address.toString());
        program.environment().put("DOZO_WORK", work.toString());
        program.start().waitFor();
    }

    private static void endInTime() {
        try {
            Thread.sleep(TIME_MAX);
            Runtime.getRuntime().halt(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
