package dozo.start;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
        String path = Stream.concat(
                        before.stream().map(Path::toString), Stream.of(System.getProperty("java.class.path")))
                .collect(Collectors.joining(":"));
        return start(List.of(), path, "serve", work, output, settings);
    }

    /** Starts a worker, behind the words of another program if there are any. */
    static Process startWorker(List<String> before, Path work, Path output, Map<String, String> settings)
            throws IOException {
        return start(before, System.getProperty("java.class.path"), "worker", work, output, settings);
    }

    private static Process start(
            List<String> before, String path, String word, Path work, Path output, Map<String, String> settings)
            throws IOException {
        List<String> words = new ArrayList<>(before);
        words.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                // As in all test processes: it takes half of the processor time of a start.
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                path,
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
