package dozo.drill;

import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.restore.Restores.RestoreState;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Whether the promise is kept that each project that is not retired is rehearsed in its time. */
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
        /** No drill was complete yet, but the time of the first one is not over. */
        NEVER,
        /** No file of the project is safe at a site yet. */
        NOTHING;

        /** Returns whether it needs a person. */
        public boolean bad() {
            return this == FAILED || this == OVERDUE;
        }
    }

    /**
     * Whether a project was rehearsed in its time.
     *
     * @param standing {@code KEPT}; {@code NEVER}: no drill was complete yet, and the first is not due yet; {@code OVERDUE}: the last drill without findings is too long ago; {@code FAILED}: the last
     *     drill was not complete; {@code NOTHING}: nothing is safe yet, so there is nothing to rehearse
     * @param days within how many days it must be rehearsed
     * @param since when the time began: the last drill without findings, or the project's first registration; missing: it
     *     has no experiment
     * @param until when the time ends or ended; missing: it has no experiment
     * @param succeededAt the end of the last drill without findings
     * @param lastDrill the last drill that ended with a result
     * @param lastState its result
     */
    public record DrillPromise(
            String project,
            Standing standing,
            int days,
            @Nullable Instant since,
            @Nullable Instant until,
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
        // NB: a drill that ended in the future, before the clock was set back, keeps no promise. A day has 24 hours.
        return jdbc.sql("""
                        with done as (
                            select e.project_id,
                                   max(r.ended_at) filter (where r.state = 'COMPLETE' and r.ended_at <= :now) as succeeded_at,
                                   max(d.restore_id) as last_drill
                            from drill d join restore r using (restore_id) join experiment e using (experiment_id)
                            where r.state in ('COMPLETE', 'FINDINGS', 'FAILED')
                            group by e.project_id
                        ), term as (
                            select p.project_id, p.code as project, coalesce(p.drill_days, :days) as days,
                                   coalesce(done.succeeded_at,
                                            (select min(registered_at) from experiment e where e.project_id = p.project_id)) as since,
                                   done.succeeded_at, done.last_drill, r.state as last_state
                            from project p
                            left join done using (project_id)
                            left join restore r on r.restore_id = done.last_drill
                            where in_sight(:seen, p.code) and p.code > :after and p.retired_at is null
                            order by p.code limit :limit
                        ), timed as (
                            select *, since + make_interval(hours => 24 * days) as until from term
                        )
                        select *, case when since is null then 'NOTHING'
                                       when not exists (select from rehearsable h where h.project_id = t.project_id) then 'NOTHING'
                                       when last_state <> 'COMPLETE' then 'FAILED'
                                       when until < :now then 'OVERDUE'
                                       when succeeded_at is null then 'NEVER'
                                       else 'KEPT' end as standing
                        from timed t order by project
                        """)
                .param("now", Timestamp.from(clock.instant()))
                .param("days", settings.days())
                .param("seen", sight.seen())
                .param("after", after)
                .param("limit", limit)
                .query(Rows.of(DrillPromise.class))
                .list();
    }
}
