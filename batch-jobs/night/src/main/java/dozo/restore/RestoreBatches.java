package dozo.restore;

import dozo.copy.Copy.Progress;
import dozo.file.FilePath;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.plan.RestoreCost;
import dozo.plan.RestoreCost.Measured;
import dozo.plan.RestoreCost.RestoreTime;
import dozo.plan.Work;
import dozo.restore.Restores.RestoreState;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Batches: restores of many experiments in an order, how far they are, and how long they take. {@link RestoreQueue} does them. */
@Component
public class RestoreBatches {

    /** The number of latest restores that a forecast is learnt from. */
    private static final int MEASURED_MAX = 30;

    private final JdbcClient jdbc;
    private final Restores restores;

    /**
     * An experiment of a batch.
     *
     * @param position its place in the order, from 1
     * @param manifest the number of the manifest that is restored; missing: it has none
     * @param restore the number of its restore; missing: it was not requested yet, or refused
     * @param state {@code FAILED} also if the restore was refused; {@code STOPPED} also if the batch ended before its turn
     * @param findings the number of things that could not be restored
     * @param message why it failed, was refused, or waits for its site
     */
    public record BatchItem(
            int position,
            String experiment,
            @Nullable Integer manifest,
            long files,
            long bytes,
            @Nullable Long restore,
            RestoreState state,
            long findings,
            String message,
            @Nullable Instant startedAt,
            @Nullable Instant endedAt) {}

    /** The restore that runs now, and what of it is verified. */
    private record Running(long restore, Progress progress) {}

    RestoreBatches(JdbcClient jdbc, Restores restores) {
        this.jdbc = jdbc;
        this.restores = restores;
    }

    /** Returns a batch with a visible experiment. */
    public Optional<RestoreBatch> find(Sight sight, long id) {
        return all(sight, List.of(id)).stream()
                .filter(batch -> batch.experiments() > 0)
                .findFirst();
    }

    /** Returns at most {@code limit} batches with a visible experiment before one, the latest first. */
    public List<RestoreBatch> page(Sight sight, long before, int limit) {
        return all(
                sight,
                jdbc.sql("""
                                select batch_id from restore_batch b
                                where batch_id < :before
                                  and exists (select from restore_batch_item i join experiment using (experiment_id)
                                              join project p using (project_id)
                                              where i.batch_id = b.batch_id and in_sight(:seen, p.code))
                                order by batch_id desc limit :limit
                                """)
                        .param("before", before)
                        .param("seen", sight.seen())
                        .param("limit", limit)
                        .query((row, n) -> row.getLong(1))
                        .list());
    }

    private List<RestoreBatch> all(Sight sight, List<Long> ids) {
        // NB: asked before the queries, so that no connection waits for it.
        Running running = restores.latest()
                .filter(now -> !now.over)
                .map(now -> new Running(now.id, now.copy.progress()))
                .orElse(null);
        Map<Long, RestoreTime> forecasts = new HashMap<>();
        ids.forEach(id -> forecast(sight, id, running).ifPresent(time -> forecasts.put(id, time)));
        return jdbc.sql("""
                        select b.*, s.name as site, t.*
                        from restore_batch b join site s using (site_id) cross join lateral (
                            select count(*) as experiments, coalesce(sum(files), 0)::bigint as files,
                                   coalesce(sum(bytes), 0)::bigint as bytes,
                                   count(*) filter (where state = 'COMPLETE') as complete,
                                   count(*) filter (where state = 'FINDINGS') as with_findings,
                                   count(*) filter (where state = 'FAILED') as failed,
                                   count(*) filter (where state = 'STOPPED') as stopped,
                                   count(*) filter (where state = 'RUNNING') as running,
                                   count(*) filter (where state = 'WAITING') as waiting,
                                   coalesce(sum(files) filter (where state in ('RUNNING', 'WAITING')), 0)::bigint as files_left,
                                   coalesce(sum(bytes) filter (where state in ('RUNNING', 'WAITING')), 0)::bigint as bytes_left,
                                   max(restore) filter (where state = 'RUNNING') as running_restore
                            from restore_batch_place where batch_id = b.batch_id and in_sight(:seen, project)) t
                        where batch_id = any(:ids) order by batch_id desc
                        """)
                .param("ids", ids.stream().mapToLong(Long::longValue).toArray())
                .param("seen", sight.seen())
                .query((row, n) -> batch(row, running, forecasts.get(row.getLong("batch_id"))))
                .list();
    }

