package dozo.collect;

import com.fasterxml.jackson.annotation.JsonValue;
import dozo.collect.Arrivals.Arrival;
import dozo.collect.Origins.Origin;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The reports that compare, for each run and origin, what the origin listed with what was delivered. */
@Component
public class Reconciliations {

    private static final int BATCH = 1_000;

    private static final RowMapper<Report> REPORT = Rows.of(Report.class);

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final Findings findings;
    private final InstantSource clock;

    /** The result of an origin's part of a run. */
    public enum State {
        RUNNING,
        /** Nothing is missing. */
        EMPTY,
        /** Something is missing. */
        DIFFERS,
        /** The time limit was reached before every item was tried. */
        LATE,
        /** The origin could not be used at all, or no longer. */
        UNUSABLE;

        /** Returns its word in REST. */
        @JsonValue
        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * The result of an origin in a run.
     *
     * @param state running, empty (nothing is missing), differs, late (out of time) or unusable
     * @param itemsTold all items that the origin lists; 0 in a retry, which does not look
     * @param itemsChanged listed items that are new or changed since the last look
     * @param itemsTried items that the run looked at: those that changed or waited
     * @param itemsComplete tried items that are experiments and completely here
     * @param itemsGone items that the origin listed until now
     * @param itemsDismissed listed items that are dismissed: not collected, not safe
     * @param filesTold files of tried items that are experiments
     * @param filesHere how many of them are delivered
     * @param bytesFetched downloaded in this run
     * @param message why it ended early; otherwise empty
     */
    public record Report(
            long runId,
            String origin,
            State state,
            long itemsTold,
            long itemsChanged,
            long itemsTried,
            long itemsComplete,
            long itemsGone,
            long itemsDismissed,
            long filesTold,
            long filesHere,
            long bytesFetched,
            long missing,
            long remarks,
            String message,
            Instant beganAt,
            @Nullable Instant endedAt) {}

    /**
     * A line of a report.
     *
     * @param item the item's id in the origin; null: it concerns the whole origin
     * @param experiment the item's experiment, as project/code
     * @param missing true: something is missing; false: a remark
     */
    public record ReportLine(
            long no,
            String origin,
            @Nullable String item,
            @Nullable String project,
            @Nullable String experiment,
            boolean missing,
            String name,
            String id,
            String reason,
            String message,
            Instant foundAt) {}

    public Reconciliations(JdbcTemplate template, Findings findings, InstantSource clock) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
        this.findings = findings;
        this.clock = clock;
    }

    /** Returns the reports of a run, by the origins' names. */
    public List<Report> of(long runId) {
        return jdbc.sql("""
                        select r.*, o.name as origin from reconciliation r join origin o using (origin_id)
                        where r.run_id = :run order by o.name
                        """).param("run", runId).query(REPORT).list();
    }

    /** Returns the report of the last run that reached this origin. */
    Optional<Report> latest(Origin origin) {
        return jdbc.sql("""
                        select r.*, o.name as origin from reconciliation r join origin o using (origin_id)
                        where r.origin_id = :origin order by r.run_id desc limit 1
                        """).param("origin", origin.id()).query(REPORT).optional();
    }

    /**
     * Returns at most {@code limit} lines of a run's reports that are in sight and have a number above {@code after},
     * by number.
     */
    public List<ReportLine> lines(Sight sight, long runId, @Nullable Boolean missing, long after, int limit) {
        return lines(sight, runId, null, missing, after, limit);
    }

    /** Returns the same for one origin; null for all. */
    public List<ReportLine> lines(
            Sight sight, long runId, @Nullable String origin, @Nullable Boolean missing, long after, int limit) {
        return jdbc.sql("""
                        select i.*, i.item_no as no, o.name as origin, a.item, p.code as project, p.code || '/' || e.code as experiment
                        from reconciliation_item i
                        join origin o using (origin_id)
                        left join arrival a using (arrival_id)
                        left join project p on p.project_id = a.project_id
                        left join experiment e on e.experiment_id = a.experiment_id
                        where i.run_id = :run and i.item_no > :after and (:missing::boolean is null or i.missing = :missing)
                          and (:origin::text is null or o.name = :origin)
                          and in_sight(:seen, p.code)
                        order by i.item_no limit :limit
                        """)
                .param("run", runId)
                .param("after", after)
                .param("missing", missing, Types.BOOLEAN)
                .param("origin", origin, Types.VARCHAR)
                .param("seen", sight.seen())
                .param("limit", limit)
                .query(Rows.of(ReportLine.class))
                .list();
    }

    /** Returns the id of the origin that a run is working on. */
    Optional<Integer> running(long runId) {
        return jdbc.sql("select origin_id from reconciliation where run_id = :run and ended_at is null")
                .param("run", runId)
                .query((row, n) -> row.getInt(1))
                .optional();
    }

    /**
     * Returns the next active origin that a run has not reached; in a retry, only one with waiting items of its
     * experiments, and in a night of a project, only one that has items of the project.
     */
    Optional<Integer> nextOrigin(long runId) {
        return jdbc.sql("""
                        select o.origin_id from origin o
                        where o.active
                          and not exists (select from project t where t.project_id = o.project_id and t.retired_at is not null)
                          and not exists (select from reconciliation r where r.run_id = :run and r.origin_id = o.origin_id)
                          and (not exists (select from run_experiment where run_id = :run)
                               or exists (select from arrival a join run_experiment c using (experiment_id)
                                          where a.origin_id = o.origin_id and c.run_id = :run and a.waiting))
                          and exists (select from run r
                                      where r.run_id = :run
                                        and (r.part_origin_id is null or r.part_origin_id = o.origin_id)
                                        and (r.part_project_id is null or r.part_project_id = o.project_id
                                             or exists (select from origin_project m
                                                        where m.origin_id = o.origin_id and m.project_id = r.part_project_id)
                                             or exists (select from arrival a
                                                        where a.origin_id = o.origin_id and a.project_id = r.part_project_id)))
                        order by o.origin_id limit 1
                        """)
                .param("run", runId)
                .query((row, n) -> row.getInt(1))
                .optional();
    }

