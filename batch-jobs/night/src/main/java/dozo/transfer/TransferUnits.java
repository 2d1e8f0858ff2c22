package dozo.transfer;

import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.plan.PlannedUnit;
import dozo.plan.Work;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The transfer units that were planned, what became of them, and which experiments may be settled by now. They are the
 * only record of progress; Spring Batch's own state is not used.
 */
@Component
public class TransferUnits {

    private static final int BATCH = 500;

    /** The experiments of a run that nobody settles yet, and of which nothing more is to come. */
    private static final String TO_SETTLE = """
            from protection p
            where p.site_id = :site and p.unsettled
              and (:looked or exists (select from transfer_unit u
                                      where u.run_id = :run and u.experiment_id = p.experiment_id))
              and not exists (select from transfer_unit u
                              where u.run_id = :run and u.experiment_id = p.experiment_id and u.state = 'PLANNED')
              and (not exists (select from frozen_experiment f
                               where f.experiment_id = p.experiment_id
                                 and f.ended_at is null and f.released_at is null)
                   or exists (select from run where run_id = :run and from_site_id is not null))
              and not exists (select from found_copy f
                              where f.experiment_id = p.experiment_id and f.site_id = :site)
              and exists (select from run_included i
                          where i.run_id = :run and i.experiment_id = p.experiment_id)
              and not exists (select from settling s
                              where s.run_id = :run and s.experiment_id = p.experiment_id)
            """;

    private final JdbcTemplate template;
    private final JdbcClient jdbc;

    /**
     * The progress of a run, in recorded units.
     *
     * @param entriesDone files, folders and links that have receipts
     * @param bytesDone the bytes that have receipts: a large file counts when it is verified, a file that is sent with others when all
     *     of them have an outcome
     * @param bytesMoved the bytes that the run's engine has sent since this process started it, including large files under way
     *     and repeated bytes; 0: no engine runs
     */
    public record Progress(
            long units,
            long unitsDone,
            long unitsFailed,
            long entriesDone,
            long bytes,
            long bytesDone,
            long bytesMoved) {

        /** Returns the verified share in percent: 100 only if all units are, 0 only if nothing is; 0 without units. */
        public int percent() {
            if (unitsDone == units) {
                return units == 0 ? 0 : 100;
            }
            long share = bytes == 0 ? 100 * unitsDone / units : (long) (100.0 * bytesDone / bytes);
            return Math.clamp(share, bytesDone > 0 || entriesDone > 0 ? 1 : 0, 99);
        }

        /** Returns the share that has probably arrived, in percent: at least what is verified, and 100 only if all of it is. */
        public int percentMoved() {
            return bytes == 0 ? percent() : (int) Math.max(percent(), Math.min(99, 100.0 * bytesArrived() / bytes));
        }

        /** Returns only the recorded part, which changes when a unit ends, and not with every block. */
        public Progress recorded() {
            return moved(0);
        }

        Progress plus(Progress other) {
            return new Progress(
                    units + other.units,
                    unitsDone + other.unitsDone,
                    unitsFailed + other.unitsFailed,
                    entriesDone + other.entriesDone,
                    bytes + other.bytes,
                    bytesDone + other.bytesDone,
                    bytesMoved + other.bytesMoved);
        }

        /** Returns the same with the bytes that an engine has sent. */
        public Progress moved(long bytes) {
            return new Progress(units, unitsDone, unitsFailed, entriesDone, this.bytes, bytesDone, bytes);
        }

        /**
         * Returns how many of the planned bytes have probably arrived, verified or not. What was sent by earlier processes
         * and is not verified is not included.
         */
        public long bytesArrived() {
            return Math.max(bytesDone, Math.min(bytes, bytesMoved));
        }
    }

    /**
     * The progress of a partition of a run.
     *
     * @param entriesDone files, folders and links that have receipts
     */
    public record PartitionProgress(
            int number, long units, long unitsDone, long unitsFailed, long bytes, long bytesDone, long entriesDone) {

        /** Returns it as recorded progress. */
        public Progress progress() {
            return new Progress(units, unitsDone, unitsFailed, entriesDone, bytes, bytesDone, 0);
        }
    }

