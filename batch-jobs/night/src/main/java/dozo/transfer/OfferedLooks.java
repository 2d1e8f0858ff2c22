package dozo.transfer;

import dozo.ledger.Rows;
import java.sql.Timestamp;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * How far a run has read its sources, and which of them the service offers to its workers, to be read by them. Who reads
 * one has a lease ({@link RunWorkers}), and removes the offer in the transaction that stores the result (ADR 0080).
 */
@Component
public class OfferedLooks {

    private final JdbcClient jdbc;
    private final InstantSource clock;

    /**
     * A source to read.
     *
     * @param turn of its units: lower ones are sent first
     */
    public record Offer(int experimentId, int turn) {}

    public OfferedLooks(JdbcClient jdbc, InstantSource clock) {
        this.jdbc = jdbc;
        this.clock = clock;
    }

    /** Returns the experiment up to which a run has read all sources. */
    public int lookedAfter(long runId) {
        return jdbc.sql("select looked_after from run where run_id = :run")
                .param("run", runId)
                .query(Integer.class)
                .single();
    }

    /** Records the experiment up to which a run has read all sources; a restart continues after it. */
    public void lookedAfter(long runId, int experimentId) {
        jdbc.sql("update run set looked_after = :experiment where run_id = :run")
                .param("experiment", experimentId)
                .param("run", runId)
                .update();
    }

    /** Records that a run has read all its sources: nothing more will be planned. */
    public void looked(long runId) {
        jdbc.sql("update run set looked_at = :now where run_id = :run")
                .param("now", Timestamp.from(clock.instant()))
                .param("run", runId)
                .update();
    }

    public boolean isLooked(long runId) {
        return jdbc.sql("select looked_at is not null from run where run_id = :run")
                .param("run", runId)
                .query(Boolean.class)
                .single();
    }

    /** Removes all offers of a run: what workers still read for it has no effect. */
    public void clear(long runId) {
        jdbc.sql("delete from offered_look where run_id = :run")
                .param("run", runId)
                .update();
    }

    public void add(long runId, Offer offer) {
        jdbc.sql("insert into offered_look (run_id, experiment_id, turn) values (:run, :experiment, :turn)")
                .param("run", runId)
                .param("experiment", offer.experimentId)
                .param("turn", offer.turn)
                .update();
    }

    /** Claims at most so many offers, the most urgent first. */
    public List<Offer> claim(long runId, long worker, int limit) {
        return claim(runId, worker, limit, "and not for_service");
    }

    /** Claims offers for the service: those that only it may read, or all that nobody reads yet. */
    public List<Offer> takeBack(long runId, long worker, int limit, boolean all) {
        return claim(runId, worker, limit, all ? "" : "and for_service");
    }

    private List<Offer> claim(long runId, long worker, int limit, String which) {
        return jdbc.sql("""
                        update offered_look set worker_id = :worker
                        where run_id = :run and experiment_id in (
                            select experiment_id from offered_look
                            where run_id = :run and worker_id is null %s
                            order by turn, experiment_id
                            limit :limit
                            for update skip locked)
                          and exists (select from run_worker where worker_id = :worker and not ended)
                        returning experiment_id, turn
                        """.formatted(which))
                .param("worker", worker)
                .param("run", runId)
                .param("limit", limit)
                .query(Rows.of(Offer.class))
                .list();
    }

    /**
     * Removes offers that a worker has claimed.
     *
     * @return how many; those that others have taken over stay
     */
    public int remove(long runId, long worker, Collection<Integer> experiments) {
        return jdbc.sql("""
                        delete from offered_look
                        where run_id = :run and worker_id = :worker and experiment_id = any(:experiments)
                        """)
                .param("run", runId)
                .param("worker", worker)
                .param("experiments", experiments.toArray(Integer[]::new))
                .update();
    }

    /** Leaves an offer that a worker has claimed to the service. */
    public void leaveToService(long runId, long worker, int experiment) {
        jdbc.sql("""
                        update offered_look set worker_id = null, for_service = true
                        where run_id = :run and worker_id = :worker and experiment_id = :experiment
                        """)
                .param("run", runId)
                .param("worker", worker)
                .param("experiment", experiment)
                .update();
    }

    /** Returns the experiments whose offers are still there. */
    public Set<Integer> left(long runId) {
        return new HashSet<>(jdbc.sql("select experiment_id from offered_look where run_id = :run")
                .param("run", runId)
                .query(Integer.class)
                .list());
    }
}