    private static RestoreBatch batch(ResultSet row, @Nullable Running running, @Nullable RestoreTime forecast)
            throws SQLException {
        byte[] folder = row.getBytes("folder");
        String origin = row.getString("origin");
        Progress now = progress(running, row.getLong("running_restore"));
        return new RestoreBatch(
                row.getLong("batch_id"),
                RestoreState.valueOf(row.getString("state")),
                row.getString("site"),
                folder == null ? null : FilePath.render(folder),
                folder,
                folder == null && origin == null,
                origin,
                row.getBoolean("replaces"),
                row.getString("requested_by"),
                row.getTimestamp("requested_at").toInstant(),
                Rows.instant(row, "ended_at"),
                row.getLong("experiments"),
                row.getLong("files"),
                row.getLong("bytes"),
                row.getLong("complete"),
                row.getLong("with_findings"),
                row.getLong("failed"),
                row.getLong("stopped"),
                row.getLong("running"),
                row.getLong("waiting"),
                row.getLong("files_left"),
                Math.max(0, row.getLong("bytes_left") - now.bytesVerified()),
                forecast);
    }

    private static Progress progress(@Nullable Running running, long restore) {
        return running != null && running.restore == restore ? running.progress : RestoreQueue.NONE;
    }

    /** Forecasts all up to the last visible experiment, by the latest restores from the site into the same kind of target. */
    private Optional<RestoreTime> forecast(Sight sight, long id, @Nullable Running running) {
        List<Measured> measured = jdbc.sql("""
                        select r.bytes, r.entries, extract(epoch from r.ended_at - r.started_at)::float8 as seconds
                        from restore_batch b join restore r on r.site_id = b.site_id
                        left join archive_restore a using (restore_id)
                        where b.batch_id = :id and b.ended_at is null and r.state in ('COMPLETE', 'FINDINGS') and r.entries > 0
                          and r.started_at < r.ended_at and r.in_place = (b.folder is null and b.origin is null)
                          and a.origin is not distinct from b.origin
                        order by r.restore_id desc limit :limit
                        """)
                .param("id", id)
                .param("limit", MEASURED_MAX)
                .query((row, n) -> new Measured(
                        new Work(row.getLong("bytes"), row.getLong("entries")), 0, row.getDouble("seconds")))
                .list();
        return RestoreCost.of(measured)
                .map(cost -> jdbc.sql("""
                        with open as (select * from restore_batch_place where batch_id = :id and state in ('RUNNING', 'WAITING'))
                        select count(*) as experiments, coalesce(sum(bytes), 0)::bigint as bytes,
                               coalesce(sum(entries), 0)::bigint as entries,
                               max(restore) filter (where state = 'RUNNING') as running_restore
                        from open where position <= (select max(position) from open where in_sight(:seen, project))
                        """)
                        .param("id", id)
                        .param("seen", sight.seen())
                        .query((row, n) -> {
                            Progress now = progress(running, row.getLong("running_restore"));
                            return cost.of(
                                    row.getLong("experiments"),
                                    new Work(
                                            Math.max(0, row.getLong("bytes") - now.bytesVerified()),
                                            Math.max(0, row.getLong("entries") - now.entriesVerified())));
                        })
                        .single());
    }

    /**
     * Returns at most {@code limit} visible experiments of a batch after a position, in their order.
     *
     * @param state only these; null: all
     */
    public List<BatchItem> items(Sight sight, long id, @Nullable RestoreState state, int after, int limit) {
        return jdbc.sql("""
                        select * from restore_batch_place
                        where batch_id = :id and position > :after and in_sight(:seen, project)
                          and (:state::text is null or state = :state)
                        order by position limit :limit
                        """)
                .param("id", id)
                .param("after", after)
                .param("seen", sight.seen())
                .param("state", state == null ? null : state.name())
                .param("limit", limit)
                .query(Rows.of(BatchItem.class))
                .list();
    }

    /** Returns whether a restore belongs to a batch. */
    boolean has(long restore) {
        return jdbc.sql("select exists (select from restore_batch_item where restore_id = :id)")
                .param("id", restore)
                .query((row, n) -> row.getBoolean(1))
                .single();
    }

    static BatchTarget target(ResultSet row) throws SQLException {
        String origin = row.getString("origin");
        byte[] folder = row.getBytes("folder");
        return origin != null
                ? new Target.Archive(origin, row.getBoolean("replaces"))
                : folder == null ? new BatchTarget.Sources() : new BatchTarget.Below(FilePath.pathOf(folder));
    }
}
