package dozo.start;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * Separate connections for requests and for everything else, so that a flood of requests takes none from a night. While
 * the database is away, a request fails at once, and a night waits (ADR 0048).
 */
final class Pools extends AbstractDataSource implements AutoCloseable {

    private static final int REQUESTS_MAX = 16;

    /**
     * Connections for the job, its schedule and everything else that is not a request. Each partition of a run uses one
     * more while it works.
     */
    private static final int BESIDE_PARTITIONS = 12;

    /** How often a waiting request checks whether the database is away. */
    private static final Duration SLICE = Duration.ofSeconds(1);

    /** How long a request waits for a connection while all are in use. */
    private static final Duration REQUEST_LIMIT = Duration.ofSeconds(10);

    private static final ThreadLocal<Boolean> OF_A_REQUEST = ThreadLocal.withInitial(() -> false);

    private final Presence presence;
    private final HikariDataSource requests;
    private final HikariDataSource work;

    /** Opens the pools. {@code requestLimit} limits each statement of a request. */
    Pools(Presence presence, DataSource login, int partitions, Duration requestLimit) {
        this.presence = presence;
        requests = pool("requests", login, REQUESTS_MAX, requestLimit);
        requests.setConnectionTimeout(SLICE.toMillis());
        requests.setValidationTimeout(SLICE.toMillis());
        work = pool("work", login, partitions + BESIDE_PARTITIONS, Duration.ZERO);
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
        throw new SQLException("only one user is supported");
    }

    @Override
    public void close() {
        requests.close();
        work.close();
    }

    private Connection forRequest() throws SQLException {
        long end = System.nanoTime() + REQUEST_LIMIT.toNanos();
        while (true) {
            if (presence.isAway()) {
                throw Presence.gone();
            }
            try {
                return requests.getConnection();
            } catch (SQLTransientConnectionException none) {
                if (System.nanoTime() > end) {
                    throw none;
                }
            }
        }
    }

    private Connection forWork() throws SQLException {
        while (true) {
            presence.awaitReturn();
            try {
                return work.getConnection();
            } catch (SQLTransientConnectionException none) {
                if (!presence.isAway()) {
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
        // A generic plan cannot use the index that fits the actual parameters (ADR 0034).
        pool.setConnectionInitSql("set plan_cache_mode = force_custom_plan; set statement_timeout = %d"
                .formatted(statementLimit.toMillis()));
        return pool;
    }
}
