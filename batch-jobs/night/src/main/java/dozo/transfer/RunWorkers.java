package dozo.transfer;

import java.time.Duration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The workers of runs and their leases, by the database's clock. A worker's number only grows, so that it is a fencing number
 * too: what a worker reports of a unit that another has taken over is not taken (ADR 0054).
 */
@Component
public class RunWorkers {

    /** Longer than a database or a link may be away before somebody else goes on; much longer than a renewal takes. */
    static final Duration LEASE = Duration.ofSeconds(60);

    private final JdbcClient jdbc;

    RunWorkers(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Enlists a worker of a run; gives back its number. */
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

    /** Lengthens a lease from now on. */
    public void renew(long worker) {
        jdbc.sql("update run_worker set lease_until = now() + make_interval(secs => :lease) where worker_id = :worker")
                .param("lease", LEASE.toSeconds())
                .param("worker", worker)
                .update();
    }

    /** Ends the leases of all workers of a run: they are known to be dead, and what they had can be taken over at once. */
    public void end(long runId) {
        jdbc.sql(
                        "update run_worker set lease_until = now() - interval '1 s' where run_id = :run and lease_until >= now()")
                .param("run", runId)
                .update();
    }
}
