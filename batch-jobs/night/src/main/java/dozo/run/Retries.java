package dozo.run;

import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The experiments of a backup, without retired ones: all, those of a part, or in a retry those chosen when it was opened. The latter are stored,
 * so that a retry continues with the same ones after a crash.
 */
@Component
public class Retries {

    private static final int PAGE = 100;

    /** The findings that a retry is for. */
    private static final String OPEN = """
            from run_finding l join finding f using (finding_id) left join acknowledgement a using (finding_id)
            join living_experiment e on e.experiment_id = f.experiment_id
            where l.run_id = :of and f.superseded_by is null and a.finding_id is null
            """;

    private final JdbcClient jdbc;
    private final Experiments experiments;

    Retries(JdbcClient jdbc, Experiments experiments) {
        this.jdbc = jdbc;
        this.experiments = experiments;
    }

    /**
     * Checks that there is something to retry.
     *
     * @throws Refusal if a run has no open findings of an experiment
     */
    void check(long of) {
        boolean any = jdbc.sql("select exists (select %s)".formatted(OPEN))
                .param("of", of)
                .query(Boolean.class)
                .single();
        if (!any) {
            throw Refusal.conflict("run", "run %d has no open findings of experiments: there is nothing to retry", of);
        }
    }

    /** Chooses the experiments that have open findings in a run. */
    void choose(long runId, long of) {
        jdbc.sql("insert into run_experiment (run_id, experiment_id) select distinct :run, f.experiment_id %s"
                        .formatted(OPEN))
                .param("run", runId)
                .param("of", of)
                .update();
    }

    /** Returns the number of experiments of a retry; 0 for every other run. */
    public long count(long runId) {
        return jdbc.sql("select count(*) from run_experiment where run_id = :run")
                .param("run", runId)
                .query((row, n) -> row.getLong(1))
                .single();
    }

    /** Returns the experiments of a run that has not all of them, by id; empty: it includes all. */
    Optional<List<Integer>> only(long runId) {
        return isWhole(runId)
                ? Optional.empty()
                : Optional.of(jdbc.sql(
                                "select experiment_id from run_included where run_id = :run and living order by experiment_id")
                        .param("run", runId)
                        .query((row, n) -> row.getInt(1))
                        .list());
    }

    /** Returns whether a run includes all experiments. */
    private boolean isWhole(long runId) {
        return jdbc.sql("""
                        select kind not in ('retry', 'replication') and part_project_id is null and part_origin_id is null
                        from run where run_id = :run
                        """).param("run", runId).query(Boolean.class).single();
    }

    /** Returns an experiment if it is part of the run. */
    Optional<Experiment> find(long runId, int experimentId) {
        return jdbc.sql("""
                        select experiment_id from run_included
                        where run_id = :run and experiment_id = :experiment and living
                        """)
                .param("experiment", experimentId)
                .param("run", runId)
                .query(Integer.class)
                .optional()
                .flatMap(experiments::find);
    }

    /** Returns whether nobody has retired an experiment meanwhile; nobody does until the end of the transaction. */
    boolean keepLiving(int experimentId) {
        // NB: not of the view, whose rows only its owner may lock.
        return !jdbc.sql("select from experiment where experiment_id = :experiment and retired_at is null for share")
                .param("experiment", experimentId)
                .query()
                .listOfRows()
                .isEmpty();
    }

    /** Returns the next experiments of a run after one, by id; none: there are no more. */
    List<Experiment> page(long runId, int after) {
        return experiments.of(jdbc
                .sql("""
                        select experiment_id from run_included
                        where run_id = :run and experiment_id > :after and living
                        order by experiment_id limit :limit
                        """)
                .param("after", after)
                .param("run", runId)
                .param("limit", PAGE)
                .query((row, n) -> row.getInt(1))
                .list()
                .stream()
                .mapToInt(Integer::intValue)
                .toArray());
    }
}
