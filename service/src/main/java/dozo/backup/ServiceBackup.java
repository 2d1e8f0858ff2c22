package dozo.backup;

import dozo.backup.Contents.Head;
import dozo.backup.Contents.KeptFile;
import dozo.db.TableDump;
import dozo.file.Build;
import dozo.file.Digest;
import dozo.start.Given;
import dozo.start.OpenDatabase;
import dozo.start.Schema;
import dozo.start.Settings;
import dozo.start.StartFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A backup of Dozo itself, in a folder of its own: the rows of all tables at one moment, every key and password in the work folder,
 * and the settings without secrets. It is made while a service runs or not. Who can read it can be Dozo at every site, so it is for its
 * owner only.
 */
public final class ServiceBackup {

    static final String TABLES = "tables";
    static final String WORK = "work";
    static final String SETTINGS = "settings";

    /** The name of a backup that is not complete. */
    static final String PARTIAL = ".partial";

    private static final FileAttribute<Set<PosixFilePermission>> OWN_FOLDER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    static final FileAttribute<Set<PosixFilePermission>> OWN_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private ServiceBackup() {}

    /**
     * What was made.
     *
     * @param tables how many
     * @param rows in them
     * @param keys the number of files of the work folder
     * @param ledgerRow the last row of the ledger when it began; null: it had none
     */
    public record Made(
            Path folder,
            int tables,
            long rows,
            int keys,
            @Nullable Long ledgerRow) {}

    /**
     * Makes a backup in a new folder below one that exists, and reads it again. What a killed backup of this service has left there, with
     * its keys, is removed. NB: one at a time in a process, because a process cannot test its own locks.
     *
     * @return after it is on the disk
     * @throws StartFailure if the database has no tables of Dozo, for example
     */
    public static synchronized Made make(Given given, Path parent, InstantSource clock) throws IOException {
        Settings settings = given.of(Settings.class);
        if (!Files.isDirectory(settings.workFolderOrNone())
                || (settings.db().url().isEmpty() && !settings.hasEmbedded())) {
            throw new StartFailure(
                    StartFailure.UNAVAILABLE,
                    "there is nothing to back up: no service with these settings has run here (DOZO_WORK=%s)"
                            .formatted(settings.workFolderOrNone()));
        }
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        Path folder = parent.resolve(KeptBackups.name(now));
        Path partial = parent.resolve(KeptBackups.name(now) + PARTIAL);
        if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            throw new FileAlreadyExistsException(folder.toString());
        }
        String owner = settings.service().nameHere() + " " + settings.workFolderOrNone();
        KeptBackups.removeLeftBehind(parent, owner);
        Files.createDirectory(partial, OWN_FOLDER);
        try (FileChannel _ = KeptBackups.mark(partial, owner)) {
            Contents contents = written(settings, given, partial, now);
            try (FileChannel file = FileChannel.open(
                    partial.resolve(Contents.FILE),
                    Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    OWN_FILE)) {
                file.write(ByteBuffer.wrap(contents.json()));
                file.force(true);
            }
            check(partial, Contents.read(partial));
            sync(partial.resolve(TABLES), partial.resolve(WORK), partial);
            Files.move(partial, folder, StandardCopyOption.ATOMIC_MOVE);
            KeptBackups.unmark(folder);
            sync(parent);
            return new Made(
                    folder,
                    contents.database().tables().size(),
                    contents.database().rows(),
                    contents.files().size(),
                    contents.head() == null ? null : contents.head().row());
        } catch (IOException | RuntimeException | Error e) {
            KeptBackups.remove(partial);
            throw e;
        }
    }

    private static Contents written(Settings settings, Given given, Path folder, Instant now) throws IOException {
        Path tables = Files.createDirectory(folder.resolve(TABLES), OWN_FOLDER);
        // The keys first: one that is made meanwhile is for rows that are not in the backup yet.
        List<KeptFile> files =
                keep(settings.workFolderOrNone(), Files.createDirectory(folder.resolve(WORK), OWN_FOLDER));
        try (OpenDatabase database = OpenDatabase.of(settings);
                Connection connection = database.login().getConnection()) {
            Contents contents = rows(connection, tables, now, files);
            Files.writeString(
                    Files.createFile(folder.resolve(SETTINGS), OWN_FILE), settings(given), StandardOpenOption.SYNC);
            return contents;
        } catch (SQLException e) {
            throw new StartFailure(StartFailure.UNAVAILABLE, "the database cannot be read: " + e.getMessage(), e);
        }
    }

    /** Writes the rows of all tables, as the tables' owner. */
    static Contents rows(Connection connection, Path tables, Instant now, List<KeptFile> files)
            throws SQLException, IOException {
        String schema = Schema.version(connection);
        if (schema == null) {
            throw new StartFailure(StartFailure.UNAVAILABLE, "there is nothing to back up: the database is empty");
        }
        Head head = head(connection);
        TableDump.Contents rows = TableDump.write(connection, tables);
        return new Contents(
                Contents.FORM,
                now,
                Build.VERSION,
                schema,
                connection.getMetaData().getDatabaseProductVersion(),
                head,
                rows,
                files);
    }

    /** Copies the files of the work folder; not its folders, which are the embedded database and what can be fetched again. */
    private static List<KeptFile> keep(Path work, Path to) throws IOException {
        List<KeptFile> kept = new ArrayList<>();
        try (DirectoryStream<Path> files =
                Files.newDirectoryStream(work, each -> Files.isRegularFile(each, LinkOption.NOFOLLOW_LINKS))) {
            for (Path file : files) {
                byte[] content = Files.readAllBytes(file);
                String name = file.getFileName().toString();
                Files.write(Files.createFile(to.resolve(name), OWN_FILE), content, StandardOpenOption.SYNC);
                kept.add(new KeptFile(name, Digest.ofContent(content).toString()));
            }
        }
        kept.sort(Comparator.comparing(KeptFile::name));
        return kept;
    }

    /** Returns what is set, as a settings file has it; a secret only by its name. */
    private static String settings(Given given) {
        StringBuilder lines = new StringBuilder(
                "# What was set. Secrets, and the files that settings name, are not in this backup.\n");
        given.inForce().stream()
                .filter(each -> !each.from().equals("default"))
                .forEach(each -> lines.append("%s%s=%s%n"
                        .formatted(
                                each.declared().secret() ? "#" : "",
                                each.declared().environment(),
                                each.shown())));
        return lines.toString();
    }

    /**
     * Reads a backup.
     *
     * @throws IOException if something in it is missing or not what was written
     */
    static void check(Path folder, Contents contents) throws IOException {
        for (KeptFile kept : contents.files()) {
            Path file = folder.resolve(WORK).resolve(kept.name());
            if (!Digest.ofContent(Files.readAllBytes(file)).toString().equals(kept.sha256())) {
                throw new IOException(file + " is not what was written: its SHA-256 differs");
            }
        }
        TableDump.check(folder.resolve(TABLES), contents.database());
    }

    static @Nullable Head head(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select seq, hash from ledger order by seq desc limit 1")) {
            return row.next() ? new Head(row.getLong(1), HexFormat.of().formatHex(row.getBytes(2))) : null;
        }
    }

    private static void sync(Path... folders) throws IOException {
        for (Path folder : folders) {
            try (FileChannel open = FileChannel.open(folder)) {
                open.force(true);
            }
        }
    }
}
