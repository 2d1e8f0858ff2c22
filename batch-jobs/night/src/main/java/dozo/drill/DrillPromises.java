package dozo.drill;

import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.restore.Restores.RestoreState;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Whether the promise is kept that each project is rehearsed in its time. */
@Component
public class DrillPromises {

    private final JdbcClient jdbc;
    private final DrillSettings settings;
    private final InstantSource clock;

    /** Whether a project was rehearsed in its time. */
    public enum Standing {
        /** The last drill found something, or could not be finished. */
        FAILED,
        /** The last drill without findings is too long ago, or there was none in time. */
        OVERDUE,
        KEPT,
        /** No file of the project is safe at a site yet. */
        NOTHING;

        /** Returns whether it needs a person. */
        public boolean bad() {
            return this == FAILED || this == OVERDUE;
        }
    }

    /**
     * A project's promise.
     *
     * @param days at most so many may pass between two drills without findings
     * @param ownDays whether the project has this number itself, not by the setting
     * @param since when the time began: the last drill without findings, or the project's first registration
     * @param succeededAt when the last drill without findings ended; null: there was none
     * @param lastDrill the last drill that ran to its end or failed; null: there was none
     * @param lastState its result
     */
    public record DrillPromise(
            String project,
            Standing standing,
            int days,
            boolean ownDays,
            @Nullable Instant since,
            @Nullable Instant succeededAt,
            @Nullable Long lastDrill,
            @Nullable RestoreState lastState) {

        /** Returns when the project must have been rehearsed; null: it has no experiment. */
        public @Nullable Instant until() {
            return since == null ? null : since.plus(Duration.ofDays(days));
        }
    }

    private record Row(
            String project,
            int days,
            boolean ownDays,
            boolean there,
            @Nullable Instant registeredAt,
            @Nullable Instant succeededAt,
            @Nullable Long lastDrill,
            @Nullable RestoreState lastState) {}

    DrillPromises(JdbcClient jdbc, DrillSettings settings, InstantSource clock) {
        this.jdbc = jdbc;
        this.settings = settings;
        this.clock = clock;
    }

    /** Returns the promises of all visible projects, by code. */
    public List<DrillPromise> all(Sight sight) {
        return page(sight, "", Integer.MAX_VALUE);
    }

    /** Returns the promises of at most {@code limit} visible projects with codes after {@code after}, by code. */
    public List<DrillPromise> page(Sight sight, String after, int limit) {
        Instant now = clock.instant();
        // NB: a drill that ended in the future, before the clock was set back, keeps no promise.
        return jdbc
                .sql("""
                        with done as (
                            select e.project_id,
                                   max(r.ended_at) filter (where r.state = 'COMPLETE' and r.ended_at <= :now) as succeeded_at,
                                   max(d.restore_id) as last_drill
                            from drill d join restore r using (restore_id) join experiment e using (experiment_id)
                            where r.state in ('COMPLETE', 'FINDINGS', 'FAILED')
                            group by e.project_id)
                        select p.code as project, coalesce(p.drill_days, :days) as days, p.drill_days is not null as own_days,
                               (select min(e.registered_at) from experiment e where e.project_id = p.project_id) as registered_at,
                               exists (select from rehearsable h where h.project_id = p.project_id) as there,
                               done.succeeded_at, done.last_drill, r.state as last_state
                        from project p
                        left join done using (project_id)
                        left join restore r on r.restore_id = done.last_drill
                        where in_sight(:seen, p.code) and p.code > :after
                        order by p.code limit :limit
                        """)
                .param("now", Timestamp.from(now))
                .param("days", settings.days())
                .param("seen", sight.seen())
                .param("after", after)
                .param("limit", limit)
                .query(Rows.of(Row.class))
                .list()
                .stream()
                .map(row -> promise(row, now))
                .toList();
    }

    private static DrillPromise promise(Row row, Instant now) {
        Instant since = row.succeededAt != null ? row.succeededAt : row.registeredAt;
        Standing standing;
        if (!row.there || since == null) {
            standing = Standing.NOTHING;
        } else if (row.lastState != null && row.lastState != RestoreState.COMPLETE) {
            standing = Standing.FAILED;
        } else {
            standing = since.plus(Duration.ofDays(row.days)).isBefore(now) ? Standing.OVERDUE : Standing.KEPT;
        }
        return new DrillPromise(
                row.project, standing, row.days, row.ownDays, since, row.succeededAt, row.lastDrill, row.lastState);
    }
}
