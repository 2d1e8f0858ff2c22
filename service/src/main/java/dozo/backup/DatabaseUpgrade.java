package dozo.backup;

import dozo.backup.ServiceRestore.Restored;
import dozo.db.EmbeddedDatabase;
import dozo.db.EmbeddedFolder;
import dozo.db.KeptServer;
import dozo.db.TableDump;
import dozo.start.DatabaseLogin;
import dozo.start.Settings;
import dozo.start.StartFailure;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.List;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** Brings the embedded database to this program's major version of PostgreSQL, and back (ADR 0103). The service is stopped meanwhile. */
public final class DatabaseUpgrade {

    private DatabaseUpgrade() {}

    /**
     * Makes new data of this program's version from the rows of the data in use, checks it, and puts it in use. After an interruption
     * at any point, the same call begins anew or finds the upgrade complete.
     *
     * @return what was done, for people
     * @throws StartFailure if the database is not embedded, in use or of a later version, for example; the data in use is unchanged then
     */
    public static String upgrade(Settings settings, InstantSource clock) throws IOException {
        try (EmbeddedFolder folder = hold(settings)) {
            try {
                return upgraded(folder, clock);
            } finally {
                folder.discard();
            }
        }
    }

    private static String upgraded(EmbeddedFolder folder, InstantSource clock) throws IOException {
        int from = EmbeddedFolder.major(folder.current());
        int to;
        Restored restored;
        try (EmbeddedDatabase next = folder.startNext()) {
            to = EmbeddedFolder.major(folder.next());
            if (to == from) {
                return "the embedded database has PostgreSQL %d already; nothing was changed".formatted(to);
            }
            if (to < from) {
                throw new StartFailure(
                        StartFailure.CONFIGURATION,
                        "the embedded database has PostgreSQL %d, and this version of Dozo has %d: install the later version, or use --back"
                                .formatted(from, to));
            }
            restored = moved(folder, new DatabaseLogin(next.owner()), clock);
        }
        Path kept = folder.exchange(folder.next(), clock.instant());
        return "upgraded the embedded database from PostgreSQL %d to %d: %,d rows; the ledger is intact. Start the service: dozo serve%nThe old database stays in %s. Delete it when you do not need the way back (dozo upgrade-database --back)%s"
                .formatted(from, to, restored.contents().database().rows(), kept, restored.remaining());
    }

    private static Restored moved(EmbeddedFolder folder, DatabaseLogin next, InstantSource clock) throws IOException {
        Contents contents;
        try (KeptServer old = KeptServer.start(folder, folder.current());
                Connection connection = new DatabaseLogin(old.owner()).getConnection()) {
            contents = ServiceBackup.rows(connection, folder.rows(), clock.instant(), List.of());
        } catch (SQLException e) {
            throw new StartFailure(StartFailure.UNAVAILABLE, "the database cannot be read: " + e.getMessage(), e);
        }
        TableDump.check(folder.rows(), contents.database());
        Restored restored = ServiceRestore.load(next, folder.rows(), contents, () -> {});
        // Otherwise its stop would have to write all of it, for longer than a stop may take.
        JdbcClient.create(next).sql("checkpoint").update();
        return restored;
    }

    /**
     * Compares the data in use with the data before the last upgrade, and puts that in use again if asked to. Nothing is deleted.
     *
     * @return what is lost, for people
     * @throws StartFailure if there is none, for example; nothing was changed then
     */
    public static String back(Settings settings, boolean really, InstantSource clock) throws IOException {
        try (EmbeddedFolder folder = hold(settings)) {
            Path earlier = folder.earlier()
                    .orElseThrow(() -> new StartFailure(
                            StartFailure.UNAVAILABLE,
                            "there is no way back: %s has no data of an earlier version of PostgreSQL"
                                    .formatted(settings.embedded())));
            int to = EmbeddedFolder.major(earlier);
            String lost =
                    "%s is the database before the upgrade, with PostgreSQL %d. Not in it: %s. Files at sites stay as they are%n"
                            .formatted(earlier, to, lost(folder, earlier));
            return really
                    ? lost
                            + "Returned to it; the other database stays in %s. Start the version of Dozo that has PostgreSQL %d"
                                    .formatted(folder.exchange(earlier, clock.instant()), to)
                    : lost + "Nothing was changed. To return to it: dozo upgrade-database --back --yes";
        }
    }

    /** Says so if it is unknown: the way back may be needed because the later server does not start. */
    private static String lost(EmbeddedFolder folder, Path earlier) throws IOException {
        Counts then = Counts.of(folder, earlier);
        try {
            Counts now = Counts.of(folder, folder.current());
            return "rows of the ledger: %,d; receipts: %,d"
                    .formatted(now.ledger - then.ledger, now.receipts - then.receipts);
        } catch (IOException e) {
            return "unknown, because the database in use cannot be read (%s)".formatted(e.getMessage());
        }
    }

    private record Counts(long ledger, long receipts) {

        static Counts of(EmbeddedFolder folder, Path data) throws IOException {
            try (KeptServer server = KeptServer.start(folder, data);
                    Connection connection = new DatabaseLogin(server.owner()).getConnection()) {
                return JdbcClient.create(new SingleConnectionDataSource(connection, true))
                        .sql(
                                "select (select count(*) from ledger) as ledger, (select count(*) from receipt) as receipts")
                        .query(Counts.class)
                        .single();
            } catch (SQLException | DataAccessException e) {
                throw new IOException("%s cannot be read: %s".formatted(data, e.getMessage()), e);
            }
        }
    }

    private static EmbeddedFolder hold(Settings settings) throws IOException {
        if (!settings.db().url().isEmpty() || !settings.hasEmbedded()) {
            throw new StartFailure(
                    StartFailure.UNAVAILABLE,
                    settings.db().url().isEmpty()
                            ? "there is no embedded database in %s (DOZO_WORK)".formatted(settings.workFolderOrNone())
                            : "the database is your own (DOZO_DB_URL): upgrade its server, as docs/run/database.md says");
        }
        return EmbeddedFolder.hold(settings.embedded());
    }
}
