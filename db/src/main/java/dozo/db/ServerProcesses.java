package dozo.db;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** Finds and ends the processes of the PostgreSQL server that works in a data folder. */
final class ServerProcesses {

    static final Duration STOP_LIMIT = Duration.ofSeconds(30);
    static final Duration POLL = Duration.ofMillis(100);

    private ServerProcesses() {}

    static Path pidFile(Path data) {
        return data.resolve("postmaster.pid");
    }

    /** Returns the program that starts and stops the server; it is beside the server's. */
    static Path control(Path data) throws IOException {
        return running(data)
                .flatMap(process -> process.info().command())
                .map(program -> Path.of(program).resolveSibling("pg_ctl"))
                .orElseThrow(() -> new IOException("the started server no longer runs"));
    }

    /**
     * Stops what a killed process, or a killed server, left on this folder. The caller holds the folder's lock, so no
     * other process owns the server. A server's processes live on for a while, and no other server starts while they
     * hold its memory.
     */
    static void stopLeftBehind(Path data) throws IOException, InterruptedException {
        Optional<ProcessHandle> server = running(data);
        server.ifPresent(ProcessHandle::destroy);
        if (!comesTrue(() -> running(data).isEmpty())) {
            throw new IOException("leftover server process %d does not stop"
                    .formatted(server.orElseThrow().pid()));
        }
        Path there = data.toRealPath();
        if (!comesTrue(() ->
                family(there).peek(ProcessHandle::destroyForcibly).findAny().isEmpty())) {
            throw new IOException("processes of the leftover server in %s do not end".formatted(data));
        }
        removeIfMisleading(pidFile(data));
    }

    /** Returns what to throw instead, with the flag restored. */
    static IOException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new IOException("interrupted while the embedded PostgreSQL was started or stopped", e);
    }

    private static boolean comesTrue(BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + STOP_LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(POLL);
        }
        return true;
    }

    /** Returns the folder's server. It is recognised by its command line, because process ids are reused. */
    static Optional<ProcessHandle> running(Path data) {
        return named(pidFile(data))
                .filter(process -> process.info().commandLine().orElse("").contains(data.toString()));
    }

    /** Returns the process that a server's pid file names. */
    private static Optional<ProcessHandle> named(Path pidFile) {
        try (BufferedReader lines = Files.newBufferedReader(pidFile)) {
            String first = lines.readLine();
            return first == null ? Optional.empty() : ProcessHandle.of(Long.parseLong(first.strip()));
        } catch (IOException | NumberFormatException none) {
            return Optional.empty();
        }
    }

    /** Returns the processes that work in the folder: a server's processes overwrite their command lines. */
    private static Stream<ProcessHandle> family(Path data) {
        return ProcessHandle.allProcesses()
                .filter(process -> process.info().command().orElse("").endsWith("/postgres"))
                .filter(process -> {
                    try {
                        return Files.readSymbolicLink(Path.of("/proc/%d/cwd".formatted(process.pid())))
                                .equals(data);
                    } catch (IOException ended) {
                        return false;
                    }
                });
    }

    /**
     * Removes the pid file if it names another program's process, or a dead one that was not reaped: a new server would
     * take either for a server and not start.
     */
    private static void removeIfMisleading(Path pidFile) throws IOException {
        Optional<ProcessHandle> process = named(pidFile);
        if (process.isPresent() && (process.get().info().commandLine().isPresent() || isDead(process.get()))) {
            Files.delete(pidFile);
        }
    }

    private static boolean isDead(ProcessHandle process) {
        try {
            String facts = Files.readString(Path.of("/proc/%d/stat".formatted(process.pid())));
            return facts.startsWith(") Z", facts.lastIndexOf(')'));
        } catch (IOException gone) {
            return false;
        }
    }
}
