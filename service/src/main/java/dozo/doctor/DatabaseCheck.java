package dozo.doctor;

import dozo.doctor.Installation.Database;
import dozo.start.DatabaseLogin;
import dozo.start.DatabaseServer;
import dozo.start.DatabaseServer.Unfit;
import dozo.start.Settings;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** The database server: version, settings, clock and connections; the rights of Dozo's user; the schema. */
final class DatabaseCheck {

    private static final String ABOUT = "database";

    private static final Duration CLOCK_OFF_MAX = Duration.ofSeconds(5);

    /** The default of PostgreSQL is 4, for disks that turn. */
    private static final double PAGE_COST_GOOD = 2;

    private static final int NO_LIMIT = -1;

    /** The mode in which a client checks who the server is. */
    private static final String VERIFIED = "verify-full";

    private static final String NOT_CHECKED = "; sites, sources and schedules are not checked";

    /** What to do, by the beginning of the SQLSTATE. */
    private static final Map<String, String> CURES = Map.of(
            "08", "Start the server, and check host and port in DOZO_DB_URL, its listen_addresses and the firewall.",
            "28", "Set DOZO_DB_USER and DOZO_DB_PASSWORD_FILE, and let this user in by the server's pg_hba.conf.",
            "3D", "Create the database: createdb --encoding UTF8 --owner USER NAME.",
            "53", "Raise max_connections of the server, or end other programs that use it.",
            "57", "Wait until the server has started, and run dozo doctor again.");

    private DatabaseCheck() {}

    static List<Result> look(Installation installation) throws SQLException, InterruptedException {
        List<Result> results = new ArrayList<>(state(installation));
        installation
                .settings(Settings.class)
                .map(settings -> settings.db().url())
                .filter(url -> !url.isEmpty())
                .flatMap(DatabaseCheck::link)
                .ifPresent(results::add);
        return results;
    }

    /** Finds a link to another machine on which somebody in between could read and change everything. */
    private static Optional<Result> link(String url) {
        PGSimpleDataSource known = new PGSimpleDataSource();
        known.setUrl(url);
        String said = known.getSslmode();
        String mode = said != null ? said : known.getSsl() ? VERIFIED : "prefer";
        String[] hosts = known.getServerNames();
        return mode.equals(VERIFIED) || Stream.of(hosts).allMatch(HttpCheck::isHere)
                ? Optional.empty()
                : Optional.of(Result.warning(
                        ABOUT,
                        "sslmode is %s, so a machine between this one and %s could read and change everything"
                                .formatted(mode, String.join(", ", hosts)),
                        "Add sslmode=verify-full to DOZO_DB_URL, and sslrootcert=FILE if the authority is private."));
    }

    private static List<Result> state(Installation installation) throws SQLException, InterruptedException {
        return switch (installation.database()) {
            case Database.Unknown(String reason) ->
                List.of(Result.warning(
                        ABOUT,
                        reason + NOT_CHECKED,
                        "Correct the settings, or run dozo doctor as the user of the service."));
            case Database.Asleep(boolean hasData, int major) -> List.of(asleep(hasData, major));
            case Database.Closed(String address, SQLException reason) -> List.of(closed(address, reason));
            case Database.Open open -> open(open, installation);
        };
    }

    private static Result asleep(boolean hasData, int major) {
        if (major != DatabaseServer.VERSION_TESTED) {
            return Result.broken(
                    ABOUT,
                    "the embedded database is of PostgreSQL %d, and this version of Dozo has PostgreSQL %d"
                                    .formatted(major, DatabaseServer.VERSION_TESTED)
                            + NOT_CHECKED,
                    major < DatabaseServer.VERSION_TESTED
                            ? "Run dozo upgrade-database."
                            : "Install the later version of Dozo, or run dozo upgrade-database --back.");
        }
        return hasData
                ? Result.warning(
                        ABOUT,
                        "the embedded database does not run, because the service does not" + NOT_CHECKED,
                        "Start the service, and run dozo doctor again.")
                : Result.hint(
                        ABOUT,
                        "DOZO_DB_URL is not set, so the first start creates an embedded database",
                        "For more than an evaluation or a small site, provide a PostgreSQL server and set DOZO_DB_URL.");
    }

