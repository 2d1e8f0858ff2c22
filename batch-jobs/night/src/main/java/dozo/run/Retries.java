package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The experiments of a backup, without retired ones: all, those of a part, or in a retry or chosen backup those chosen when it was opened. The
 * latter are stored, so that the run continues with the same ones after a crash.
 */
@Component
public class Retries {

    /** The maximum number of experiments that a user may choose for a backup. */
    public static final int CHOSEN_MAX = 1_000;

    static final int PAGE = 100;

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

    /** An experiment that a user names; without an id, there is none that they may see. */
    private record Named(String name, @Nullable Integer id, boolean retired) {}

    /**
     * Returns the visible experiments with these names, {@code project/experiment}, each once.
     *
     * @throws Refusal if there are none or more than {@link #CHOSEN_MAX}, or one does not exist or is retired
     */
    int[] named(Sight sight, List<String> names) {
        if (names.isEmpty() || names.size() > CHOSEN_MAX) {
            throw new Refusal("experiments", "expected 1 to %d experiments, each as project/experiment", CHOSEN_MAX);
        }
        List<Named> found = jdbc.sql("""
                        select n.name, e.experiment_id as id, e.retired_at is not null as retired
                        from unnest(:names::text[]) with ordinality n (name, place)
                        left join (experiment e join project p using (project_id))
                            on p.code = split_part(n.name, '/', 1) and e.code = split_part(n.name, '/', 2)
                               and p.code || '/' || e.code = n.name and in_sight(:seen, p.code)
                        order by n.place
                        """)
                // A null in JSON is no experiment's name, either.
                .param("names", names.stream().map(String::valueOf).toArray(String[]::new))
                .param("seen", sight.seen())
                .query(Rows.of(Named.class))
                .list();
        for (Named each : found) {
            if (each.id == null) {
                throw new Refusal("experiments", "experiment %s does not exist", each.name);
            }
            if (each.retired) {
                throw Refusal.conflict(
                        "experiments", "experiment %s is retired; bring it back first, or leave it out", each.name);
            }
        }
        return found.stream()
                .mapToInt(each -> requireNonNull(each.id))
                .distinct()
                .toArray();
    }

    /** Stores the experiments that a user chose, without those that somebody has retired meanwhile. */
    void choose(long runId, int[] chosen) {
        jdbc.sql("""
                        insert into run_experiment (run_id, experiment_id)
                        select :run, experiment_id from living_experiment where experiment_id = any(:experiments)
                        """).param("run", runId).param("experiments", chosen).update();
    }

    /** Returns the number of visible experiments that were chosen for a run; 0 if it was opened for no certain ones. */
    public long count(Sight sight, long runId) {
        return jdbc.sql("""
                        select count(*)
                        from run_experiment c join experiment e using (experiment_id) join project p using (project_id)
                        where c.run_id = :run and in_sight(:seen, p.code)
                        """)
                .param("seen", sight.seen())
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
                        select kind not in ('retry', 'chosen', 'replication') and part_project_id is null and part_origin_id is null
                        from run where run_id = :run
                        """).param("run", runId).query(Boolean.class).single();
    }

    /** Returns those of these experiments that are part of the run, by id. */
    List<Experiment> find(long runId, Collection<Integer> experimentIds) {
        return experiments.of(jdbc
                .sql("""
                        select experiment_id from run_included
                        where run_id = :run and experiment_id = any(:experiments) and living
                        """)
                .param("experiments", experimentIds.toArray(Integer[]::new))
                .param("run", runId)
                .query((row, n) -> row.getInt(1))
                .list()
                .stream()
                .mapToInt(Integer::intValue)
                .toArray());
    }

    /** Returns those of these experiments that nobody has retired meanwhile; nobody does until the end of the transaction. */
    Set<Integer> keepLiving(int... experimentIds) {
        // NB: not of the view, whose rows only its owner may lock. In one order, to avoid a deadlock.
        return new HashSet<>(jdbc.sql("""
                        select experiment_id from experiment
                        where experiment_id = any(:experiments) and retired_at is null
                        order by experiment_id for share
                        """)
                .param("experiments", experimentIds)
                .query((row, n) -> row.getInt(1))
                .list());
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
