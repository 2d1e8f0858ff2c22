package dozo.db;

import static java.util.Objects.requireNonNullElse;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
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
 * The folders of an embedded database: the data in use, data that was in use before an upgrade, and unpacked servers. Whoever uses them
 * holds the lock of the folder.
 *
 * @param home absolute
 */
record DataFolders(Path home) {

    /** What a person may delete: data of a major version that was replaced at a time. */
    private static final Pattern KEPT = Pattern.compile("data-([0-9]{2,3})-([0-9]{8}T[0-9]{6}Z)");

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

    private static final Pattern RELEASE = Pattern.compile("# PostgreSQL ([0-9]{2,3})");

    Path current() {
        return home.resolve("data");
    }

    /** Returns the folder of an upgrade that is not complete. */
    Path upgrade() {
        return home.resolve("upgrade");
    }

    Path servers() {
        return home.resolve("server");
    }

    /** Names the two renames of an exchange, from its beginning to its end. */
    private Path journal() {
        return home.resolve("exchange");
    }

    /** Returns the major version of PostgreSQL of a data folder. */
    static int major(Path data) throws IOException {
        return number(data.resolve("PG_VERSION"), Pattern.compile("([0-9]{2,3})"));
    }

    /** Returns the major version of an unpacked server. Its initdb requires this line. */
    static int majorOf(Path server) throws IOException {
        return number(server.resolve("share/postgresql/postgres.bki"), RELEASE);
    }

    private static int number(Path file, Pattern form) throws IOException {
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            Matcher first = form.matcher(requireNonNullElse(lines.readLine(), ""));
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
                    .sorted(Comparator.comparing((Path each) -> each.toFile().lastModified())
                            .reversed())
                    .toList()) {
                Path server = mark.resolveSibling("");
                if (majorOf(server) == major) {
                    return server;
                }
            }
        }
        throw new IOException(
                "%s has no PostgreSQL %d, which read the data last: start the version of Dozo with it once; it unpacks it there. Or make a backup with that version (dozo backup) and restore it with this one (dozo restore-service)"
                        .formatted(servers(), major));
    }

    /** Returns the data that was replaced last by data of a later major version, if it was not deleted. */
    Optional<Path> earlier() throws IOException {
        int now = major(current());
        try (Stream<Path> all = Files.list(home)) {
            return all.map(each -> KEPT.matcher(each.getFileName().toString()))
                    .filter(name -> name.matches() && Integer.parseInt(name.group(1)) < now)
                    .max(Comparator.comparing(name -> name.group(2)))
                    .map(name -> home.resolve(name.group()));
        }
    }

    /**
     * Puts other data in the place of the data in use, which gets a name with its version and this time. A process that ends here leaves
     * the old data in use, or an exchange that {@link #settle} completes.
     *
     * @param in below home, of a server that was stopped
     * @return the new name
     */
    Path exchange(Path in, Instant now) throws IOException {
        Path aside = home.resolve("data-%d-%s".formatted(major(current()), TIME.format(now)));
        if (Files.exists(aside)) {
            throw new FileAlreadyExistsException(aside.toString());
        }
        major(in);
        Path partial = home.resolve("exchange.partial");
        Files.deleteIfExists(partial);
        Files.write(
                partial,
                List.of(home.relativize(aside).toString(), home.relativize(in).toString()),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE,
                StandardOpenOption.SYNC);
        Files.move(partial, journal(), StandardCopyOption.ATOMIC_MOVE);
        sync();
        settle();
        return aside;
    }

    /** Returns whether an exchange is not complete. */
    boolean exchanging() {
        return Files.exists(journal());
    }

    /** Completes an exchange that was interrupted. Each step is taken only if it was not taken before. */
    void settle() throws IOException {
        if (!exchanging()) {
            return;
        }
        List<String> names = Files.readAllLines(journal());
        if (names.size() != 2) {
            throw new IOException("%s is damaged: expected two names of folders".formatted(journal()));
        }
        Path aside = home.resolve(names.get(0));
        Path in = home.resolve(names.get(1));
        if (Files.notExists(aside)) {
            Files.move(current(), aside, StandardCopyOption.ATOMIC_MOVE);
            sync();
        }
        if (Files.notExists(current())) {
            Files.move(in, current(), StandardCopyOption.ATOMIC_MOVE);
            sync();
        }
        if (Files.exists(in)) {
            throw new IOException("%s, %s and %s exist: expected only two of them; nothing was changed"
                    .formatted(current(), aside, in));
        }
        Files.delete(journal());
        sync();
    }

    private void sync() throws IOException {
        try (FileChannel folder = FileChannel.open(home)) {
            folder.force(true);
        }
    }

    /** Removes a folder, if it exists. */
    static void remove(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(each);
                }
            }
        }
    }
}