    public TransferUnits(JdbcTemplate template) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
    }

    /**
     * Cancels the open units of earlier runs, so that they are planned again. The parts of a large file at the site are
     * found again, because its temporary name is the same in every run. A run that has not all experiments leaves the others alone.
     */
    public void cancelEarlier(long runId, int siteId) {
        jdbc.sql("""
                        update transfer_unit u set state = 'CANCELLED'
                        where site_id = :site and state in ('PLANNED', 'FAILED') and run_id <> :run
                          and exists (select from run_included i
                                      where i.run_id = :run and i.experiment_id = u.experiment_id)
                        """).param("run", runId).param("site", siteId).update();
    }

    /**
     * A planned unit of an experiment.
     *
     * @param turn units with a lower turn are sent first
     */
    public record Planned(int experimentId, int turn, PlannedUnit unit) {}

    /** Adds planned units. */
    public void add(long runId, int siteId, List<Planned> units) {
        template.batchUpdate("""
                insert into transfer_unit (run_id, experiment_id, site_id, kind, entry_nos, length_bytes, state, partition_no, turn)
                values (?, ?, ?, ?, ?, ?, 'PLANNED', ?, ?)
                """, units, BATCH, (statement, planned) -> {
            PlannedUnit unit = planned.unit();
            statement.setLong(1, runId);
            statement.setInt(2, planned.experimentId());
            statement.setInt(3, siteId);
            statement.setString(4, unit.kind().name());
            statement.setObject(5, unit.entryNumbers());
            statement.setLong(6, unit.lengthBytes());
            statement.setInt(7, unit.partition());
            statement.setInt(8, planned.turn());
        });
    }

    /** Adds a unit that nobody has to send, because its entries were found at the site, and returns its number. */
    public long addFound(long runId, int experimentId, int siteId, int[] entryNumbers, long lengthBytes) {
        return jdbc.sql("""
                        insert into transfer_unit (run_id, experiment_id, site_id, kind, entry_nos, length_bytes, state, partition_no)
                        values (:run, :experiment, :site, 'BUNDLE', :numbers, :bytes, 'VERIFIED', 0)
                        returning unit_id
                        """)
                .param("run", runId)
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("numbers", entryNumbers)
                .param("bytes", lengthBytes)
                .query(Long.class)
                .single();
    }

    /** Returns the experiments of which a run has found everything, and which it has not settled. */
    public List<Integer> toConclude(long runId, int siteId) {
        return jdbc.sql("""
                        select p.experiment_id from protection p
                        where p.site_id = :site
                          and exists (select from transfer_unit u
                                      where u.experiment_id = p.experiment_id and u.site_id = :site
                                        and u.run_id = :run and u.unit_id > p.settled_unit)
                          and not exists (select from found_copy f
                                          where f.experiment_id = p.experiment_id and f.site_id = :site)
                        order by p.experiment_id
                        """)
                .param("run", runId)
                .param("site", siteId)
                .query((row, n) -> row.getInt(1))
                .list();
    }

    /**
     * Returns the highest number of an experiment's entries that a run has planned, whatever their outcome; 0: none.
     */
    public int planned(long runId, int experimentId) {
        return jdbc.sql("""
                        select coalesce(max(highest_of(entry_nos)), 0) from transfer_unit
                        where run_id = :run and experiment_id = :experiment
                        """)
                .param("run", runId)
                .param("experiment", experimentId)
                .query(Integer.class)
                .single();
    }

    /** Returns those of these experiments of which a run has planned something that is not verified. */
    public Set<Integer> planned(long runId, int siteId, int[] experimentIds) {
        return new HashSet<>(jdbc.sql("""
                        select distinct experiment_id from transfer_unit
                        where experiment_id = any(:experiments) and site_id = :site and run_id = :run
                          and state in ('PLANNED', 'FAILED')
                        """)
                .param("experiments", experimentIds)
                .param("site", siteId)
                .param("run", runId)
                .query((row, n) -> row.getInt(1))
                .list());
    }

    /** Returns whether a run has units that are still to be sent, or being sent. */
    public boolean left(long runId) {
        return jdbc.sql("select exists (select from transfer_unit where run_id = :run and state = 'PLANNED')")
                .param("run", runId)
                .query(Boolean.class)
                .single();
    }

    /**
     * Claims at most {@code limit} experiments of a site that have receipts which their bag does not list yet, and for
     * which the run has nothing left to do. If an experiment has units in the run, all must be closed; others are
     * returned only when the run has read all sources. Frozen experiments are skipped, except in a replication, and so
     * are those that the run does not include, and those that another worker has claimed.
     *
     * @param entries the approximate maximum of their entries together; only the first experiment may have more
     */
    public List<Integer> toSettle(long runId, int siteId, long worker, boolean looked, int limit, long entries) {
        return jdbc.sql("""
                        insert into settling (run_id, experiment_id, worker_id)
                        select :run, experiment_id, :worker from (
                        select p.experiment_id, sum(p.entries) over (order by p.experiment_id) - p.entries as before
                        %s
                          and exists (select from run_worker where worker_id = :worker and not ended)
                        order by p.experiment_id
                        limit :limit
                        ) due
                        where before < :entries
                        on conflict do nothing
                        returning experiment_id
                        """.formatted(TO_SETTLE))
                .param("run", runId)
                .param("site", siteId)
                .param("worker", worker)
                .param("looked", looked)
                .param("limit", limit)
                .param("entries", entries)
                .query((row, n) -> row.getInt(1))
                .list();
    }

    /**
     * Returns whether any worker of a run is settling an experiment, or could. In one snapshot: what a dead worker was
     * settling is freed at some moment, and must be seen before or after it.
     */
    public boolean settling(long runId, int siteId, boolean looked) {
        return jdbc.sql("""
                        select exists (select from settling where run_id = :run) or exists (select %s)
                        """.formatted(TO_SETTLE))
                .param("run", runId)
                .param("site", siteId)
                .param("looked", looked)
                .query(Boolean.class)
                .single();
    }

    /** Ends the settling of experiments. Returns false if others have taken one of them over from this worker. */
    public boolean endSettling(long runId, long worker, List<Integer> experiments) {
        return jdbc.sql("""
                        delete from settling
                        where run_id = :run and worker_id = :worker and experiment_id = any(:experiments)
                        """)
                        .param("run", runId)
                        .param("worker", worker)
                        .param("experiments", experiments.toArray(Integer[]::new))
                        .update()
                == experiments.size();
    }

    /**
     * Returns those of these experiments on which work at a site may have been interrupted since they were last settled: a
     * unit was claimed, and its first claim did not prove it completely.
     */
    public Set<Integer> leftHalfDone(int[] experimentIds, int siteId) {
        return new HashSet<>(jdbc.sql("""
                        select distinct experiment_id
                        from protection p join transfer_unit u using (experiment_id, site_id)
                        where experiment_id = any(:experiments) and site_id = :site and u.unit_id > p.settled_unit
                          and u.attempts > case when u.state = 'VERIFIED' then 1 else 0 end
                        """)
                .param("experiments", experimentIds)
                .param("site", siteId)
                .query((row, n) -> row.getInt(1))
                .list());
    }

    /** Returns the entry numbers of an experiment's large files that are not completely sent. */
    public Set<Integer> underWay(int experimentId, int siteId) {
        return new HashSet<>(jdbc.sql("""
                        select distinct entry_nos[1] from transfer_unit
                        where experiment_id = :experiment and site_id = :site and kind = 'LARGE'
                          and state in ('PLANNED', 'FAILED')
                        """)
                .param("experiment", experimentId)
                .param("site", siteId)
                .query((row, n) -> row.getInt(1))
                .list());
    }

    /** Returns what a run has sent and proven so far, in units without failures. */
    public Work verified(long runId) {
        return verified(runId, "");
    }

    /** Returns what a worker of a run has sent and proven so far, in units without failures. */
    public Work verified(long runId, long worker) {
        return verified(runId, "and worker_id = " + worker);
    }

    private Work verified(long runId, String which) {
        return jdbc.sql("""
                        select coalesce(sum(length_bytes), 0) as bytes, coalesce(sum(cardinality(entry_nos)), 0) as entries
                        from transfer_unit where run_id = :run and state = 'VERIFIED' %s
                        """.formatted(which))
                .param("run", runId)
                .query((row, n) -> new Work(row.getLong("bytes"), row.getLong("entries")))
                .single();
    }

    /** Stores what a run has proven, by project. Must be called once, when it ends. */
    public void total(long runId) {
        jdbc.sql("""
                        insert into run_total (run_id, project_id, bytes, entries)
                        select u.run_id, e.project_id, sum(u.length_bytes), sum(cardinality(u.entry_nos))
                        from transfer_unit u join experiment e using (experiment_id)
                        where u.run_id = :run and u.state = 'VERIFIED'
                        group by u.run_id, e.project_id
                        """).param("run", runId).update();
    }

    public Progress progress(Sight sight, long runId) {
        return partitions(sight, runId).stream()
                .map(PartitionProgress::progress)
                .reduce(new Progress(0, 0, 0, 0, 0, 0, 0), Progress::plus);
    }

    /**
     * Returns the recorded progress of each partition of a run in what the user may see, including what retention has
     * deleted; by number.
     */
    public List<PartitionProgress> partitions(Sight sight, long runId) {
        return jdbc.sql("""
                        select partition_no as number, sum(units) as units, sum(units_done) as units_done,
                               sum(units_failed) as units_failed, sum(bytes) as bytes, sum(bytes_done) as bytes_done,
                               sum(entries_done) as entries_done
                        from (
                            select partition_no, count(*) as units,
                                   count(*) filter (where state = 'VERIFIED') as units_done,
                                   count(*) filter (where state = 'FAILED') as units_failed,
                                   sum(length_bytes) as bytes,
                                   sum(case state when 'VERIFIED' then length_bytes else bytes_proven end) as bytes_done,
                                   sum(case state when 'VERIFIED' then cardinality(entry_nos) else entries_proven end) as entries_done
                            from transfer_unit where run_id = :run and state <> 'CANCELLED'
                              and (:seen::text[] is null or experiment_id in (
                                      select e.experiment_id from experiment e join project p using (project_id)
                                      where p.code = any(:seen::text[])))
                            group by partition_no
                            union all
                            select k.partition_no, k.units, k.units_done, k.units_failed, k.bytes, k.bytes_done, k.entries_done
                            from run_sum k join project p using (project_id)
                            where k.run_id = :run and k.partition_no is not null and in_sight(:seen, p.code)
                        ) recorded
                        group by partition_no
                        order by partition_no
                        """)
                .param("seen", sight.seen())
                .param("run", runId)
                .query(Rows.of(PartitionProgress.class))
                .list();
    }
}
