package dozo.source.flywheel;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A folder of this machine into which sessions are brought:
 *
 * <pre>
 * SPOOL/SESSION/tree/…            what is backed up: ordinary files under names that people can read
 * SPOOL/SESSION/incoming/…        what is on its way, under names made of ids
 * SPOOL/SESSION/delivered.json    what lies in the tree
 * </pre>
 *
 * Nothing is written outside of it, whatever names and labels say, and nothing in a tree is ever removed. A session is brought by
 * one thread at a time.
 */
public final class Spool {

    private final Flywheel flywheel;
    private final Path folder;
    private final int atOnce;

    /** What came of one file. */
    private record Came(HeldFile file, FilePath path, long sizeBytes, long fetched) {}

    /** Whether more is asked for, when one thing after the other does not come. Safe for several threads. */
    private static final class Patience {

        private final AtomicInteger failuresInARow = new AtomicInteger();
        private volatile Trouble last = Trouble.SERVER_FAULT;

        Came ask(Callable<Came> question) throws Exception {
            if (failuresInARow.get() >= Limits.FAILURES_IN_A_ROW_MAX) {
                throw new FlywheelException(
                        last, "not asked for: %d in a row before it did not come".formatted(failuresInARow.get()));
            }
            try {
                Came came = question.call();
                failuresInARow.set(0);
                return came;
            } catch (FlywheelException e) {
                if (e.trouble().mayBeOfAll()) {
                    last = e.trouble();
                    failuresInARow.incrementAndGet();
                } else {
                    failuresInARow.set(0);
                }
                throw e;
            }
        }
    }

    /** @param atOnce how many files of a session are downloaded side by side */
    public Spool(Flywheel flywheel, Path folder, int atOnce) {
        this.flywheel = flywheel;
        this.folder = folder;
        this.atOnce = atOnce;
    }

    /** The folder that is the session's experiment. */
    public Path tree(String session) {
        return tree(folder, session);
    }

    /** The folder that is the session's experiment, in a spool. */
    public static Path tree(Path spool, String session) {
        return home(spool, session).resolve("tree");
    }

    /**
     * Brings what is not here yet, and compares what Flywheel tells of with what is here.
     *
     * @throws FlywheelException when the key is not accepted any more: then nothing is known about any session
     * @throws IllegalArgumentException if it is no id
     * @throws IOException when the spool itself cannot be read or written
     */
    public Reconciliation deliver(String session) throws IOException, InterruptedException {
        Answers.checkId(session);
        SessionContents contents = new SessionContents(flywheel);
        Container container;
        try {
            container = contents.read(session);
        } catch (FlywheelException e) {
            if (e.trouble().endsAll()) {
                throw e;
            }
            Item item = Item.ofUnread(session, e);
            return new Reconciliation(session, session, 0, 0, 0, 0, List.of(item), List.of());
        }
        return bring(container, contents);
    }

    private Reconciliation bring(Container session, SessionContents contents) throws IOException, InterruptedException {
        Path home = home(session.id());
        Files.createDirectories(tree(session.id()));
        Delivered delivered = Delivered.in(home);
        sweep(home.resolve("incoming"), contents.files());
        List<Item> missing = new ArrayList<>(contents.missing());
        List<Item> remarks = new ArrayList<>(contents.remarks());
        int before = missing.size();
        long fetched = bringAll(home, contents.files(), delivered, missing);
        int count = contents.files().size();
        int here = count - (missing.size() - before);
        if (contents.missing().isEmpty()) {
            delivered
                    .besides(contents.files())
                    .forEach((id, path) -> remarks.add(new Item(
                            path.toString(),
                            id,
                            Trouble.NOT_TOLD,
                            "Flywheel tells of it no more; what is here stays")));
        }
        delivered.save();
        return new Reconciliation(
                session.id(), Item.shown(session.label()), count, here, contents.bytes(), fetched, missing, remarks);
    }

    private long bringAll(Path home, List<HeldFile> files, Delivered delivered, List<Item> missing)
            throws IOException, InterruptedException {
        List<HeldFile> asked = new ArrayList<>();
        for (HeldFile file : files) {
            if (!delivered.has(file, delivered.path(file).under(home.resolve("tree")))) {
                asked.add(file);
            }
        }
        // Else the same ones, at the beginning, could keep all others from being tried for ever.
        Collections.shuffle(asked);
        List<Future<Came>> coming = new ArrayList<>();
        Patience patience = new Patience();
        long fetched = 0;
        // NB: waits at its end for what is under way, so that nothing writes here when somebody else may.
        try (ExecutorService threads =
                Executors.newFixedThreadPool(atOnce, Thread.ofVirtual().factory())) {
            for (HeldFile file : asked) {
                FilePath path = delivered.path(file);
                coming.add(threads.submit(() -> patience.ask(() -> bring(home, file, path))));
            }
            try {
                for (int i = 0; i < coming.size(); i++) {
                    fetched += take(asked.get(i), coming.get(i), delivered, missing);
                }
            } catch (IOException | InterruptedException e) {
                threads.shutdownNow();
                delivered.save();
                throw e;
            }
        }
        missing.sort(Comparator.comparing(Item::name));
        return fetched;
    }

    private Came bring(Path home, HeldFile file, FilePath path) throws IOException, InterruptedException {
        Path end = path.under(home.resolve("tree"));
        // Killed between a file's name and its being written down, the last time.
        if (Download.isAt(end, file)) {
            return new Came(file, path, file.sizeBytes(), 0);
        }
        long bytes = new Download(flywheel, file, home.resolve("incoming").resolve(part(file))).into(end);
        return new Came(file, path, bytes, bytes);
    }

    private static long take(HeldFile file, Future<Came> coming, Delivered delivered, List<Item> missing)
            throws IOException, InterruptedException {
        try {
            Came came = coming.get();
            delivered.add(file, came.path(), came.sizeBytes());
            return came.fetched();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof FlywheelException why && !why.trouble().endsAll()) {
                missing.add(Item.of(file, why.trouble(), String.valueOf(why.getMessage())));
                return 0;
            }
            throw unexpected(e);
        }
    }

    private static IOException unexpected(ExecutionException e) throws InterruptedException {
        return switch (e.getCause()) {
            case IOException io -> io;
            case InterruptedException interrupted -> throw interrupted;
            case RuntimeException defect -> throw defect;
            case null, default -> new IOException(e);
        };
    }

    private static String part(HeldFile file) {
        return "%s.%d".formatted(file.id(), file.version());
    }

    /** Parts of what nobody wants any more: earlier versions, for one. */
    private static void sweep(Path incoming, List<HeldFile> files) throws IOException {
        if (!Files.isDirectory(incoming)) {
            return;
        }
        Set<String> wanted = new HashSet<>();
        files.forEach(file -> wanted.add(part(file)));
        try (DirectoryStream<Path> parts = Files.newDirectoryStream(incoming)) {
            for (Path one : parts) {
                if (!wanted.contains(one.getFileName().toString())) {
                    Files.delete(one);
                }
            }
        }
    }

    private Path home(String session) {
        return home(folder, session);
    }

    private static Path home(Path spool, String session) {
        return FilePath.ROOT.resolve(session.getBytes(StandardCharsets.UTF_8)).under(spool);
    }
}
