package dozo.backup;

import dozo.backup.Contents.Head;
import dozo.backup.Contents.KeptFile;
import dozo.db.TableDump;
import dozo.ledger.Chain;
import dozo.ledger.Chain.Checked;
import dozo.start.OpenDatabase;
import dozo.start.Schema;
import dozo.start.Settings;
import dozo.start.StartFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** Puts a backup of Dozo into an empty database and work folder. After an interruption the same call continues. */
public final class ServiceRestore {

    private ServiceRestore() {}

    /**
     * What was restored.
     *
     * @param readers statements that admit the readers of the audit views again: roles belong to a server, and are not in a backup
     */
    public record Restored(Contents contents, List<String> readers) {

        /** Returns what a person must do for those who read the audit views; empty: nobody did. */
        public String remaining() {
            return readers.isEmpty()
                    ? ""
                    : "%nRoles of the database are not restored. For readers of the audit views, create the roles again and run as the owner of the tables:%n  %s"
                            .formatted(String.join(System.lineSeparator() + "  ", readers));
        }
    }

    /**
     * Restores what {@link ServiceBackup} made.
     *
     * @throws StartFailure if the database or the work folder has something else, this program does not have the backup's schema, or the
     *     restored ledger is not intact; the tables are empty then
     * @throws IOException if something in the backup is missing or damaged; nothing was changed then
     */
    public static Restored restore(Settings settings, Path folder) throws IOException {
        Contents contents = Contents.read(folder);
        ServiceBackup.check(folder, contents);
        Path work = settings.workFolder();
        for (KeptFile kept : contents.files()) {
            refuseOther(work.resolve(kept.name()), content(folder, kept));
        }
        try (OpenDatabase database = OpenDatabase.of(settings)) {
            return load(database.login(), folder.resolve(ServiceBackup.TABLES), contents, () -> {
                for (KeptFile kept : contents.files()) {
                    put(work.resolve(kept.name()), content(folder, kept));
                }
            });
        }
    }

    interface Last {
        void step() throws IOException;
    }

    /**
     * Loads rows into an empty database and checks the ledger, in one transaction.
     *
     * @param owner of the tables
     * @param last what must be on the disk before the commit: a database with rows is refused, so that nothing would bring it later
     */
    static Restored load(DataSource owner, Path tables, Contents contents, Last last) throws IOException {
        try (Connection connection = owner.getConnection()) {
            refuseInUse(connection);
            Schema.create(owner, contents.schema());
            connection.setAutoCommit(false);
            TableDump.load(connection, tables, contents.database());
            checkLedger(connection, contents);
            last.step();
            connection.commit();
            connection.setAutoCommit(true);
            try (Statement statement = connection.createStatement()) {
                statement.execute("analyze");
            }
            return new Restored(contents, readers(connection));
        } catch (SQLException e) {
            throw new StartFailure(
                    StartFailure.UNAVAILABLE, "the backup cannot be put into the database: " + e.getMessage(), e);
        }
    }

    /** NB: never granted by this program: in another server, the role of this name may be another person's. */
    private static List<String> readers(Connection connection) {
        JdbcClient jdbc = JdbcClient.create(new SingleConnectionDataSource(connection, true));
        return jdbc.sql("select to_regclass('audit_reader') is not null")
                        .query(Boolean.class)
                        .single()
                ? jdbc.sql("""
                        select format('call audit.admit(%L, %L);', reader, code)
                        from audit_reader left join project using (project_id) order by reader, code
                        """).query((row, _) -> row.getString(1)).list()
                : List.of();
    }

    /** Writes a file that is either whole or not there. */
    private static void put(Path file, byte[] content) throws IOException {
        if (Files.notExists(file)) {
            Path part = file.resolveSibling(file.getFileName() + ".partial");
            Files.deleteIfExists(part);
            Files.write(Files.createFile(part, ServiceBackup.OWN_FILE), content, StandardOpenOption.SYNC);
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private static byte[] content(Path folder, KeptFile kept) throws IOException {
        return Files.readAllBytes(folder.resolve(ServiceBackup.WORK).resolve(kept.name()));
    }

    private static void refuseOther(Path file, byte[] content) throws IOException {
        if (Files.exists(file, LinkOption.NOFOLLOW_LINKS) && !Arrays.equals(Files.readAllBytes(file), content)) {
            throw new StartFailure(
                    StartFailure.UNAVAILABLE,
                    "%s exists and is another one: expected an empty work folder (DOZO_WORK)".formatted(file));
        }
    }

    /** Every service appends to the ledger at its first start. */
    private static void refuseInUse(Connection connection) throws SQLException {
        if (Schema.version(connection) != null && ServiceBackup.head(connection) != null) {
            throw new StartFailure(
                    StartFailure.UNAVAILABLE,
                    "the database is in use, or this backup is in it already: expected an empty database");
        }
    }

    private static void checkLedger(Connection connection, Contents contents) throws SQLException {
        Checked checked = new Chain(JdbcClient.create(new SingleConnectionDataSource(connection, true))).check();
        Head head = contents.head();
        if (checked.breachesCount() > 0
                || (head != null && !hash(connection, head.row()).equals(head.hash()))) {
            throw new StartFailure(
                    StartFailure.UNAVAILABLE,
                    checked.breaches().isEmpty()
                            ? "the ledger in the backup was changed: row %d is not the row that was backed up"
                                    .formatted(head == null ? 0 : head.row())
                            : "the ledger in the backup is not intact: "
                                    + checked.breaches().getFirst().message());
        }
    }

    private static String hash(Connection connection, long row) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement("select hash from ledger where seq = ?")) {
            query.setLong(1, row);
            try (ResultSet found = query.executeQuery()) {
                return found.next() ? HexFormat.of().formatHex(found.getBytes(1)) : "none";
            }
        }
    }
}
