package dozo.transfer;

import java.time.Duration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The workers of runs and their leases, by the database's clock. A worker's number only grows and is therefore also a
 * fencing number: a worker's report about a unit that another has taken over is ignored (ADR 0054).
 */
@Component
public class RunWorkers {

    /**
     * How long a worker may be without the database or the link before another takes over; much longer than a renewal
     * takes.
     */
    static final Duration LEASE = Duration.ofSeconds(60);

    private final JdbcClient jdbc;

    RunWorkers(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Registers a worker of a run and returns its number. */
    public long enlist(long runId, String host) {
        return jdbc.sql("""
                        insert into run_worker (run_id, host, began_at, lease_until)
                        values (:run, :host, now(), now() + make_interval(secs => :lease))
                        returning worker_id
                        """)
                .param("run", runId)
                .param("host", host)
                .param("lease", LEASE.toSeconds())
                .query(Long.class)
                .single();
    }

    /** Renews a lease from now on. */
    public void renew(long worker) {
        jdbc.sql("update run_worker set lease_until = now() + make_interval(secs => :lease) where worker_id = :worker")
                .param("lease", LEASE.toSeconds())
                .param("worker", worker)
                .update();
    }

    /** Ends the leases of all workers of a run: they are known to be dead, and others can take over at once. */
    public void end(long runId) {
        jdbc.sql(
                        "update run_worker set lease_until = now() - interval '1 s' where run_id = :run and lease_until >= now()")
                .param("run", runId)
                .update();
    }
}