    /** Returns whether a run has only experiments that were chosen when it was opened: it asks no origin for new items. */
    boolean isRetry(long runId) {
        return jdbc.sql("select exists (select from run_experiment where run_id = :run)")
                .param("run", runId)
                .query((row, n) -> row.getBoolean(1))
                .single();
    }

    /** Begins the report of an origin in a run that does not list its items. */
    void begin(long runId, Origin origin) {
        begin(runId, origin, 0, 0, 0, 0);
    }

    /** Begins the report of an origin in a run. */
    void begin(long runId, Origin origin, long told, long changed, long gone, long dismissed) {
        jdbc.sql("""
                        insert into reconciliation (run_id, origin_id, state, items_told, items_changed, items_gone, items_dismissed,
                                                    began_at)
                        values (:run, :origin, 'RUNNING', :told, :changed, :gone, :dismissed, :now)
                        """)
                .param("run", runId)
                .param("origin", origin.id())
                .param("told", told)
                .param("changed", changed)
                .param("gone", gone)
                .param("dismissed", dismissed)
                .param("now", Timestamp.from(clock.instant()))
                .update();
    }

    /** Adds the result for an item to the report. */
    void tried(long runId, Origin origin, Delivery came, boolean delivered) {
        jdbc.sql("""
                        update reconciliation
                        set items_tried = items_tried + 1, items_complete = items_complete + :complete,
                            files_told = files_told + :told, files_here = files_here + :here, bytes_fetched = bytes_fetched + :bytes
                        where run_id = :run and origin_id = :origin
                        """)
                .param("complete", delivered && came.isComplete() ? 1 : 0)
                .param("told", delivered ? came.filesTold() : 0)
                .param("here", delivered ? came.filesHere() : 0)
                .param("bytes", came.bytesFetched())
                .param("run", runId)
                .param("origin", origin.id())
                .update();
    }

    /** Stores what is missing; each is also a finding of the run. */
    void missing(long runId, Origin origin, @Nullable Arrival arrival, List<Remark> missing) {
        add(runId, origin, arrival, missing, true);
        Integer experiment = arrival == null ? null : arrival.experimentId();
        findings.add(
                runId,
                missing.stream()
                        .map(each ->
                                new Finding(experiment, Problem.NOT_DELIVERED, null, message(origin, arrival, each)))
                        .toList());
    }

    void remarks(long runId, Origin origin, @Nullable Arrival arrival, List<Remark> remarks) {
        add(runId, origin, arrival, remarks, false);
    }

    /** Adds a finding for a spool that will soon be full. */
    void spoolShort(long runId, String message) {
        findings.add(runId, List.of(new Finding(null, Problem.SPOOL_SHORT, null, message)));
    }

    /** Ends a report; its state is EMPTY if nothing is missing. */
    void end(long runId, Origin origin) {
        end(runId, origin, null, "");
    }

    /** Ends a report early, with one finding that says why. */
    void endEarly(long runId, Origin origin, State state, String why) {
        Problem problem = state == State.LATE ? Problem.ORIGIN_LATE : Problem.ORIGIN_UNUSABLE;
        findings.add(runId, List.of(new Finding(null, problem, null, "origin %s: %s".formatted(origin.name(), why))));
        end(runId, origin, state, why);
    }

    private void end(long runId, Origin origin, @Nullable State state, String why) {
        jdbc.sql("""
                        update reconciliation
                        set state = coalesce(:state, case when missing = 0 then 'EMPTY' else 'DIFFERS' end), message = :why,
                            ended_at = :now
                        where run_id = :run and origin_id = :origin
                        """)
                .param("state", state == null ? null : state.name(), Types.VARCHAR)
                .param("why", why)
                .param("now", Timestamp.from(clock.instant()))
                .param("run", runId)
                .param("origin", origin.id())
                .update();
    }

    private void add(long runId, Origin origin, @Nullable Arrival arrival, List<Remark> all, boolean missing) {
        if (all.isEmpty()) {
            return;
        }
        Timestamp now = Timestamp.from(clock.instant());
        template.batchUpdate("""
                insert into reconciliation_item (run_id, origin_id, arrival_id, missing, name, id, reason, message, found_at)
                values (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, all, BATCH, (statement, each) -> {
            statement.setLong(1, runId);
            statement.setInt(2, origin.id());
            statement.setObject(3, arrival == null ? null : arrival.id(), Types.BIGINT);
            statement.setBoolean(4, missing);
            statement.setString(5, each.name());
            statement.setString(6, each.id());
            statement.setString(7, each.reason());
            statement.setString(8, each.message());
            statement.setTimestamp(9, now);
        });
        jdbc.sql("""
                        update reconciliation set missing = missing + :missing, remarks = remarks + :remarks
                        where run_id = :run and origin_id = :origin
                        """)
                .param("missing", missing ? all.size() : 0)
                .param("remarks", missing ? 0 : all.size())
                .param("run", runId)
                .param("origin", origin.id())
                .update();
    }

    private static String message(Origin origin, @Nullable Arrival arrival, Remark missing) {
        String where = arrival == null || arrival.item().equals(missing.id())
                ? "origin " + origin.name()
                : "origin %s, %s".formatted(origin.name(), arrival.item());
        return "%s: %s (%s) was not delivered: %s, %s"
                .formatted(where, missing.name(), missing.id(), missing.reason(), missing.message());
    }
}
