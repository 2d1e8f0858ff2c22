package dozo.drill;

import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.restore.RestoreQueue;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The evidence of all drills. */
@Component
public class Drills {

    private static final RowMapper<KeptDrill> DRILL = Rows.of(KeptDrill.class);

    private static final String SELECT = """
            select r.*, r.restore_id as id, r.manifest_no as manifest, p.code as project, p.code || '/' || e.code as experiment,
                   s.name as site, coalesce(r.paths[1], '') as part, d.seconds, d.first_byte_seconds
            from drill d join restore r using (restore_id)
            join experiment e using (experiment_id) join project p using (project_id) join site s using (site_id)
            """;

    private final JdbcClient jdbc;
    private final RestoreQueue queue;

    Drills(JdbcClient jdbc, RestoreQueue queue) {
        this.jdbc = jdbc;
        this.queue = queue;
    }

    /** Returns a visible drill with its present progress. */
    public Optional<KeptDrill> find(Sight sight, long id) {
        return jdbc.sql(SELECT + "where d.restore_id = :id and in_sight(:seen, p.code)")
                .param("id", id)
                .param("seen", sight.seen())
                .query(DRILL)
                .optional()
                .map(this::asFarAsItIs);
    }

    /**
     * Returns at most {@code limit} visible drills before one, the latest first.
     *
     * @param project null: of all projects
     */
    public List<KeptDrill> page(Sight sight, @Nullable String project, long before, int limit) {
        return jdbc
                .sql(SELECT + """
                        where d.restore_id < :before and in_sight(:seen, p.code) and (:project::text is null or p.code = :project)
                        order by d.restore_id desc limit :limit
                        """)
                .param("before", before)
                .param("seen", sight.seen())
                .param("project", project)
                .param("limit", limit)
                .query(DRILL)
                .list()
                .stream()
                .map(this::asFarAsItIs)
                .toList();
    }

    /** Returns the drill of a project that waits or runs. */
    Optional<KeptDrill> open(String project) {
        return jdbc.sql(SELECT + "where r.ended_at is null and p.code = :project order by d.restore_id limit 1")
                .param("project", project)
                .query(DRILL)
                .optional();
    }

    /** Returns when the schedule last requested a drill. Of the latest one, because the clock may have been set back. */
    public Optional<Instant> lastScheduled() {
        return jdbc.sql(SELECT + "where r.requested_by = :dozo order by d.restore_id desc limit 1")
                .param("dozo", Ledger.SYSTEM)
                .query(DRILL)
                .optional()
                .map(KeptDrill::requestedAt);
    }

    private KeptDrill asFarAsItIs(KeptDrill drill) {
        return drill.state().goesOn() ? queue.soFar(drill.id()).map(drill::at).orElse(drill) : drill;
    }
}
