package dozo.source.flywheel;

import dozo.source.delivery.Limits;
import dozo.source.delivery.Pause;
import dozo.source.delivery.Reconciliation;
import dozo.source.flywheel.Hierarchy.Kind;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Reads from the tests' emulated Flywheel.
 *
 * <pre>
 * java -cp … dozo.source.flywheel.FlywheelReads serve FILES BYTES            prints KEY, then a path for each file; runs until its input ends
 * java -cp … dozo.source.flywheel.FlywheelReads download KEY FOLDER ROUNDS CURL…   CURL is a command to run before each of our rounds
 * </pre>
 */
final class FlywheelReads {

    private static final int AT_ONCE = 4;

    private FlywheelReads() {}

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "serve" -> serve(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
            case "download" ->
                download(
                        arguments[1],
                        Path.of(arguments[2]),
                        Integer.parseInt(arguments[3]),
                        List.of(arguments).subList(4, arguments.length));
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        System.exit(0);
    }

    /** Serves one session with one acquisition; its files are made before the first request. */
    private static void serve(int files, int bytes) throws IOException {
        Hierarchy hierarchy = new Hierarchy(1, 1, 2, 1, files, bytes);
        try (Emulator emulator = new Emulator(hierarchy)) {
            hierarchy.fileEntries(Kind.ACQUISITION, 0);
            System.out.println(emulator.key());
            for (int i = 0; i < files; i++) {
                System.out.println(emulator.downloadPath(hierarchy.file(0, i)));
            }
            System.out.println("end");
            while (System.in.read() >= 0) {
                // Until the parent process closes the input.
            }
        }
    }

    /**
     * Prints for each round: seconds of the command, our seconds, our bytes, and the heap in use afterwards. Both write
     * new files: truncating those of the round before would take the command more than half of its time again.
     */
    private static void download(String key, Path folder, int rounds, List<String> command) throws Exception {
        try (Flywheel flywheel = new Flywheel(
                ApiKey.of(key), Limits.USUAL, Set.of(), Pause.REAL, InstantSource.system())) {
            for (int round = 0; round < rounds; round++) {
                removeFiles(folder, "curl-*");
                long started = System.nanoTime();
                int code = new ProcessBuilder(command).inheritIO().start().waitFor();
                double theirs = (System.nanoTime() - started) / 1e9;
                if (code != 0) {
                    throw new IllegalStateException("the command ended with " + code);
                }
                Path spool = Files.createDirectory(folder.resolve("spool-" + round));
                started = System.nanoTime();
                Reconciliation came = new Spool(flywheel, spool, AT_ONCE).deliver(Hierarchy.session(1));
                double ours = (System.nanoTime() - started) / 1e9;
                if (!came.isComplete()) {
                    throw new IllegalStateException(came.missing().toString());
                }
                remove(spool);
                System.gc();
                Runtime runtime = Runtime.getRuntime();
                System.out.printf(
                        "%.3f %.3f %d %d%n",
                        theirs, ours, came.bytesFetched(), runtime.totalMemory() - runtime.freeMemory());
            }
        }
    }

    private static void removeFiles(Path folder, String named) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, named)) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
    }

    private static void remove(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path one : all.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(one);
            }
        }
    }
}
