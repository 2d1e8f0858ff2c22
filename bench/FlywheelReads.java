package dozo.source.flywheel;

import dozo.source.delivery.Limits;
import dozo.source.delivery.Pause;
import dozo.source.delivery.Reconciliation;
import dozo.source.delivery.Trouble;
import dozo.source.flywheel.Faults.Fault;
import dozo.source.flywheel.Hierarchy.Kind;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/**
 * Reads from the tests' emulated Flywheel.
 *
 * <pre>
 * java -cp … dozo.source.flywheel.FlywheelReads serve FILES BYTES            prints KEY, then a path for each file; runs until its input ends
 * java -cp … dozo.source.flywheel.FlywheelReads download KEY FOLDER ROUNDS CURL…   CURL is a command to run before each of our rounds
 * java -cp … dozo.source.flywheel.FlywheelReads night SESSIONS
 * java -cp … dozo.source.flywheel.FlywheelReads faults SESSIONS FOLDER
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
            case "night" -> night(Integer.parseInt(arguments[1]));
            case "faults" -> faults(Integer.parseInt(arguments[1]), Path.of(arguments[2]));
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

    /**
     * Prints the number of requests of a first look, of a look after a night without changes, and of one with three
     * changes.
     */
    private static void night(int sessions) throws Exception {
        Hierarchy hierarchy = new Hierarchy(1, 10, sessions, 4, 2, 100);
        try (Emulator emulator = new Emulator(hierarchy)) {
            Readers readers = new Readers(emulator);
            Changes changes = new Changes(readers.flywheel);
            Instant evening = Instant.parse("2026-11-20T20:00:00Z");
            int all = changes.since(null).changed().size();
            long first = emulator.takeRequests();
            int none = changes.since(evening).changed().size();
            long quiet = emulator.takeRequests();
            hierarchy.tell(Hierarchy.session(1), "modified", Hierarchy.written(evening));
            hierarchy.tell(Hierarchy.acquisition(40), "modified", Hierarchy.written(evening));
            hierarchy.replace(hierarchy.file(80, 0), "new", evening);
            int some = changes.since(evening).changed().size();
            System.out.printf("%d %d %d %d %d %d%n", all, first, none, quiet, some, emulator.takeRequests());
        }
    }

    // --- faults ---

    /** The faults in a session, with the expected trouble. */
    private enum Seeded {
        MISSING_BLOB(Trouble.GONE),
        DENIED_CONTAINER(Trouble.DENIED),
        DUPLICATE_LABEL(Trouble.DUPLICATE),
        NON_ASCII_LABEL(null),
        TRUNCATED(null),
        WRONG_HASH(Trouble.HASH_DIFFERS),
        STATUS_401(null),
        STATUS_403(Trouble.DENIED),
        STATUS_404(Trouble.GONE),
        STATUS_429(null),
        STATUS_500(null),
        SLOW_BODY(null),
        DROPPED(null);

        /** Null if it is recovered from and everything is delivered. */
        final Trouble flagged;

        Seeded(Trouble flagged) {
            this.flagged = flagged;
        }
    }

    private static void faults(int sessions, Path folder) throws Exception {
        Hierarchy hierarchy = new Hierarchy(1, 5, sessions, 2, 2, 3_000);
        Map<Integer, Seeded> plan = new HashMap<>();
        Map<Integer, Faults.Planned> fired = new HashMap<>();
        try (Emulator emulator = new Emulator(hierarchy)) {
            Seeded[] kinds = Seeded.values();
            // Every third session has a fault; the kinds take turns.
            for (int session = 0; session < sessions; session += 3) {
                Seeded kind = kinds[session / 3 % kinds.length];
                plan.put(session, kind);
                seed(emulator, kind, session, fired);
            }
            Readers readers = new Readers(emulator);
            Map<Integer, Reconciliation> came = deliver(readers.flywheel, folder, sessions);
            report(hierarchy, folder, plan, fired, came);
            System.out.printf("requests %d waits %d%n", readers.flywheel.requests(), readers.waits.size());
        }
    }

    private static void seed(Emulator emulator, Seeded kind, int session, Map<Integer, Faults.Planned> fired) {
        Hierarchy hierarchy = emulator.hierarchy();
        int acquisition = 2 * session;
        String file = hierarchy.file(acquisition, 1);
        String bytes = emulator.downloadPath(file);
        String container = "/acquisitions/" + Hierarchy.acquisition(acquisition);
        Faults.Planned planned = switch (kind) {
            case MISSING_BLOB -> emulator.faults.always(bytes, Fault.GONE);
            case DENIED_CONTAINER -> emulator.faults.always(container, Fault.DENIED);
            case TRUNCATED -> emulator.faults.at(bytes, Fault.TRUNCATED, 1);
            case STATUS_401 -> emulator.faults.at("/sessions/" + Hierarchy.session(session), Fault.KEY_REFUSED, 1);
            case STATUS_403 -> emulator.faults.always(bytes, Fault.DENIED);
            case STATUS_404 -> emulator.faults.always(container, Fault.GONE);
            case STATUS_429 -> emulator.faults.at(container, Fault.BUSY, 2);
            case STATUS_500 -> emulator.faults.at(bytes, Fault.BROKEN, 2);
            case SLOW_BODY -> emulator.faults.at(bytes, Fault.STALLED, 1);
            case DROPPED -> emulator.faults.at(container + "/analyses", Fault.DROPPED, 2);
            case DUPLICATE_LABEL, NON_ASCII_LABEL, WRONG_HASH -> null;
        };
        if (planned != null) {
            fired.put(session, planned);
        }
        switch (kind) {
            case DUPLICATE_LABEL ->
                hierarchy.tell(Hierarchy.acquisition(acquisition + 1), "label", "run-" + acquisition);
            case NON_ASCII_LABEL -> hierarchy.tell(Hierarchy.acquisition(acquisition), "label", "脳/🧠\n../x");
            case WRONG_HASH -> hierarchy.tell(file, "hash", "v0-sha384-" + "0".repeat(96));
            default -> {}
        }
    }

    private static Map<Integer, Reconciliation> deliver(Flywheel flywheel, Path folder, int sessions) throws Exception {
        Map<Integer, Reconciliation> came = new TreeMap<>();
        Spool spool = new Spool(flywheel, folder, AT_ONCE);
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            List<Future<Reconciliation>> coming = new ArrayList<>();
            for (int session = 0; session < sessions; session++) {
                String id = Hierarchy.session(session);
                coming.add(threads.submit(() -> spool.deliver(id)));
            }
            for (int session = 0; session < sessions; session++) {
                came.put(session, coming.get(session).get());
            }
        }
        return came;
    }

    /** Prints for each kind: seeded, occurred, flagged, recovered, silent; then wrong files and false alarms. */
    private static void report(
            Hierarchy hierarchy,
            Path folder,
            Map<Integer, Seeded> plan,
            Map<Integer, Faults.Planned> fired,
            Map<Integer, Reconciliation> came)
            throws IOException {
        Map<Seeded, int[]> counts = new TreeMap<>();
        int falseAlarms = 0;
        int silentFiles = 0;
        for (int session : came.keySet()) {
            Reconciliation told = came.get(session);
            Seeded kind = plan.get(session);
            boolean allThere = silent(hierarchy, folder, session, Set.of()) == 0;
            Set<String> named = new HashSet<>();
            told.missing().forEach(item -> named.add(item.id()));
            silentFiles += silent(hierarchy, folder, session, named);
            if (kind == null) {
                falseAlarms += told.missing().size() + told.remarks().size();
                continue;
            }
            int[] count = counts.computeIfAbsent(kind, key -> new int[5]);
            boolean flagged = kind.flagged != null
                    && Stream.concat(told.missing().stream(), told.remarks().stream())
                            .anyMatch(item -> item.trouble() == kind.flagged);
            boolean gotOver = kind.flagged == null && allThere && told.isComplete();
            count[0]++;
            count[1] += !fired.containsKey(session) || fired.get(session).fired().get() > 0 ? 1 : 0;
            count[2] += flagged ? 1 : 0;
            count[3] += gotOver ? 1 : 0;
            count[4] += flagged || gotOver ? 0 : 1;
        }
        counts.forEach((kind, count) -> System.out.printf(
                "fault %s %d %d %d %d %d%n", kind, count[0], count[1], count[2], count[3], count[4]));
        System.out.printf("files-neither-right-nor-named %d%nfalse-alarms %d%n", silentFiles, falseAlarms);
    }

    /**
     * Returns how many of a session's files are neither in its tree with their own bytes, nor named, nor in a named
     * container.
     */
    private static int silent(Hierarchy hierarchy, Path folder, int session, Set<String> named) throws IOException {
        Set<String> there = new HashSet<>();
        try (Stream<Path> files = Files.walk(folder.resolve(Hierarchy.session(session)).resolve("tree"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                there.add(Hierarchy.hash(Files.readAllBytes(file)));
            }
        }
        int silent = 0;
        for (int acquisition = 2 * session; acquisition < 2 * session + 2; acquisition++) {
            for (int file : hierarchy.files(Kind.ACQUISITION, acquisition)) {
                boolean right = there.contains(Hierarchy.hash(hierarchy.content(file)));
                boolean said = named.contains(Hierarchy.id(Kind.FILE, file))
                        || named.contains(Hierarchy.acquisition(acquisition));
                silent += right || said ? 0 : 1;
            }
        }
        return silent;
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
