package dozo.start;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
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
        return start(List.of(), "serve", work, output, settings);
    }

    /** Starts a worker, behind the words of another program if there are any. */
    static Process startWorker(List<String> before, Path work, Path output, Map<String, String> settings)
            throws IOException {
        return start(before, "worker", work, output, settings);
    }

    private static Process start(List<String> before, String word, Path work, Path output, Map<String, String> settings)
            throws IOException {
        List<String> words = new ArrayList<>(before);
        words.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "dozo.Application",
                word));
        ProcessBuilder command = new ProcessBuilder(words);
        command.environment().keySet().removeIf(name -> name.startsWith("DOZO_"));
        command.environment()
                .putAll(Map.of(
                        "DOZO_WORK",
                        work.toString(),
                        "DOZO_HTTP_PORT",
                        "0",
                        "DOZO_SCHEDULE_CRON",
                        "-",
                        "DOZO_DRILL_CRON",
                        "-"));
        command.environment().putAll(settings);
        return command.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    }
}
