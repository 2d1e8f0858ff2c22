package dozo.backup;

import dozo.backup.Contents.Head;
import dozo.backup.ServiceRestore.Restored;
import dozo.db.EmbeddedDatabase;
import dozo.db.EmbeddedUpgrade;
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
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** Brings the embedded database to this program's major version of PostgreSQL, and back (ADR 0103). The service is stopped meanwhile. */
public final class DatabaseUpgrade {

    private DatabaseUpgrade() {}

    /**
     * What was done.
     *
     * @param kept the data that was in use before; null: it has the version already, and nothing was changed
     * @param restored null likewise
     */
    public record Upgraded(
            int from,
            int to,
            @Nullable Path kept,
            @Nullable Restored restored) {}

    /**
     * Makes new data of this program's version from the rows of the data in use, checks it, and puts it in use. After an interruption,
     * at any point, the same call begins anew or finds the upgrade complete.
     *
     * @throws StartFailure if the database is not embedded, in use or of a later version, for example; the data in use is unchanged then
     */
    public static Upgraded upgrade(Settings settings, InstantSource clock) throws IOException {
        try (EmbeddedUpgrade upgrade = open(settings)) {
            try {
                return upgraded(upgrade, clock);
            } finally {
                upgrade.discard();
            }
        }
    }

    private static Upgraded upgraded(EmbeddedUpgrade upgrade, InstantSource clock) throws IOException {
        int from = upgrade.major();
        int to;
        Restored restored;
        try (EmbeddedDatabase next = upgrade.next()) {
            to = upgrade.nextMajor();
            if (to <= from) {
                return nothing(from, to);
            }
            restored = moved(upgrade, next, clock);
        }
        return new Upgraded(from, to, upgrade.complete(clock.instant()), restored);
    }

    private static Upgraded nothing(int from, int here) {
        if (here < from) {
            throw new StartFailure(
                    StartFailure.CONFIGURATION,
                    "the embedded database is of PostgreSQL %d, and this version of Dozo has %d: install a later version of Dozo, or use --back"
                            .formatted(from, here));
        }
        return new Upgraded(from, here, null, null);
    }

    private static Restored moved(EmbeddedUpgrade upgrade, EmbeddedDatabase next, InstantSource clock)
            throws IOException {
        Path rows = upgrade.rows();
        Contents contents;
        try (KeptServer old = upgrade.inUse();
                Connection connection = new DatabaseLogin(old.owner()).getConnection()) {
            contents = ServiceBackup.rows(connection, rows, clock.instant(), List.of());
        } catch (SQLException e) {
            throw new StartFailure(StartFailure.UNAVAILABLE, "the database cannot be read: " + e.getMessage(), e);
        }
        TableDump.check(rows, contents.database());
        DatabaseLogin owner = new DatabaseLogin(next.owner());
        Restored restored = ServiceRestore.load(owner, rows, contents, () -> {});
        // Otherwise its stop would have to write all of it, for longer than a stop may take.
        JdbcClient.create(owner).sql("checkpoint").update();
        return restored;
    }

    /**
     * What is in data that was in use before an upgrade, and what is only in the data in use.
     *
     * @param earlier its folder
     * @param to its major version of PostgreSQL
     * @param lost what would be lost, for people
     * @param kept where the data in use is now; null: nothing was changed
     */
    public record Back(
            Path earlier, int to, String lost, @Nullable Path kept) {}

    /**
     * Compares the data in use with the data before the last upgrade, and puts that in use again if asked to.
     *
     * @throws StartFailure if there is none, for example; nothing was changed then
     */
    public static Back back(Settings settings, boolean really, InstantSource clock) throws IOException {
        try (EmbeddedUpgrade upgrade = open(settings)) {
            Path earlier = upgrade.earlier()
                    .orElseThrow(() -> new StartFailure(
                            StartFailure.UNAVAILABLE,
                            "there is no way back: %s has no data of an earlier version of PostgreSQL"
                                    .formatted(settings.embedded())));
            State then;
            try (KeptServer server = upgrade.server(earlier)) {
                then = State.of(server, null);
            } catch (SQLException e) {
                throw new StartFailure(
                        StartFailure.UNAVAILABLE, "%s cannot be read: %s".formatted(earlier, e.getMessage()), e);
            }
            String lost = lost(upgrade, then);
            return new Back(
                    earlier, upgrade.majorOf(earlier), lost, really ? upgrade.back(earlier, clock.instant()) : null);
        }
    }

    /** What cannot be counted is said to be unknown: the way back may be needed because the later server does not start. */
    private static String lost(EmbeddedUpgrade upgrade, State then) {
        try (KeptServer server = upgrade.inUse()) {
            State now = State.of(server, then.head);
            return now.continues
                    ? "%,d rows of the ledger and %,d receipts that were written since the upgrade"
                            .formatted(now.ledger - then.ledger, now.receipts - then.receipts)
                    : "everything since: the ledger in use is not a continuation of the earlier one";
        } catch (IOException | SQLException e) {
            return "unknown, because the data in use cannot be read: " + e.getMessage();
        }
    }

    /** @param continues whether its ledger has the last row of another one */
    private record State(long ledger, long receipts, @Nullable Head head, boolean continues) {

        static State of(KeptServer server, @Nullable Head before) throws SQLException {
            try (Connection connection = new DatabaseLogin(server.owner()).getConnection()) {
                JdbcClient jdbc = JdbcClient.create(new SingleConnectionDataSource(connection, true));
                return new State(
                        count(jdbc, "select count(*) from ledger"),
                        count(jdbc, "select count(*) from receipt"),
                        ServiceBackup.head(connection),
                        before == null || ServiceRestore.hash(connection, before.row()).equals(before.hash()));
            }
        }

        private static long count(JdbcClient jdbc, String query) {
            return jdbc.sql(query).query((row, _) -> row.getLong(1)).single();
        }
    }

    private static EmbeddedUpgrade open(Settings settings) throws IOException {
        if (!settings.db().url().isEmpty() || !settings.hasEmbedded()) {
            throw new StartFailure(
                    StartFailure.UNAVAILABLE,
                    settings.db().url().isEmpty()
                            ? "there is no embedded database in %s (DOZO_WORK)".formatted(settings.workFolderOrNone())
                            : "the database is your own (DOZO_DB_URL): upgrade its server as its manual says; see Upgrade of PostgreSQL in Dozo's manual for operators");
        }
        return EmbeddedUpgrade.of(settings.embedded());
    }
}
