package dozo.start;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * Separate connections for requests and for everything else, so that a flood of requests takes none from a night. While
 * the database is away, a request fails at once, and a night waits (ADR 0048). All connections of the active service
 * belong to its term (ADR 0081).
 */
public final class Pools extends AbstractDataSource implements AutoCloseable {

    private static final int REQUESTS_MAX = 16;

    /**
     * Connections for the job, its schedule and everything else that is not a request. Each partition of a run uses one
     * more while it works.
     */
    private static final int BESIDE_PARTITIONS = 12;

    /** How often a waiting thread checks whether the database is away, or belongs to another service. */
    private static final Duration SLICE = Duration.ofSeconds(1);

    /** How long a request waits for a connection while all are in use. */
    private static final Duration REQUEST_LIMIT = Duration.ofSeconds(10);

    /** How long everything else waits then. */
    private static final Duration WORK_LIMIT = Duration.ofSeconds(30);

    private static final ThreadLocal<Boolean> OF_A_REQUEST = ThreadLocal.withInitial(() -> false);

    private final Presence presence;
    private final Lease lease;
    private final DataSource login;
    private final int partitions;
    private final Duration requestLimit;

    /** Those of the present term come last. A service stands by at most once before it is active. */
    private final Deque<Both> opened = new ConcurrentLinkedDeque<>();

    private record Both(int term, HikariDataSource requests, HikariDataSource work) {}

    /** Logs in, and makes each session one of a term. */
    private static final class OfTerm extends AbstractDataSource {

        private final DataSource login;
        private final int term;

        OfTerm(DataSource login, int term) {
            this.login = login;
            this.term = term;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection session = login.getConnection();
            try {
                LeaseTable.enter(session, term);
                return session;
            } catch (SQLException e) {
                session.close();
                throw e;
            }
        }

        @Override
        public Connection getConnection(String user, String password) throws SQLException {
            throw oneUser();
        }
    }

    /** Opens the pools. {@code requestLimit} limits each statement of a request. */
    Pools(Presence presence, Lease lease, DataSource login, int partitions, Duration requestLimit) {
        this.presence = presence;
        this.lease = lease;
        this.login = login;
        this.partitions = partitions;
        this.requestLimit = requestLimit;
        opened.add(open(lease.term()));
    }

    /** Returns how many connections an active service uses at most, that of its lease included. */
    public static int connectionsMax(int partitions) {
        return REQUESTS_MAX + partitions + BESIDE_PARTITIONS + 1;
    }

    /** Returns the same work, with the connections of requests: it has their time limit, and fails while the database is away. */
    public static Runnable asRequest(Runnable work) {
        return () -> {
            servesRequest(true);
            try {
                work.run();
            } finally {
                servesRequest(false);
            }
        };
    }

    /**
     * The connections of a pool.
     *
     * @param waiting the threads that wait for one
     */
    public record Usage(String pool, int active, int idle, int waiting) {}

    /** Returns how the present pools are used. */
    public List<Usage> usage() {
        Both last = opened.getLast();
        return Stream.of(last.requests, last.work).map(Pools::usage).toList();
    }

    private static Usage usage(HikariDataSource pool) {
        HikariPoolMXBean state = pool.getHikariPoolMXBean();
        return state == null
                ? new Usage(pool.getPoolName(), 0, 0, 0)
                : new Usage(
                        pool.getPoolName(),
                        state.getActiveConnections(),
                        state.getIdleConnections(),
                        state.getThreadsAwaitingConnection());
    }

    /** Sets whether this thread serves a request from now on. */
    static void servesRequest(boolean serves) {
        if (serves) {
            OF_A_REQUEST.set(true);
        } else {
            OF_A_REQUEST.remove();
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        return OF_A_REQUEST.get() ? forRequest() : forWork();
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw oneUser();
    }

    private static SQLException oneUser() {
        return new SQLException("only one user is supported");
    }

    @Override
    public void close() {
        for (Both each : opened) {
            each.requests.close();
            each.work.close();
        }
    }

    /** Returns the pools of the present term. Those of before close their connections when they are returned. */
    private Both now() {
        Both last = opened.getLast();
        return last.term == lease.term() ? last : renewed();
    }

    private synchronized Both renewed() {
        Both last = opened.getLast();
        int term = lease.term();
        if (last.term != term) {
            opened.add(open(term));
            drain(last.requests);
            drain(last.work);
        }
        return opened.getLast();
    }

    private static void drain(HikariDataSource pool) {
        pool.setMinimumIdle(0);
        if (pool.getHikariPoolMXBean() != null) {
            pool.getHikariPoolMXBean().softEvictConnections();
        }
    }

    /**
     * Has the server end sessions of machines that do not respond, after 25 s. Otherwise their open transactions keep their
     * locks for two hours, and nobody can take over what they had claimed (ADR 0080).
     */
    private static final String DEAD_PEERS =
            "set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3; set tcp_user_timeout = 25000";

    private Both open(int term) {
        DataSource sessions = term == 0 ? login : new OfTerm(login, term);
        HikariDataSource requests = pool("requests", sessions, REQUESTS_MAX, requestLimit);
        return new Both(term, requests, pool("work", sessions, partitions + BESIDE_PARTITIONS, Duration.ZERO));
    }

    private Connection forRequest() throws SQLException {
        long end = System.nanoTime() + REQUEST_LIMIT.toNanos();
        while (true) {
            if (presence.isAway()) {
                throw presence.gone();
            }
            try {
                return now().requests.getConnection();
            } catch (SQLTransientConnectionException none) {
                if (System.nanoTime() > end) {
                    throw none;
                }
            }
        }
    }

    private Connection forWork() throws SQLException {
        long end = System.nanoTime() + WORK_LIMIT.toNanos();
        while (true) {
            presence.awaitReturn();
            try {
                return now().work.getConnection();
            } catch (SQLTransientConnectionException none) {
                if (presence.isAway()) {
                    end = System.nanoTime() + WORK_LIMIT.toNanos();
                } else if (System.nanoTime() > end) {
                    throw none;
                }
            }
        }
    }

    private static HikariDataSource pool(String name, DataSource login, int max, Duration statementLimit) {
        HikariDataSource pool = new HikariDataSource();
        pool.setPoolName(name);
        pool.setDataSource(login);
        pool.setMaximumPoolSize(max);
        pool.setMinimumIdle(2);
        pool.setConnectionTimeout(SLICE.toMillis());
        pool.setValidationTimeout(SLICE.toMillis());
        // A generic plan cannot use the index that fits the actual parameters (ADR 0034).
        pool.setConnectionInitSql("set plan_cache_mode = force_custom_plan; set statement_timeout = %d; %s"
                .formatted(statementLimit.toMillis(), DEAD_PEERS));
        return pool;
    }
}
