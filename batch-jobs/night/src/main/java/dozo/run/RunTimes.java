package dozo.run;

import dozo.ledger.Ledger;
import dozo.registry.Part;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * When runs started and ended. A start that a wrong clock gave does not count: it is {@link Timetable#isAhead ahead}, or was
 * when somebody looked.
 */
@Component
public class RunTimes {

    private static final String DISTRUSTED = "run.distrusted";

    private static final String IS_DISTRUSTED =
            "exists (select from ledger where action = '%s' and subject = r.run_id::text)".formatted(DISTRUSTED);

    private static final String COUNTS = "(r.started_at <= :latest and not %s)".formatted(IS_DISTRUSTED);

    private final JdbcClient jdbc;
    private final Ledger ledger;

    RunTimes(JdbcClient jdbc, Ledger ledger) {
        this.jdbc = jdbc;
        this.ledger = ledger;
    }

    /** Returns the start of the run that was started last, if it does not count. */
    public Optional<Instant> ahead(Instant now) {
        return first(asked("where r.run_id = (select max(run_id) from run) and not %s", now));
    }

    /** Returns whether the start of a run does not count. */
    public boolean isAhead(Run run, Instant now) {
        return first(asked("where r.run_id = :run and not %s", now).param("run", run.id()))
                .isPresent();
    }

    /**
     * Returns when the last night or retry was started. A night of a part counts only if its site has no others (ADR 0078).
     */
    public Optional<Instant> lastNight(Instant now) {
        return first(asked("""
                where (r.kind = 'retry' or exists (select from night n where n.run_id = r.run_id)) and %s
                order by r.run_id desc limit 1
                """, now));
    }

    /** Returns when the last night at a site was started that had the experiments of a part: one of that part, or of all. */
    public Optional<Instant> lastNight(int siteId, Part part, Instant now) {
        return first(asked("""
                left join project p on p.project_id = r.part_project_id
                left join origin o on o.origin_id = r.part_origin_id
                where r.kind = 'nightlyBackup' and r.site_id = :site and %s
                  and (num_nonnulls(r.part_project_id, r.part_origin_id) = 0 or p.code = :project or o.name = :origin)
                order by r.run_id desc limit 1
                """, now)
                .param("site", siteId)
                .param("project", part.project(), Types.VARCHAR)
                .param("origin", part.origin(), Types.VARCHAR));
    }

    /**
     * Records in the ledger which starts are {@link Timetable#isAhead ahead}, each once: they must not count when their time has
     * come, either. Leaves out those that are ahead by more than a day, because a clock that is behind by years would distrust all
     * that there are. Returns the recorded ones.
     */
    @Transactional
    public List<Instant> distrustAhead(Instant now) {
        Map<Long, Instant> starts = new TreeMap<>();
        jdbc.sql("""
                        select run_id, started_at from run r
                        where started_at > :latest and started_at <= :tomorrow and not %s
                        """.formatted(IS_DISTRUSTED))
                .param("latest", Timestamp.from(now.plus(Timetable.AHEAD_MAX)))
                .param("tomorrow", Timestamp.from(now.plus(Duration.ofDays(1))))
                .query(row -> {
                    starts.put(row.getLong(1), row.getTimestamp(2).toInstant());
                });
        starts.forEach((run, start) ->
                ledger.append(Ledger.SYSTEM, DISTRUSTED, String.valueOf(run), Map.of("started_at", start.toString())));
        return List.copyOf(starts.values());
    }

    /** When a run of a kind last ended in a state. */
    public record LastEnd(RunKind kind, RunState state, Instant at) {}

    /** Returns when runs of each kind last ended in each state; only what there was. */
    public List<LastEnd> lastEnds() {
        return jdbc.sql("""
                        select kind, state, max(ended_at) as at from run where ended_at is not null
                        group by kind, state order by kind, state
                        """)
                .query((row, n) -> new LastEnd(
                        RunKind.of(row.getString("kind")),
                        RunState.valueOf(row.getString("state")),
                        row.getTimestamp("at").toInstant()))
                .list();
    }

    private StatementSpec asked(String which, Instant now) {
        return jdbc.sql("select r.started_at from run r " + which.formatted(COUNTS))
                .param("latest", Timestamp.from(now.plus(Timetable.AHEAD_MAX)));
    }

    private static Optional<Instant> first(StatementSpec asked) {
        return asked.query((row, n) -> row.getTimestamp(1).toInstant()).optional();
    }
}
