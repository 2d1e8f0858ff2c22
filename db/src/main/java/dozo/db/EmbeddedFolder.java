package dozo.db;

import static java.util.Objects.requireNonNullElse;

import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The folder of an embedded database, held by this process: the data in use, data for a later version of PostgreSQL on its way, data that
 * was in use before, and unpacked servers. Data in use is only ever replaced as a whole (ADR 0103).
 */
public final class EmbeddedFolder implements Closeable {

    /** Data of a major version that was replaced at a time. A person may delete it. */
    private static final Pattern KEPT = Pattern.compile("data-([0-9]{2,3})-([0-9]{8}T[0-9]{6}Z)");

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

    private final Path home;
    private final FileChannel lock;

    private EmbeddedFolder(Path home, FileChannel lock) {
        this.home = home;
        this.lock = lock;
    }

    /**
     * Takes a folder, which is created if missing, and completes the exchange of its data if that was interrupted.
     *
     * @throws IOException if another process holds it, for example
     */
    public static EmbeddedFolder hold(Path folder) throws IOException {
        Path home = Files.createDirectories(folder.toAbsolutePath());
        // The library unpacks the server writable for everybody, so nobody else may access the folder.
        Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwx------"));
        FileChannel lock = FileChannel.open(home.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        EmbeddedFolder held = new EmbeddedFolder(home, lock);
        try {
            if (lock.tryLock() == null) {
                throw inUse(home);
            }
            // Otherwise a new database would begin in the gap between its two renames.
            held.settle();
            return held;
        } catch (OverlappingFileLockException heldByThisProcess) {
            lock.close();
            throw inUse(home);
        } catch (IOException | RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    private static IOException inUse(Path home) {
        return new IOException("%s is in use by another Dozo; stop it, or choose another folder".formatted(home));
    }

    Path home() {
        return home;
    }

    /** Returns the data in use. */
    public Path current() {
        return home.resolve("data");
    }

    /** Returns the data of an upgrade that is not complete. */
    public Path next() {
        return home.resolve("upgrade").resolve("data");
    }

    /** Returns a folder for the rows on their way to the next data. */
    public Path rows() {
        return next().resolveSibling("rows");
    }

    Path servers() {
        return home.resolve("server");
    }

    /** Returns the major version of PostgreSQL of data. */
    public static int major(Path data) throws IOException {
        return number(data.resolve("PG_VERSION"), "");
    }

    /** Returns the major version of an unpacked server. Its initdb requires this line. */
    static int majorOf(Path server) throws IOException {
        return number(server.resolve("share/postgresql/postgres.bki"), "# PostgreSQL ");
    }

    private static int number(Path file, String before) throws IOException {
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            Matcher first = Pattern.compile(before + "([0-9]{2,3})").matcher(requireNonNullElse(lines.readLine(), ""));
            if (!first.matches()) {
                throw new IOException("%s does not begin with a version of PostgreSQL".formatted(file));
            }
            return Integer.parseInt(first.group(1));
        }
    }

    /**
     * Returns the unpacked server of a major version, the one that was unpacked last.
     *
     * @throws IOException if there is none
     */
    Path server(int major) throws IOException {
        try (Stream<Path> all = Files.list(servers())) {
            // The library creates this file when it has unpacked all.
            for (Path mark : all.map(each -> each.resolve(".exists"))
                    .filter(Files::exists)
                    .sorted(Comparator.comparingLong(
                            (Path each) -> -each.toFile().lastModified()))
                    .toList()) {
                if (majorOf(mark.resolveSibling("")) == major) {
                    return mark.resolveSibling("");
                }
            }
        }
        throw new IOException(
                "%s has no programs of PostgreSQL %d: start the version of Dozo that has it once, which unpacks them there"
                        .formatted(servers(), major));
    }

    /** Starts a server of this program's version on empty data, after what an interrupted upgrade has left is removed. */
    public EmbeddedDatabase startNext() throws IOException {
        discard();
        Files.createDirectories(rows());
        return EmbeddedDatabase.on(this, next(), true, DefaultPostgresBinaryResolver.INSTANCE, () -> {});
    }

    /** Returns the data that was replaced last by data of a later major version, if it was not deleted. */
    public Optional<Path> earlier() throws IOException {
        int now = major(current());
        try (Stream<Path> all = Files.list(home)) {
            return all.map(each -> KEPT.matcher(each.getFileName().toString()))
                    .filter(name -> name.matches() && Integer.parseInt(name.group(1)) < now)
                    .max(Comparator.comparing(name -> name.group(2)))
                    .map(name -> home.resolve(name.group()));
        }
    }

    /**
     * Puts other data in use. A process that ends here leaves either the data in use as it was, or an exchange that the next {@link #hold}
     * completes.
     *
     * @param in {@link #next()} or {@link #earlier()}
     * @return where the data is now that was in use until now
     */
    public Path exchange(Path in, Instant now) throws IOException {
        // NB: the library does not say if a server did not stop.
        stop(in);
        stop(current());
        Path aside = home.resolve("data-%d-%s".formatted(major(current()), TIME.format(now)));
        if (Files.exists(aside)) {
            throw new FileAlreadyExistsException(aside.toString());
        }
        Path partial = home.resolve("exchange.partial");
        Files.deleteIfExists(partial);
        Files.write(
                partial,
                List.of(home.relativize(aside).toString(), home.relativize(in).toString()),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE,
                StandardOpenOption.SYNC);
        move(partial, journal());
        settle();
        return aside;
    }

    /** Names the two folders of an exchange that is not complete. */
    private Path journal() {
        return home.resolve("exchange");
    }

    /** Takes each step only if it was not taken before. */
    private void settle() throws IOException {
        if (Files.notExists(journal())) {
            return;
        }
        List<String> names = Files.readAllLines(journal());
        Path aside = home.resolve(names.getFirst());
        Path in = home.resolve(names.getLast());
        if (Files.notExists(aside)) {
            move(current(), aside);
        }
        if (Files.notExists(current())) {
            move(in, current());
        }
        if (Files.exists(in)) {
            throw new IOException(
                    "expected only two of %s, %s and %s; nothing was changed".formatted(current(), aside, in));
        }
        Files.delete(journal());
        sync();
    }

    private void move(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        sync();
    }

    private void sync() throws IOException {
        try (FileChannel folder = FileChannel.open(home)) {
            folder.force(true);
        }
    }

    private static void stop(Path data) throws IOException {
        try {
            ServerProcesses.stopLeftBehind(data);
        } catch (InterruptedException e) {
            throw ServerProcesses.interrupted(e);
        }
    }

    /** Removes what an upgrade has made besides the data in use; not what an exchange that failed halfway needs. */
    public void discard() throws IOException {
        Path upgrade = home.resolve("upgrade");
        if (Files.exists(journal()) || Files.notExists(upgrade)) {
            return;
        }
        if (Files.exists(next())) {
            stop(next());
        }
        try (Stream<Path> all = Files.walk(upgrade)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }

    /** Lets other processes use the folder. */
    @Override
    public void close() throws IOException {
        lock.close();
    }
}
