package dozo.db;

import io.zonky.test.db.postgres.util.LinuxUtils;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Starts and stops servers with PostgreSQL's {@code pg_ctl}. */
final class ServerControl {

    /** A server that was killed first recovers what was not yet in its tables, which may take minutes. */
    private static final Duration LIMIT = Duration.ofMinutes(10);

    private static final Duration OUTPUT_LIMIT = Duration.ofSeconds(5);
    private static final int LINES_KEPT = 20;

    private ServerControl() {}

    /**
     * Starts or stops the server on its data and waits until it has done so.
     *
     * @param program pg_ctl of the server's version
     * @param words the mode, and more options
     * @throws IOException if it has not within 10 minutes, with the line of its output that best says why
     */
    static void run(Path program, Path data, String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        if (LinuxUtils.isUnshareAvailable()) {
            // As the library does: the server refuses to be started by root.
            command.addAll(List.of("unshare", "-U"));
        }
        command.add(program.toString());
        command.addAll(List.of(words));
        command.addAll(List.of("-D", data.toString(), "-w", "-t", String.valueOf(LIMIT.toSeconds())));
        Process starting = new ProcessBuilder(command).redirectErrorStream(true).start();
        LastLines said = new LastLines(starting.inputReader());
        // Read for as long as the server lives; otherwise it would block when the pipe is full.
        Thread reading = Thread.ofPlatform().daemon().name("postgres-output").start(said);
        try {
            if (!starting.waitFor(LIMIT.plus(ServerProcesses.STOP_LIMIT).toSeconds(), TimeUnit.SECONDS)
                    || starting.exitValue() != 0) {
                // The reason may still be on its way.
                reading.join(OUTPUT_LIMIT);
                throw new IOException(said.reason());
            }
        } finally {
            starting.destroyForcibly();
        }
    }

    /** The last lines of a server's output. */
    private record LastLines(BufferedReader output, ArrayList<String> lines) implements Runnable {

        LastLines(BufferedReader output) {
            this(output, new ArrayList<>());
        }

        @Override
        public void run() {
            try {
                for (String line = output.readLine(); line != null; line = output.readLine()) {
                    keep(line);
                }
            } catch (IOException ended) {
                // The server has ended.
            }
        }

        private synchronized void keep(String line) {
            lines.add(line.strip());
            if (lines.size() > LINES_KEPT) {
                lines.removeFirst();
            }
        }

        /** Returns the line that best explains a failure. */
        synchronized String reason() {
            return lines.reversed().stream()
                    .filter(line -> line.contains("FATAL") || line.contains("PANIC") || line.contains("could not"))
                    .findFirst()
                    .orElse(lines.isEmpty() ? "no output" : lines.getLast());
        }
    }
}
