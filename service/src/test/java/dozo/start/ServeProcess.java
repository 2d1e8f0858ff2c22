package dozo.start;

import dozo.Application;
import dozo.db.ChildJava;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** {@code dozo serve} or {@code dozo worker} in its own process: on a free port, without a schedule. */
final class ServeProcess {

    private ServeProcess() {}

    /**
     * Starts the service.
     *
     * @param output receives all output
     * @param settings environment variables; none that begins with {@code DOZO_} is inherited
     */
    static Process start(Path work, Path output, Map<String, String> settings) throws IOException {
        return start(work, output, settings, List.of());
    }

    /** Starts the service with these folders before its class path. */
    static Process start(Path work, Path output, Map<String, String> settings, List<Path> before) throws IOException {
        return start(ChildJava.of(Application.class).before(before).arguments("serve"), work, output, settings);
    }

    /** Starts a worker, behind the words of another program if there are any. */
    static Process startWorker(List<String> before, Path work, Path output, Map<String, String> settings)
            throws IOException {
        return start(ChildJava.of(Application.class).by(before).arguments("worker"), work, output, settings);
    }

    /** Starts this program. */
    static Process start(ChildJava java, Path work, Path output, Map<String, String> settings) throws IOException {
        ProcessBuilder command = java.fromCache().process();
        command.environment()
                .putAll(Map.of(
                        "DOZO_WORK", work.toString(),
                        "DOZO_HTTP_PORT", "0",
                        "DOZO_SCHEDULE_CRON", "-",
                        "DOZO_DRILL_CRON", "-"));
        command.environment().putAll(settings);
        return command.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    }
}