    private static Result closed(String address, SQLException reason) {
        String state = String.valueOf(reason.getSQLState());
        return Result.broken(
                ABOUT,
                "cannot use %s: %s%s".formatted(address, reason.getMessage(), NOT_CHECKED),
                CURES.getOrDefault(
                        state.substring(0, Math.min(2, state.length())),
                        "Check DOZO_DB_URL, and the log of the database server."));
    }

    private static List<Result> open(Database.Open open, Installation installation) throws SQLException {
        List<Result> results = new ArrayList<>();
        Optional<ConnectionsNeeded> needed = ConnectionsNeeded.of(installation, open);
        try (Connection connection = open.login().getConnection()) {
            DatabaseServer facts = DatabaseServer.of(connection);
            results.addAll(broken(facts.unfit()));
            if (facts.release().isEmpty()) {
                results.addFirst(release(facts));
            }
            if (!open.embedded()) {
                power(facts).ifPresent(results::add);
                results.addAll(owner(facts, installation));
            }
            results.addAll(durability(facts));
            needed.flatMap(need -> connections(facts, need)).ifPresent(results::add);
            results.add(clock(on(connection), installation.clock()));
        }
        results.addAll(pooler(open.login()));
        results.add(schema(open));
        return results;
    }

    private static List<Result> broken(List<Unfit> unfit) {
        return unfit.stream()
                .map(each -> Result.broken(ABOUT, each.message(), each.cure()))
                .toList();
    }

    private static Result release(DatabaseServer server) {
        return server.version() < DatabaseServer.VERSION_TESTED
                ? Result.hint(
                        ABOUT,
                        "PostgreSQL %s; Dozo is tested with %d"
                                .formatted(server.fullVersion(), DatabaseServer.VERSION_TESTED),
                        "Upgrade the server to PostgreSQL %d when you can.".formatted(DatabaseServer.VERSION_TESTED))
                : Result.ok(ABOUT, "PostgreSQL %s, %s".formatted(server.fullVersion(), server.encoding()));
    }

    /** Finds a user who can do more than the service needs: whoever gets its password can do it as well. */
    private static Optional<Result> power(DatabaseServer facts) {
        if (facts.superuser() || facts.ownsLedger()) {
            return Optional.of(
                    Result.warning(
                            ABOUT,
                            facts.superuser()
                                    ? "the user is a superuser, who can change the ledger and run programs on the machine of the database"
                                    : "the user owns the tables, and can switch off what keeps the ledger unchanged",
                            "Create a role that owns nothing, as docs/run/database.md says (Two roles); set DOZO_DB_USER to it, and DOZO_DB_OWNER_USER to the owner of the tables."));
        }
        return facts.admitted() && facts.mayCreate()
                ? Optional.of(Result.warning(
                        ABOUT,
                        "the user may create tables and functions beside those of the owner",
                        "Run as the owner of the schema: revoke create on schema %s from public, USER."
                                .formatted(facts.schema())))
                : Optional.empty();
    }

    /** Checks who creates and upgrades the tables: the owner if one is set, otherwise the user. */
    private static List<Result> owner(DatabaseServer user, Installation installation) {
        try {
            Optional<DatabaseLogin> owner =
                    installation.settings(Settings.class).map(Settings::db).flatMap(DatabaseLogin::owner);
            if (owner.isPresent()) {
                try (Connection connection = owner.get().getConnection()) {
                    return tables(DatabaseServer.of(connection), "owner");
                }
            }
            return user.admitted() && !user.ownsLedger()
                    ? List.of(Result.hint(
                            ABOUT,
                            "the user does not own the tables, and cannot upgrade them",
                            "Set DOZO_DB_OWNER_USER for the service; workers and commands do not need it."))
                    : tables(user, "user");
        } catch (SQLException | IllegalArgumentException e) {
            return List.of(
                    Result.broken(
                            ABOUT,
                            "cannot log in as the owner (DOZO_DB_OWNER_USER): " + e.getMessage(),
                            "Set DOZO_DB_OWNER_USER and DOZO_DB_OWNER_PASSWORD_FILE, and let this role in by the server's pg_hba.conf."));
        }
    }

