package dozo.ledger;

import dozo.file.FilePath;
import dozo.file.Problem;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** What needs a person: skipped, unreadable, changed underfoot, refused. Kept for ever, listed by run. */
@Component
public class Findings {

    private static final int BATCH = 1_000;

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final InstantSource clock;

    /**
     * Something that was found.
     *
     * @param experimentId null when it concerns the whole run
     * @param path below the source root, null when it concerns the whole experiment
     * @param message names the thing and says what to do
     */
    public record Finding(
            @Nullable Integer experimentId,
            Problem reason,
            @Nullable FilePath path,
            String message) {}

    /** A finding as kept, with its experiment's code as {@code project/experiment}. */
    public record KeptFinding(
            long id,
            long runId,
            @Nullable String experiment,
            Problem reason,
            @Nullable FilePath path,
            String message,
            Instant foundAt) {}

    /** A reason, and how many findings have it. */
    public record Reason(Problem reason, long count) {}

    public Findings(JdbcTemplate template, InstantSource clock) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
        this.clock = clock;
    }

    /** Keeps what a run found. */
    public void add(long runId, List<Finding> findings) {
        Timestamp now = Timestamp.from(clock.instant());
        template.batchUpdate(
                "insert into finding (run_id, experiment_id, reason, path, message, found_at) values (?, ?, ?, ?, ?, ?)",
                findings,
                BATCH,
                (statement, finding) -> {
                    statement.setLong(1, runId);
                    statement.setObject(2, finding.experimentId());
                    statement.setString(3, finding.reason().name());
                    statement.setBytes(
                            4, finding.path() == null ? null : finding.path().bytes());
                    statement.setString(5, finding.message());
                    statement.setTimestamp(6, now);
                });
    }

    /** How many findings a run has. */
    public long count(long runId) {
        return jdbc.sql("select count(*) from finding where run_id = :run")
                .param("run", runId)
                .query((row, n) -> row.getLong(1))
                .single();
    }

    /** How many findings of an experiment and reason a run has, counted up to a limit. */
    public int count(long runId, int experimentId, Problem reason, int limit) {
        return jdbc.sql("""
                        select count(*) from (
                            select from finding
                            where run_id = :run and experiment_id = :experiment and reason = :reason
                            limit :limit) f
                        """)
                .param("run", runId)
                .param("experiment", experimentId)
                .param("reason", reason.name())
                .param("limit", limit)
                .query((row, n) -> row.getInt(1))
                .single();
    }

    /** Whether a run has a finding of an experiment. */
    public boolean any(long runId, int experimentId) {
        return jdbc.sql("select exists (select from finding where run_id = :run and experiment_id = :experiment)")
                .param("run", runId)
                .param("experiment", experimentId)
                .query((row, n) -> row.getBoolean(1))
                .single();
    }

    public List<KeptFinding> of(long runId, long after, int limit) {
        return of(Sight.EVERYTHING, runId, after, limit);
    }

    /** At most {@code limit} findings of a run after the one with id {@code after}, in the order they were found. */
    public List<KeptFinding> of(Sight sight, long runId, long after, int limit) {
        return jdbc.sql("""
                        select f.finding_id, f.run_id, p.code || '/' || e.code as experiment, f.reason, f.path, f.message,
                               f.found_at
                        from finding f
                        left join experiment e using (experiment_id)
                        left join project p using (project_id)
                        where f.run_id = :run and f.finding_id > :after
                          and (:seen::text[] is null or p.code = any(:seen::text[]))
                        order by f.finding_id
                        limit :limit
                        """)
                .param("seen", sight.seen(), Types.ARRAY)
                .param("run", runId)
                .param("after", after)
                .param("limit", limit)
                .query((row, n) -> new KeptFinding(
                        row.getLong("finding_id"),
                        row.getLong("run_id"),
                        row.getString("experiment"),
                        Problem.valueOf(row.getString("reason")),
                        row.getBytes("path") == null ? null : FilePath.of(row.getBytes("path")),
                        row.getString("message"),
                        row.getTimestamp("found_at").toInstant()))
                .list();
    }

    /** How often a run found what, the most frequent first. */
    public List<Reason> reasons(Sight sight, long runId) {
        return jdbc.sql("""
                        select f.reason, count(*) as count
                        from finding f
                        left join experiment e using (experiment_id)
                        left join project p using (project_id)
                        where f.run_id = :run and (:seen::text[] is null or p.code = any(:seen::text[]))
                        group by f.reason
                        order by count(*) desc, f.reason
                        """)
                .param("seen", sight.seen(), Types.ARRAY)
                .param("run", runId)
                .query((row, n) -> new Reason(Problem.valueOf(row.getString("reason")), row.getLong("count")))
                .list();
    }

    /** An experiment's latest findings, at most {@code limit}, the latest first. */
    public List<KeptFinding> latest(int experimentId, int limit) {
        return jdbc.sql("""
                        select f.finding_id, f.run_id, p.code || '/' || e.code as experiment, f.reason, f.path, f.message,
                               f.found_at
                        from finding f
                        join experiment e using (experiment_id)
                        join project p using (project_id)
                        where f.experiment_id = :experiment
                        order by f.finding_id desc
                        limit :limit
                        """)
                .param("experiment", experimentId)
                .param("limit", limit)
                .query((row, n) -> new KeptFinding(
                        row.getLong("finding_id"),
                        row.getLong("run_id"),
                        row.getString("experiment"),
                        Problem.valueOf(row.getString("reason")),
                        row.getBytes("path") == null ? null : FilePath.of(row.getBytes("path")),
                        row.getString("message"),
                        row.getTimestamp("found_at").toInstant()))
                .list();
    }
}
