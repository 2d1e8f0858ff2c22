package dozo.run;

import dozo.record.Forgetting;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.stereotype.Component;

/**
 * Deletes the details of runs that ended long ago: the framework's rows, units, workers, speeds, decisions about lanes, forecasts of experiments, links to findings, superseded
 * findings that nobody has acknowledged, readings with a later one of the same receipt, and alerts that are over. Ledger, receipts, damage,
 * coverage, manifests and acknowledgements stay for ever (ADR 0056). Of a held experiment, units, findings and readings stay too (ADR 0095). If it is repeated or interrupted, it deletes what
 * is left.
 */
@Component
@EnableConfigurationProperties(RetentionSettings.class)
record Retention(JdbcClient jdbc, RetentionSettings settings, InstantSource clock) {

    /** The number of rows per statement and transaction. */
    private static final int BATCH = 10_000;

    /** The next night deletes the rest: the first one after years of nights may have much to do. */
    private static final Duration TIME_MAX = Duration.ofMinutes(10);

    private static final Logger LOG = LoggerFactory.getLogger(Retention.class);

    private interface Part {
        /** Deletes a batch of rows of runs that ended before a moment. */
        Batch delete(Timestamp before);
    }

    private record Batch(int deleted, boolean more) {

        Batch(int deleted) {
            this(deleted, deleted == BATCH);
        }
    }

    /**
     * Deletes what is older than the retention, in its own transactions. Failures are logged, and the next night tries
     * again.
     *
     * @param goOn is checked between batches
     */
    void prune(BooleanSupplier goOn) {
        Timestamp before = Timestamp.from(clock.instant().minus(settings.runs()));
        Map<String, Part> parts = new LinkedHashMap<>();
        parts.put("job instances", this::deleteJobs);
        parts.put("transfer units", this::deleteUnits);
        parts.put("workers", rows("run_worker", "worker_id"));
        parts.put("speeds", rows("run_pace", "began_at"));
        parts.put("decisions about lanes", rows("run_tuning", "decided_at"));
        parts.put("forecasts", rows("run_forecast_experiment", "experiment_id"));
        parts.put("links to findings", this::deleteLinks);
        parts.put("findings", this::deleteFindings);
        parts.put("readings", new OldReadings());
        parts.put("alerts", this::deleteAlerts);
        parts.put("tests of recipients", this::deleteTests);
        long end = System.nanoTime() + TIME_MAX.toNanos();
        parts.forEach((name, part) ->
                prune(name, part, before, () -> System.nanoTime() - end < 0 && goOn.getAsBoolean()));
    }

    private static void prune(String name, Part part, Timestamp before, BooleanSupplier goOn) {
        long all = 0;
        try {
            boolean more = true;
            while (more && goOn.getAsBoolean()) {
                Batch batch = part.delete(before);
                all += batch.deleted();
                more = batch.more();
            }
        } catch (RuntimeException e) {
            LOG.error("old {} could not be deleted; the next night tries again", name, e);
        }
        if (all > 0) {
            LOG.info("{} {} of runs that ended before {} were deleted", all, name, before.toInstant());
        }
    }

    /**
     * Deletes job instances in one statement, so that nobody sees a partly deleted one. Instances with an execution
     * that never ended stay, except those of worker processes that died. NB: the framework's times have no zone, hence the margin of a day. No execution is created
     * after its run has ended, so runs are looked up only for old executions.
     */
    private Batch deleteJobs(Timestamp before) {
        return batch("""
                with old as (
                    select i.job_instance_id
                    from batch_job_instance i
                    where exists (select from batch_job_execution e
                                  join batch_job_execution_params p using (job_execution_id)
                                  join run r on r.run_id::text = p.parameter_value
                                  where e.job_instance_id = i.job_instance_id and p.parameter_name = 'run'
                                    and r.ended_at < :before and e.create_time < :before::timestamptz + interval '1 day')
                      and (i.job_name = 'nightlyShare'
                           or not exists (select from batch_job_execution e
                                          where e.job_instance_id = i.job_instance_id and e.end_time is null))
                    limit :batch
                ), execution as (
                    select job_execution_id from batch_job_execution join old using (job_instance_id)
                ), step as (
                    select step_execution_id from batch_step_execution join execution using (job_execution_id)
                ), step_contexts as (
                    delete from batch_step_execution_context where step_execution_id in (select * from step)
                ), steps as (
                    delete from batch_step_execution where step_execution_id in (select * from step)
                ), contexts as (
                    delete from batch_job_execution_context where job_execution_id in (select * from execution)
                ), params as (
                    delete from batch_job_execution_params where job_execution_id in (select * from execution)
                ), executions as (
                    delete from batch_job_execution where job_execution_id in (select * from execution)
                ), gone as (
                    delete from batch_job_instance where job_instance_id in (select * from old) returning 1
                )
                select count(*) from gone
                """, before);
    }

