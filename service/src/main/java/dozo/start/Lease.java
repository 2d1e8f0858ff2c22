package dozo.start;

import static java.util.Objects.requireNonNull;

import dozo.db.ActiveService;
import dozo.db.ActiveService.Holder;
import dozo.run.Equipment;
import dozo.start.LeaseTable.Kept;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lease of the one active service, on a connection of its own (ADR 0081). Each takeover begins a new term. All
 * sessions of the active service belong to its term ({@link LeaseTable#enter}); who begins a term ends those of earlier
 * ones with their transactions, and the database refuses new ones.
 *
 * <p>The active service also holds an advisory lock, so that commands which need the database alone, and versions of
 * Dozo without leases, are refused.
 */
final class Lease implements AutoCloseable {

    /** How often a lease is renewed in its length. */
    private static final int RENEWALS = 6;

    /**
     * How long one answer of the database may take. A connection that was cut gives none for a quarter of an hour. It may be
     * longer than a short lease, which expires meanwhile.
     */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);

    private static final int VALID_SECONDS = 5;

    /** PostgreSQL's SQLSTATE for a lock that was not available in time. */
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private static final Logger LOG = LoggerFactory.getLogger(Lease.class);

    private final DataSource database;
    private final String name;
    private final String url;
    private final Schema schema;
    private final ActiveService active;
    private final SignOfLife sign;

    /** How long the active service may be without the database before another one takes over. */
    private final Duration length;

    private volatile int term;
    private volatile Role role = Role.SERVICE;

    /** Guarded by this, like all fields below. */
    private @Nullable Connection connection;

    private @Nullable Session session;
    private @Nullable Instant seenUntil;
    private @Nullable String version;
    private long renewedAt;
    private boolean told;

    /** A server process and its start time, because process numbers are used again. */
    private record Session(int process, String since) {}

    /** Decides nothing yet. {@code url} may be empty. */
    Lease(DataSource database, String url, Schema schema, ActiveService active, Duration length) {
        this.database = database;
        this.name = active.name();
        this.url = url;
        this.schema = schema;
        this.active = active;
        this.sign = new SignOfLife(name, url);
        this.length = length.truncatedTo(ChronoUnit.MILLIS);
    }

    /** Returns the term in which this service is active; 0: it stands by. */
    int term() {
        return term;
    }

    /**
     * Becomes active, with the schema of this program, or stands by. Waits up to 5 s for the connection of a process
     * that was just killed to end.
     *
     * @return false if it cannot be decided yet: call again
     * @throws StartFailure if another service is active, and this one may not stand by or has the same name
     */
    synchronized boolean begin(Role asked) throws SQLException {
        role = asked;
        Connection fresh = open();
        try {
            if (role == Role.WORKER) {
                return joins(fresh);
            }
            Optional<Kept> kept = LeaseTable.kept(fresh);
            boolean others = kept.filter(
                            row -> row.valid() && !row.holder().name().equals(name))
                    .isPresent();
            if (!others && lock(fresh)) {
                if (begun(fresh, kept.isPresent())) {
                    return true;
                }
                unlock(fresh);
            }
            if (role == Role.COMMAND) {
                throw used("stop it, or set a different DOZO_DB_URL");
            }
            if (standsBy(fresh)) {
                connection = fresh;
                return true;
            }
            fresh.close();
            return false;
        } catch (SQLException | RuntimeException e) {
            fresh.close();
            throw e;
        }
    }

    /** Becomes active. The sessions of the former active service end before the schema is changed. */
    private boolean begun(Connection fresh, boolean hasLease) throws SQLException {
        Optional<Holder> self = hasLease ? takeTerm(fresh, true) : Optional.empty();
        if (hasLease && self.isEmpty()) {
            return false;
        }
        schema.migrate();
        // Meanwhile the lease may have expired, and another service may have begun a term.
        if (self.isEmpty() || !renewed(fresh, self.get().term())) {
            self = takeTerm(fresh, true);
        }
        if (self.isPresent()) {
            hold(fresh, self.get());
        }
        return self.isPresent();
    }

    /** Uses the database beside its active service, if it has the schema of this program. */
    private boolean joins(Connection fresh) throws SQLException {
        Optional<Kept> kept = LeaseTable.kept(fresh).filter(_ -> schema.isCurrent());
        if (kept.isEmpty()) {
            fresh.close();
            return false;
        }
        version = Schema.version(fresh);
        active.standBy(kept.get().holder());
        connection = fresh;
        return true;
    }

    /** Returns the failure of a worker that does not fit the database. */
    static StartFailure unfit() {
        return new StartFailure(
                StartFailure.UNAVAILABLE,
                "the database has no service yet, or one of another version or with another DOZO_DB_USER: start the service first, and install its version here");
    }

    /** Returns the failure of a start that could not be decided in time. */
    static StartFailure undecided() {
        return used("it is of another version, or upgrades the database now: stop it first, or try again later");
    }

    private boolean standsBy(Connection fresh) throws SQLException {
        Optional<Kept> kept = LeaseTable.kept(fresh).filter(_ -> schema.isCurrent());
        if (kept.isEmpty()) {
            return false;
        }
        Kept other = kept.get();
        if (other.valid() && other.holder().name().equals(name)) {
            // The former process of this service, or another service with this name: only the latter renews the lease.
            if (seenUntil != null && !seenUntil.equals(other.until())) {
                throw used("it has the same name, %s: stop it, or give this one another DOZO_SERVICE_NAME"
                        .formatted(name));
            }
            seenUntil = other.until();
            return false;
        }
        version = Schema.version(fresh);
        active.standBy(other.holder());
        LOG.info(
                "this service, {}, stands by: {} is active since {}",
                name,
                other.holder().name(),
                since(other.holder()));
        return true;
    }

    /** Returns whether the lease connection answers. */
    synchronized boolean holds() throws SQLException {
        return connection != null && connection.isValid(VALID_SECONDS);
    }

    /**
     * Connects again after the connection was lost. Fails as long as a server process that does not respond keeps the former
     * session: call again.
     *
     * @throws StartFailure if another service has taken over, or uses the database
     */
    synchronized void reopen() throws SQLException {
        close(connection);
        connection = null;
        Connection fresh = open();
        try {
            if (term > 0) {
                require(fresh);
                LeaseTable.enter(fresh, term);
                boolean ended = endFormer(fresh);
                if (!lock(fresh)) {
                    if (!ended) {
                        throw new SQLException(
                                "the former session of this service has not ended yet, and has the lock of the service");
                    }
                    throw used("this one has lost its connection and stops");
                }
                session = session(fresh);
                renewNow();
            }
            connection = fresh;
        } catch (SQLException | RuntimeException e) {
            fresh.close();
            throw e;
        }
        keep();
    }

    /**
     * Renews the lease of the active service, or takes one that has expired. Call it about once a second.
     *
     * @throws StartFailure if this service must end: another one has taken over, or has changed the schema
     */
    synchronized void keep() throws SQLException {
        Connection open = requireNonNull(connection);
        if (term > 0) {
            if (renewedAt == 0
                    || System.nanoTime() - renewedAt
                            >= length.dividedBy(RENEWALS).toNanos()) {
                renew(open);
            }
        } else {
            watch(open);
        }
        if (role != Role.COMMAND && active.mayBeReplaced()) {
            sign.give(open, process());
        }
    }

    /** Has the others know what this process has of that which all need to have in common. */
    void equip(Equipment equipment) {
        sign.equip(equipment.json());
    }

    /** Returns the number of a worker's process, because several can run on a machine; 0 for a service. */
    private long process() {
        return role == Role.WORKER ? ProcessHandle.current().pid() : 0;
    }

    /** Has the next {@link #keep} renew the lease, however short ago that was. */
    synchronized void renewNow() {
        renewedAt = 0;
    }

    private void renew(Connection open) throws SQLException {
        if (!renewed(open, term)) {
            require(open);
        }
        active.renew(renewedAt, length);
    }

    /** Renews the lease if this term still holds. */
    private boolean renewed(Connection open, int own) throws SQLException {
        long before = System.nanoTime();
        if (!LeaseTable.renew(open, own, length)) {
            return false;
        }
        renewedAt = before;
        return true;
    }

    /** Fails if another service has begun a later term. */
    private void require(Connection open) throws SQLException {
        Holder now = LeaseTable.kept(open).orElseThrow().holder();
        if (now.term() != term) {
            active.lose(now);
            throw new StartFailure(
                    StartFailure.UNAVAILABLE,
                    "the service %s has taken over the database at %s".formatted(now.name(), since(now)));
        }
    }

    private void watch(Connection open) throws SQLException {
        if (!Objects.equals(version, Schema.version(open))) {
            throw schema.refused();
        }
        Kept kept = LeaseTable.kept(open).orElseThrow();
        active.standBy(kept.holder());
        if (kept.valid() || role == Role.WORKER) {
            return;
        }
        Optional<Holder> self = takeTerm(open, false);
        if (self.isEmpty()) {
            return;
        }
        if (lock(open)) {
            hold(open, self.get());
            LOG.warn(
                    "this service, {}, has taken over from {}, which was active since {}",
                    name,
                    kept.holder().name(),
                    since(kept.holder()));
        } else {
            LeaseTable.release(open, self.get().term());
            if (!told) {
                told = true;
                LOG.warn("this service cannot take over: a command or another version of Dozo uses the database");
            }
        }
    }

    /** Begins a new term if the lease is free, and ends everything of earlier ones. */
    private Optional<Holder> takeTerm(Connection open, boolean atStart) throws SQLException {
        renewedAt = System.nanoTime();
        Optional<Holder> self = LeaseTable.take(open, name, url, length, atStart);
        if (self.isPresent()) {
            LeaseTable.enter(open, self.get().term());
            LeaseTable.endEarlier(open, self.get().term());
            session = session(open);
        }
        return self;
    }

    /**
     * Records that this connection holds lock and lease. Workers use the length of this service's lease from now on. NB: not
     * in {@link #takeTerm}, which an earlier schema must allow.
     */
    private void hold(Connection open, Holder self) throws SQLException {
        LeaseTable.setLength(open, self.term(), length);
        connection = open;
        // First the term: whoever finds this service active gets sessions of its term.
        term = self.term();
        active.begin(self, renewedAt, length);
    }

    /** Returns when a service became active, to the second. */
    private static Instant since(Holder holder) {
        return Instant.ofEpochSecond(holder.since().getEpochSecond());
    }

    private Connection open() throws SQLException {
        Connection fresh = database.getConnection();
        try {
            fresh.setNetworkTimeout(Runnable::run, (int) ANSWER_LIMIT.toMillis());
            try (Statement statement = fresh.createStatement()) {
                statement.execute("set lock_timeout = '5s'");
            }
            return fresh;
        } catch (SQLException e) {
            fresh.close();
            throw e;
        }
    }

    /** Takes the lock of the one service. Waits up to 5 s. */
    private static boolean lock(Connection open) throws SQLException {
        try (Statement statement = open.createStatement()) {
            statement.execute("select pg_advisory_lock(hashtext('dozo.service'))");
            return true;
        } catch (SQLException e) {
            if (LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                return false;
            }
            throw e;
        }
    }

    private static void unlock(Connection open) throws SQLException {
        try (Statement statement = open.createStatement()) {
            statement.execute("select pg_advisory_unlock(hashtext('dozo.service'))");
        }
    }

    /**
     * Ends this service's earlier session. A server whose connection was cut keeps that session, and its lock, for
     * hours. A session without the lock is left: a pooler has cleared it, and may have given it to another connection. Returns
     * false if the session goes on, because its server process does not respond.
     */
    private boolean endFormer(Connection fresh) throws SQLException {
        Session former = session;
        if (former == null) {
            return true;
        }
        try (PreparedStatement end = LeaseTable.prepared(fresh, """
                select pg_terminate_backend(pid, 5000) from pg_stat_activity
                where pid = ? and backend_start::text = ?
                  and exists (select from pg_locks l
                              where l.pid = pg_stat_activity.pid and l.locktype = 'advisory' and l.objsubid = 1
                                and (l.classid::bigint << 32) | l.objid::bigint = hashtext('dozo.service'))
                """, former.process, former.since);
                ResultSet ended = end.executeQuery()) {
            return !ended.next() || ended.getBoolean(1);
        }
    }

    private static Session session(Connection open) throws SQLException {
        try (Statement statement = open.createStatement();
                ResultSet own = statement.executeQuery(
                        "select pid, backend_start::text from pg_stat_activity where pid = pg_backend_pid()")) {
            own.next();
            return new Session(own.getInt(1), own.getString(2));
        }
    }

    private static StartFailure used(String cure) {
        return new StartFailure(StartFailure.UNAVAILABLE, "another Dozo service uses this database: " + cure);
    }

    /** Gives the lease back, so that another service can take over at once. */
    @Override
    public synchronized void close() {
        Connection held = connection;
        connection = null;
        try {
            if (held != null && !active.isLost()) {
                if (term > 0) {
                    LeaseTable.release(held, term);
                }
                sign.stop(held, process());
            }
        } catch (SQLException gone) {
            LOG.debug("the lease could not be given back; it expires", gone);
        } finally {
            close(held);
        }
    }

    private static void close(@Nullable Connection held) {
        if (held != null) {
            try {
                held.close();
            } catch (SQLException gone) {
                // The lock is gone with the connection.
            }
        }
    }
}
