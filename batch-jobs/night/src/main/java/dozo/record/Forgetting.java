package dozo.record;

import dozo.record.CatalogueTables.Reference;
import dozo.record.CatalogueTables.Table;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Deletes every row about an experiment, and the experiment. PostgreSQL says which tables there are and how they refer to each other, so
 * that a new table is not forgotten: one that refers to experiments and is not emptied here makes the deletion fail.
 */
@Component
public class Forgetting {

    private static final String EXPERIMENT = "experiment";
    private static final String ITS_NUMBER = "experiment_id";

    /** They have an experiment's number, and stay: the tombstone, and what an origin offers, which must not be fetched again. */
    private static final Set<String> STAYING = Set.of(EXPERIMENT, "erasure", "arrival");

    /** Adds units that are deleted, {@code gone}, to the sums of their runs. */
    public static final String SUM_UNITS = """
            insert into run_sum as s (run_id, project_id, partition_no, units, units_done, units_failed, bytes, bytes_done,
                                      entries_done)
            select run_id, project_id, partition_no, count(*), count(*) filter (where state = 'VERIFIED'),
                   count(*) filter (where state = 'FAILED'), sum(length_bytes),
                   sum(case state when 'VERIFIED' then length_bytes else bytes_proven end),
                   sum(case state when 'VERIFIED' then cardinality(entry_nos) else entries_proven end)
            from gone join experiment using (experiment_id)
            where state <> 'CANCELLED'
            group by run_id, project_id, partition_no
            on conflict (run_id, project_id, partition_no) do update
                set units = s.units + excluded.units, units_done = s.units_done + excluded.units_done,
                    units_failed = s.units_failed + excluded.units_failed, bytes = s.bytes + excluded.bytes,
                    bytes_done = s.bytes_done + excluded.bytes_done, entries_done = s.entries_done + excluded.entries_done
            """;

    /** Adds links to findings that are deleted, {@code gone}, to the sums of their runs. */
    public static final String SUM_FINDINGS = """
            insert into run_sum as s (run_id, project_id, findings)
            select g.run_id, e.project_id, count(*)
            from gone g join finding f using (finding_id) left join experiment e using (experiment_id)
            group by g.run_id, e.project_id
            on conflict (run_id, project_id, partition_no) do update set findings = s.findings + excluded.findings
            """;

    private final JdbcClient jdbc;

    public Forgetting(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Deletes them. The erasure must have begun in the same transaction; otherwise PostgreSQL refuses it. */
    @Transactional(propagation = Propagation.MANDATORY)
    public void forget(int experiment) {
        sumUp(experiment);
        letGoOrigins(experiment);
        // A booking refers to its study by what the scanner was told.
        run("""
                delete from booking where study_uid in (select study_uid from study where experiment_id = :experiment)
                    or accession in (select s.accession from study_series s join study t using (study_uid)
                                     where t.experiment_id = :experiment)
                """, experiment);
        for (Map.Entry<String, String> table :
                conditions(CatalogueTables.all(jdbc)).reversed().entrySet()) {
            run("delete from %s where %s".formatted(table.getKey(), table.getValue()), experiment);
        }
        run("delete from experiment where experiment_id = :experiment", experiment);
    }

    /** What runs did remains as sums, as when retention deletes it. */
    private void sumUp(int experiment) {
        run("with gone as (select * from transfer_unit where experiment_id = :experiment) " + SUM_UNITS, experiment);
        run("""
                with gone as (select l.* from run_finding l join finding using (finding_id) where experiment_id = :experiment)
                """ + SUM_FINDINGS, experiment);
    }

    /** What the experiment came from is dismissed, so that no night brings it again. */
    private void letGoOrigins(int experiment) {
        run("""
                delete from reconciliation_item where arrival_id in
                    (select arrival_id from arrival where experiment_id = :experiment)
                """, experiment);
        run("""
                update arrival a
                    set experiment_id = null, state = case state when 'GONE' then 'GONE' else 'OFFERED' end, waiting = false, title = '',
                        modality = null, scanner = null, acquired_on = null, complete_at = null,
                        dismissed_at = x.begun_at, dismissed_by = x.approved_by, dismissed_reason = 'erasure ' || x.erasure_id
                from erasure x
                where a.experiment_id = :experiment and x.experiment_id = a.experiment_id and x.begun_at is not null
                """, experiment);
    }

    private void run(String sql, int experiment) {
        jdbc.sql(sql).param("experiment", experiment).update();
    }

    /** Returns which rows of which table are about the experiment. A table comes after those that it refers to. */
    private static SequencedMap<String, String> conditions(List<Table> all) {
        SequencedMap<String, String> known = new LinkedHashMap<>();
        for (Table table : CatalogueTables.sorted(all)) {
            if (!STAYING.contains(table.name())) {
                condition(table, known).ifPresent(rows -> known.put(table.name(), rows));
            }
        }
        return known;
    }

    private static Optional<String> condition(Table table, Map<String, String> known) {
        if (table.columns().contains(ITS_NUMBER)) {
            return Optional.of(ITS_NUMBER + " = :experiment");
        }
        return table.references().stream()
                .filter(reference -> known.containsKey(reference.table()))
                .findFirst()
                .map(reference -> in(reference, String.valueOf(known.get(reference.table()))));
    }

    private static String in(Reference reference, String condition) {
        return "(%s) in (select %s from %s where %s)"
                .formatted(reference.columns(), reference.theirs(), reference.table(), condition);
    }
}