    /** Checks whether somebody, the user or the owner, may create and upgrade the tables. */
    private static List<Result> tables(DatabaseServer facts, String who) {
        List<Result> results = new ArrayList<>(broken(facts.unfitForTables(who)));
        if (!facts.findsWords()) {
            results.add(
                    Result.hint(
                            ABOUT,
                            "the extension pg_trgm is not installed, so searches for experiments are slow",
                            "Before the first start, install PostgreSQL's contrib modules, and run as a superuser: create extension pg_trgm."));
        }
        return results;
    }

    private static List<Result> durability(DatabaseServer facts) {
        List<Result> results = new ArrayList<>();
        if (!facts.fsync()) {
            results.add(Result.broken(
                    ABOUT,
                    "fsync is off, so a power cut can destroy the database",
                    "Set fsync = on in postgresql.conf, and reload the server."));
        }
        if (!facts.fullPageWrites()) {
            results.add(Result.warning(
                    ABOUT,
                    "full_page_writes is off, so a power cut can damage tables",
                    "Set full_page_writes = on, unless the file system writes whole pages, as ZFS does."));
        }
        if (facts.synchronousCommit().equals("off")) {
            results.add(Result.warning(
                    ABOUT,
                    "synchronous_commit is off, so a power cut can lose the last receipts and lines of the ledger",
                    "Set synchronous_commit = on for this database or in postgresql.conf."));
        }
        if (facts.pageCost() > PAGE_COST_GOOD) {
            results.add(Result.hint(
                    ABOUT,
                    "random_page_cost is %s, which suits disks that turn".formatted(facts.pageCost()),
                    "On solid-state disks set random_page_cost = 1.1 for this database."));
        }
        return results;
    }

    private static Optional<Result> connections(DatabaseServer facts, ConnectionsNeeded needed) {
        int least = facts.ourLimit() == NO_LIMIT
                ? facts.connectionsMax()
                : Math.min(facts.connectionsMax(), facts.ourLimit());
        return needed.all() <= least
                ? Optional.empty()
                : Optional.of(
                        Result.warning(
                                ABOUT,
                                "the server allows Dozo %d connections; %s".formatted(least, needed.words()),
                                "Raise max_connections, or the limit of the user or the database; or lower DOZO_TRANSFER_PARTITIONS."));
    }

    private static Result clock(JdbcClient database, InstantSource clock) {
        Instant before = clock.instant();
        Instant there = database.sql("select clock_timestamp()")
                .query((row, n) -> row.getObject(1, OffsetDateTime.class).toInstant())
                .single();
        // Half of the round trip either way does not matter.
        Duration ahead = Duration.between(clock.instant(), there);
        Duration behind = Duration.between(there, before);
        Duration off = ahead.compareTo(behind) > 0 ? ahead : behind;
        return off.compareTo(CLOCK_OFF_MAX) > 0
                ? Result.warning(
                        "clock",
                        "the clocks of this machine and of the database differ by %,d s".formatted(off.toSeconds()),
                        "Set both by NTP (chrony, systemd-timesyncd).")
                : Result.ok("clock", "the same as that of the database");
    }

    private static List<Result> pooler(DatabaseLogin login) throws SQLException {
        return login.sharesSessions()
                ? List.of(
                        Result.broken(
                                ABOUT,
                                "a pooler gives one session to several connections, so locks and settings of sessions do not hold",
                                "Set pool_mode = session for Dozo's database in the pooler (PgBouncer), or connect without one."))
                : List.of();
    }

    private static Result schema(Database.Open open) {
        return switch (open.schema()) {
            case NONE -> Result.ok("schema", "none yet; the first start creates it");
            case CURRENT -> Result.ok("schema", "that of this version");
            case OLDER ->
                Result.warning(
                        "schema",
                        "older than this version of Dozo" + NOT_CHECKED,
                        "Start this version of the service, which upgrades it, and run dozo doctor again.");
            case UNREADABLE ->
                Result.broken(
                        "schema",
                        "the user cannot read it" + NOT_CHECKED,
                        "Set DOZO_DB_OWNER_USER to the owner of Dozo's tables and start the service, which admits DOZO_DB_USER.");
            case OTHER ->
                Result.broken(
                        "schema",
                        "it belongs to another version of Dozo, or to another program" + NOT_CHECKED,
                        "Install the version of Dozo that used this database last, or set DOZO_DB_URL to Dozo's own database.");
        };
    }

    private static JdbcClient on(Connection connection) {
        return JdbcClient.create(new SingleConnectionDataSource(connection, true));
    }
}