    /**
     * NB: the highest unit of an experiment that was ever claimed stays until the bag lists it, and so does the last
     * unit that shows that work may be half done.
     */
    private Batch deleteUnits(Timestamp before) {
        return batch("""
                with gone as (
                    delete from transfer_unit where unit_id in (
                        select old.unit_id
                        from run r cross join lateral (
                            select u.unit_id
                            from transfer_unit u join protection p using (experiment_id, site_id)
                            where u.run_id = r.run_id and u.state in ('VERIFIED', 'CANCELLED')
                              and standing_hold(u.experiment_id, :now) is null
                              and (u.unit_id <= p.settled_unit or u.attempts = 0
                                   or exists (select from transfer_unit later
                                              where later.experiment_id = u.experiment_id and later.site_id = u.site_id
                                                and later.unit_id > u.unit_id
                                                and later.attempts > case when later.state = 'VERIFIED' then 1 else 0 end))
                            limit :batch) old
                        where r.ended_at < :before and r.run_id >= (select min(run_id) from transfer_unit)
                        limit :batch)
                    returning run_id, experiment_id, partition_no, state, length_bytes, entry_nos, bytes_proven, entries_proven
                ), sums as (
                %s
                )
                select count(*) from gone
                """.formatted(Forgetting.SUM_UNITS), before);
    }

    /** Returns the deletion of rows of runs of which nothing stays. */
    private Part rows(String table, String key) {
        return before -> deleted("""
                delete from %1$s where (run_id, %2$s) in (
                    select old.run_id, old.%2$s
                    from run r cross join lateral (
                        select d.run_id, d.%2$s from %1$s d where d.run_id = r.run_id limit :batch) old
                    where r.ended_at < :before and r.run_id >= (select min(run_id) from %1$s)
                    limit :batch)
                """.formatted(table, key), before);
    }

    private Batch deleteLinks(Timestamp before) {
        return batch("""
                with gone as (
                    delete from run_finding where (run_id, finding_id) in (
                        select old.run_id, old.finding_id
                        from run r cross join lateral (
                            select l.run_id, l.finding_id from run_finding l join finding f using (finding_id)
                            where l.run_id = r.run_id and standing_hold(f.experiment_id, :now) is null
                            limit :batch) old
                        where r.ended_at < :before and r.run_id >= (select min(run_id) from run_finding)
                        limit :batch)
                    returning run_id, finding_id
                ), sums as (
                %s
                )
                select count(*) from gone
                """.formatted(Forgetting.SUM_FINDINGS), before);
    }

    private Batch deleteFindings(Timestamp before) {
        return deleted("""
                delete from finding where finding_id in (
                    select old.finding_id
                    from run r cross join lateral (
                        select f.finding_id from finding f
                        where f.superseded_by = r.run_id and standing_hold(f.experiment_id, :now) is null
                          and not exists (select from acknowledgement a where a.finding_id = f.finding_id)
                          and not exists (select from run_finding l where l.finding_id = f.finding_id)
                        limit :batch) old
                    where r.ended_at < :before
                      and r.run_id >= (select min(superseded_by) from finding where superseded_by is not null)
                    limit :batch)
                """, before);
    }

    /** Deletes alerts that are over, with their messages. */
    private Batch deleteAlerts(Timestamp before) {
        return deleted("""
                delete from alert where alert_id in (
                    select alert_id from alert where cleared_at < :before order by alert_id limit :batch)
                """, before);
    }

    private Batch deleteTests(Timestamp before) {
        return deleted("""
                delete from alert_message where message_id in (
                    select message_id from alert_message
                    where alert_id is null and created_at < :before and (sent_at is not null or given_up_at is not null)
                    order by message_id limit :batch)
                """, before);
    }

    /**
     * NB: old rows are selected run by run through an index, so that nothing else is read if there is nothing to
     * delete.
     */
    private Batch batch(String sql, Timestamp before) {
        return new Batch(asked(sql, before).query(Integer.class).single());
    }

    private Batch deleted(String delete, Timestamp before) {
        return new Batch(asked(delete, before).update());
    }

    private StatementSpec asked(String sql, Timestamp before) {
        return jdbc.sql(sql)
                .param("before", before)
                .param("now", Timestamp.from(clock.instant()))
                .param("batch", BATCH);
    }

    /** Walks the old readings by time; the last reading of each receipt stays. */
    private final class OldReadings implements Part {

        private Timestamp readAt = Timestamp.from(Instant.EPOCH);
        private long id;

        @Override
        public Batch delete(Timestamp before) {
            return asked("""
                            with old as (
                                select reading_id, receipt_id, read_at from reading
                                where read_at < :before and (read_at, reading_id) > (:readAt, :id)
                                order by read_at, reading_id
                                limit :batch
                            ), gone as (
                                delete from reading where reading_id in (
                                    select reading_id from old
                                    where exists (select from reading later
                                                  where later.receipt_id = old.receipt_id and later.reading_id > old.reading_id)
                                      and not exists (select from receipt r
                                                      where r.receipt_id = old.receipt_id
                                                        and standing_hold(r.experiment_id, :now) is not null))
                                returning 1
                            )
                            select read_at, reading_id, (select count(*) from old) as looked_at, (select count(*) from gone) as deleted
                            from old order by read_at desc, reading_id desc limit 1
                            """, before)
                    .param("readAt", readAt)
                    .param("id", id)
                    .query((row, n) -> {
                        readAt = row.getTimestamp("read_at");
                        id = row.getLong("reading_id");
                        return new Batch(row.getInt("deleted"), row.getInt("looked_at") == BATCH);
                    })
                    .optional()
                    .orElse(new Batch(0, false));
        }
    }
}
