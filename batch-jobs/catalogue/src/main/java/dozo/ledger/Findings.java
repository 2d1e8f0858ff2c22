package dozo.ledger;

import com.fasterxml.jackson.annotation.JsonProperty;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.stereotype.Component;

/**
 * Problems that need a person: skipped, unreadable, changed during reading, refused. A standing finding is one row with
 * the first and the last run that found it. A separate list by run has what each run found (ADR 0056).
 */
@Component
public class Findings {

    /** The highest number that is shown to people. Queries count one more, which means that there are more. */
    public static final int COUNTED_MAX = 1_000;

    private static final int BATCH = 1_000;

    private final JdbcClient jdbc;
    private final InstantSource clock;

    /**
     * A problem that was found.
     *
     * @param experimentId null if it concerns the whole run
     * @param path below the source root, null if it concerns the whole experiment
     * @param message names the item and says what to do
     */
    public record Finding(
            @Nullable Integer experimentId,
            Problem reason,
            @Nullable FilePath path,
            String message) {

        /** Creates one that concerns a whole experiment; for null the whole run. */
        public Finding(@Nullable Integer experimentId, Problem reason, String message) {
            this(experimentId, reason, null, message);
        }
    }

    /**
     * A stored finding.
     *
     * @param run the first run that found it
     * @param experiment its code, {@code project/experiment}; missing: it concerns the whole run
     * @param path in JSON as {@code pathBytes} in base64, and as {@code path} for people
     * @param message of the last run that found it
     * @param lastRun the last run that found it
     * @param supersededBy the first later run that has checked the same item again; or the site's last run before a check of the site
     *     showed that it was over
     * @param over whether its site was retired or removed; or its experiment was retired, and it is not about stored copies
     */
    public record KeptFinding(
            long id,
            long run,
            @Nullable String experiment,
            Problem reason,
            @JsonProperty("pathBytes") @Nullable FilePath path,
            String message,
            Instant foundAt,
            long lastRun,
            Instant lastFoundAt,
            @Nullable Long supersededBy,
            @Nullable Acknowledgement acknowledgement,
            boolean over) {

        /** Returns a rendering of the path for people; {@code pathBytes} is the exact path in base64. */
        @JsonProperty("path")
        public @Nullable String shownPath() {
            return path == null ? null : path.toString();
        }

        /** Returns whether a newer fact than the runs that found it shows that it is over. */
        public boolean refuted() {
            return supersededBy != null && supersededBy <= lastRun;
        }

        /** Returns whether it needs a person: it is neither superseded nor acknowledged nor over. */
        @JsonProperty
        public boolean open() {
            return supersededBy == null && acknowledgement == null && !over;
        }
    }

    /** A person's statement that a finding is known, with the reason why nothing needs to be done. */
    public record Acknowledgement(String by, Instant at, String reason) {}

    /**
     * Findings of one cause: the same reason in the same experiment.
     *
     * @param latest the one with the highest id
     * @param since when the first of them was found
     */
    public record FindingGroup(KeptFinding latest, long count, Instant since) {}

    private static final String FROM = """
             from finding f
            join run r using (run_id)
            join site s on s.site_id = r.site_id
            left join experiment e using (experiment_id)
            left join project p using (project_id)
            left join acknowledgement a using (finding_id)
            """;

    private static final String COLUMNS = """
            f.finding_id, f.run_id, p.code || '/' || e.code as experiment, f.reason, f.path, f.message, f.found_at,
                   f.last_run_id, f.last_found_at, f.superseded_by, a.acknowledged_by, a.acknowledged_at, a.reason as acknowledged_reason,
                   is_over(e.retired_at, r.kind, s.removed_at) as over
            """;

    private static final String SELECT = "select " + COLUMNS + FROM;

    private static final RowMapper<KeptFinding> FINDING = (row, n) -> new KeptFinding(
            row.getLong("finding_id"),
            row.getLong("run_id"),
            row.getString("experiment"),
            Problem.valueOf(row.getString("reason")),
            row.getBytes("path") == null ? null : FilePath.of(row.getBytes("path")),
            row.getString("message"),
            row.getTimestamp("found_at").toInstant(),
            row.getLong("last_run_id"),
            row.getTimestamp("last_found_at").toInstant(),
            row.getObject("superseded_by", Long.class),
            row.getString("acknowledged_by") == null
                    ? null
                    : new Acknowledgement(
                            row.getString("acknowledged_by"),
                            row.getTimestamp("acknowledged_at").toInstant(),
                            row.getString("acknowledged_reason")),
            row.getBoolean("over"));

    /** All reasons, the gravest first. */
    private static final String[] REASONS =
            Arrays.stream(Problem.values()).map(Problem::name).toArray(String[]::new);

    /** A reason and the number of findings that have it. */
    public record Reason(Problem reason, long count) {}

    public Findings(JdbcTemplate template, InstantSource clock) {
        this.jdbc = JdbcClient.create(template);
        this.clock = clock;
    }

    /** Formats a number of findings. Numbers above {@link #COUNTED_MAX} end with a plus. */
    public static String words(long count) {
        return count > COUNTED_MAX ? "%,d+".formatted(COUNTED_MAX) : "%,d".formatted(count);
    }

    /**
     * Stores what a run found. A problem with the same reason, experiment and path that an earlier run to the site
     * found, and that still stands, is not stored again. Nights and retries share their findings; scrubs of each
     * kind have their own. The standing finding gets the latest message. An acknowledged finding is continued only while its message is
     * the same, because a person has read nothing else. A run finds each problem once, so adding it twice is harmless.
     */
    public void add(long runId, Finding... findings) {
        add(runId, List.of(findings));
    }

    /** Stores many in the same way. */
    public void add(long runId, List<Finding> findings) {
        Timestamp now = Timestamp.from(clock.instant());
        for (int from = 0; from < findings.size(); from += BATCH) {
            add(runId, findings.subList(from, Math.min(from + BATCH, findings.size())), now);
        }
    }

    private void add(long runId, List<Finding> findings, Timestamp now) {
        jdbc.sql("""
                        with found as (
                            select distinct on (experiment_id, reason, path, message)
                                   experiment_id, reason, decode(path, 'hex') as path, message, number
                            from unnest(:experiments::integer[], :reasons::text[], :paths::text[], :messages::text[])
                                 with ordinality as f (experiment_id, reason, path, message, number)
                            order by experiment_id, reason, path, message, number
                        ), same as (
                            select n.number, n.message = f.message as said, f.finding_id, f.experiment_id, f.reason, f.path
                            from found n
                            join finding f
                              on coalesce(f.experiment_id, 0) = coalesce(n.experiment_id, 0) and f.reason = n.reason
                             and sha256(coalesce(f.path, '')) = sha256(coalesce(n.path, ''))
                             and f.path is not distinct from n.path
                            join run earlier on earlier.run_id = f.run_id
                            join run now on now.run_id = :run
                            where f.superseded_by is null and f.reason <> 'SITE_CHANGED'
                              and earlier.site_id = now.site_id
                              and (earlier.kind = now.kind
                                   or earlier.kind not in ('scrub', 'homeScrub') and now.kind not in ('scrub', 'homeScrub'))
                              and (f.message = n.message
                                   or (f.last_run_id < :run
                                       and not exists (select from acknowledgement a where a.finding_id = f.finding_id)))
                        ), word as (
                            select number, min(finding_id) as finding_id from same where said group by number
                        ), other as (
                            select number, experiment_id, reason, path,
                                   row_number() over (partition by experiment_id, reason, path order by number) as place
                            from found where number not in (select number from word)
                        ), standing as (
                            select finding_id, experiment_id, reason, path,
                                   row_number() over (partition by experiment_id, reason, path order by finding_id) as place
                            from (select distinct finding_id, experiment_id, reason, path from same where not said) s
                            where finding_id not in (select finding_id from word)
                        ), again as (
                            select number, finding_id from word
                            union all
                            select o.number, s.finding_id
                            from other o join standing s
                              on s.experiment_id is not distinct from o.experiment_id and s.reason = o.reason
                             and s.path is not distinct from o.path and s.place = o.place
                        ), seen as (
                            update finding f set message = n.message, last_run_id = :run, last_found_at = :now
                            from again a join found n using (number)
                            where f.finding_id = a.finding_id
                        )
                        insert into finding (run_id, experiment_id, reason, path, message, found_at)
                        select :run, experiment_id, reason, path, message, :now
                        from found where number not in (select number from again)
                        order by number
                        """)
                .params(Map.of("run", runId, "now", now))
                .param(
                        "experiments",
                        findings.stream().map(Finding::experimentId).toArray(Integer[]::new),
                        Types.ARRAY)
                .param(
                        "reasons",
                        findings.stream().map(found -> found.reason.name()).toArray(String[]::new),
                        Types.ARRAY)
                .param("paths", findings.stream().map(Findings::hex).toArray(String[]::new), Types.ARRAY)
                .param("messages", findings.stream().map(Finding::message).toArray(String[]::new), Types.ARRAY)
                .update();
    }

    private static @Nullable String hex(Finding finding) {
        return finding.path == null ? null : HexFormat.of().formatHex(finding.path.bytes());
    }

    public long count(long runId) {
        return jdbc.sql("select count(*) from run_finding where run_id = :run")
                .param("run", runId)
                .query((row, n) -> row.getLong(1))
                .single();
    }

    /** Counts a run's findings with an experiment and reason, up to a limit. */
    public int count(long runId, int experimentId, Problem reason, int limit) {
        return jdbc.sql("""
                        select count(*) from (
                            select from finding join run_finding l using (finding_id)
                            where l.run_id = :run and experiment_id = :experiment and reason = :reason
                            limit :limit) f
                        """)
                .params(Map.of("run", runId, "experiment", experimentId, "reason", reason.name(), "limit", limit))
                .query((row, n) -> row.getInt(1))
                .single();
    }

    /** Returns for each of these experiments, by {@code project/experiment}, the reason of the first finding of these runs in it. */
    public Map<String, Problem> reasons(long[] runIds, List<String> experiments) {
        Map<String, Problem> reasons = new HashMap<>();
        jdbc.sql("""
                        select distinct on (f.experiment_id) p.code || '/' || e.code as name, f.reason
                        from finding f
                        join run_finding l using (finding_id)
                        join experiment e using (experiment_id)
                        join project p using (project_id)
                        where l.run_id = any(:runs) and p.code || '/' || e.code = any(:experiments)
                        order by f.experiment_id, f.finding_id
                        """)
                .params(Map.of("runs", runIds, "experiments", experiments.toArray(String[]::new)))
                .query(row -> {
                    reasons.put(row.getString("name"), Problem.valueOf(row.getString("reason")));
                });
        return reasons;
    }

    /** Returns whether a run has a finding in an experiment. */
    public boolean any(long runId, int experimentId) {
        return jdbc.sql("""
                        select exists (select from finding join run_finding l using (finding_id)
                                       where l.run_id = :run and experiment_id = :experiment)
                        """)
                .params(Map.of("run", runId, "experiment", experimentId))
                .query((row, n) -> row.getBoolean(1))
                .single();
    }

    /** Returns whether a run has a finding with this reason that concerns an experiment as a whole. */
    public boolean anyOfWhole(long runId, int experimentId, Problem reason) {
        return jdbc.sql("""
                        select exists (select from finding join run_finding l using (finding_id)
                                       where l.run_id = :run and experiment_id = :experiment and reason = :reason and path is null)
                        """)
                .params(Map.of("run", runId, "experiment", experimentId, "reason", reason.name()))
                .query((row, n) -> row.getBoolean(1))
                .single();
    }

    /**
     * Returns at most {@code limit} findings of a run after the one with id {@code after}, in the order they were first
     * found.
     */
    public List<KeptFinding> of(Sight sight, long runId, long after, int limit) {
        return jdbc.sql(SELECT + """
                        join run_finding l using (finding_id)
                        where l.run_id = :run and l.finding_id > :after
                          and in_sight(:seen, p.code)
                        order by l.finding_id
                        limit :limit
                        """)
                .params(Map.of("seen", sight.seen(), "run", runId, "after", after, "limit", limit))
                .query(FINDING)
                .list();
    }

    /**
     * Returns what needs a person at a site, by reason, the most frequent first. Each reason is counted up to
     * {@link #COUNTED_MAX}.
     */
    public List<Reason> openReasons(Sight sight, int siteId) {
        return jdbc.sql("""
                        select reason, count
                        from unnest(:reasons::text[]) reason
                        cross join lateral (
                            select count(*) as count
                            from (
                                select
                        """ + FROM + """
                                where f.reason = reason.reason and r.site_id = :site
                                  and f.superseded_by is null and a.finding_id is null
                                  and not is_over(e.retired_at, r.kind, s.removed_at)
                                  and in_sight(:seen, p.code)
                                limit :most
                            ) found
                        ) counted
                        where count > 0
                          -- Otherwise everything that stands is read for each reason.
                          and exists (select from finding s where s.reason = reason.reason and s.superseded_by is null)
                        order by count desc, reason
                        """)
                .param("reasons", REASONS, Types.ARRAY)
                .params(Map.of("most", COUNTED_MAX + 1, "site", siteId, "seen", sight.seen()))
                .query(Rows.of(Reason.class))
                .list();
    }

    /** Returns at most {@code limit} findings of an experiment, the last found first. */
    public List<KeptFinding> latest(int experimentId, int limit) {
        return jdbc.sql(SELECT + """
                        where f.experiment_id = :experiment
                        order by f.last_run_id desc, f.finding_id desc
                        limit :limit
                        """)
                .params(Map.of("experiment", experimentId, "limit", limit))
                .query(FINDING)
                .list();
    }

    /** Returns at most {@code limit} selected findings with an id below {@code before}, the newest first. */
    public List<KeptFinding> page(Sight sight, FindingFilter wanted, long before, int limit) {
        String where = wanted.where() + " and f.finding_id < :before";
        return selecting(SELECT + where + " order by f.finding_id desc limit :limit", sight, wanted)
                .params(Map.of("before", before, "limit", limit))
                .query(FINDING)
                .list();
    }

    /**
     * Returns at most {@code limit} groups of the selected findings: the gravest reasons first, within a reason the
     * group with the latest finding first.
     *
     * @param after the id of the latest finding of the group after which to begin; null: at the beginning
     */
    public List<FindingGroup> groups(Sight sight, FindingFilter wanted, @Nullable Long after, int limit) {
        return selecting("""
                        with found as (
                            select f.reason as cause, max(f.finding_id) as latest, count(*) as count, min(f.found_at) as since
                        """ + FROM + wanted.where() + """
                             group by f.reason, f.experiment_id
                        ), ranked as (
                            select *, array_position(:gravity::text[], cause) as rank from found
                        ), page as (
                            select * from ranked
                            where :after::bigint is null
                               or (rank, -latest) > (select array_position(:gravity::text[], l.reason), -l.finding_id
                                                     from finding l where l.finding_id = :after)
                            order by rank, latest desc
                            limit :limit
                        )
                        select page.count, page.since,
                        """ + COLUMNS + FROM + """
                        join page on page.latest = f.finding_id
                        order by page.rank, page.latest desc
                        """, sight, wanted)
                .param("gravity", REASONS, Types.ARRAY)
                .param("after", after, Types.BIGINT)
                .param("limit", limit)
                .query((row, n) -> new FindingGroup(
                        FINDING.mapRow(row, n),
                        row.getLong("count"),
                        row.getTimestamp("since").toInstant()))
                .list();
    }

    /** Counts the selected findings, up to {@link #COUNTED_MAX}. */
    public long count(Sight sight, FindingFilter wanted) {
        return selecting("select count(*) from (select" + FROM + wanted.where() + " limit :most) found", sight, wanted)
                .param("most", COUNTED_MAX + 1)
                .query((row, n) -> row.getLong(1))
                .single();
    }

    private StatementSpec selecting(String sql, Sight sight, FindingFilter wanted) {
        return jdbc.sql(sql).params(Rows.params(wanted)).param("seen", sight.seen());
    }

    /** Returns a finding if the user may see it. */
    public Optional<KeptFinding> find(Sight sight, long id) {
        return jdbc.sql(SELECT + "where f.finding_id = :id and in_sight(:seen, p.code)")
                .params(Map.of("id", id, "seen", sight.seen()))
                .query(FINDING)
                .optional();
    }

    /**
     * Stores that a person has acknowledged a finding.
     *
     * @return whether it was not acknowledged yet; the first acknowledgement is kept
     */
    public boolean acknowledge(long id, Acknowledgement acknowledgement) {
        return jdbc.sql("""
                        insert into acknowledgement (finding_id, acknowledged_by, acknowledged_at, reason)
                        values (:id, :by, :at, :reason)
                        on conflict do nothing
                        """)
                        .params(Map.of("id", id, "by", acknowledgement.by, "at", Timestamp.from(acknowledgement.at)))
                        .param("reason", acknowledgement.reason)
                        .update()
                > 0;
    }

    /**
     * Stores that a person has acknowledged the selected findings up to an id: those that they could see. Others that are
     * acknowledged already keep their first acknowledgement.
     *
     * @return the number of findings that were not acknowledged yet
     */
    public int acknowledge(Sight sight, FindingFilter wanted, long upTo, Acknowledgement acknowledgement) {
        return selecting(
                        "insert into acknowledgement (finding_id, acknowledged_by, acknowledged_at, reason)"
                                + " select f.finding_id, :by, :at, :text" + FROM + wanted.where()
                                + " and f.finding_id <= :upTo on conflict do nothing",
                        sight,
                        wanted)
                .params(Map.of("upTo", upTo, "by", acknowledgement.by, "at", Timestamp.from(acknowledgement.at)))
                .param("text", acknowledgement.reason)
                .update();
    }

    /**
     * Removes the acknowledgement of a finding. NB: the database refuses this unless the same transaction has recorded it in the
     * ledger before.
     *
     * @return whether it was acknowledged
     */
    public boolean reopen(long id) {
        return jdbc.sql("delete from acknowledgement where finding_id = :id")
                        .param("id", id)
                        .update()
                > 0;
    }

    /** Marks findings of earlier runs as superseded, after this run to the same site has completed. */
    public void supersede(long runId) {
        ended(runId);
        Supersession.by(jdbc, runId);
    }

    /** Ends what the end of a run has refuted, whatever its result. */
    public void ended(long runId) {
        Supersession.ended(jdbc, runId);
    }

    /** Ends that a run's site is full, after the run has stored a file there. */
    public void stored(long runId) {
        Supersession.stored(jdbc, runId, clock.instant());
    }

    /** Ends that a site cannot be used, as scrubs before this run said: it has seen what is stored there. */
    public void mounted(int siteId, long runId) {
        Supersession.usable(jdbc, siteId, runId - 1, clock.instant(), true);
    }

    /** Returns the reasons of open findings at a site that concern no experiment, the newest first. */
    public List<Problem> openOfWhole(Sight sight, int siteId) {
        return jdbc.sql("select f.reason" + FROM + """
                        where r.site_id = :site and f.experiment_id is null and f.superseded_by is null and a.finding_id is null
                          and s.removed_at is null and in_sight(:seen, p.code)
                        order by f.last_run_id desc, f.finding_id desc
                        """)
                .params(Map.of("site", siteId, "seen", sight.seen()))
                .query((row, n) -> Problem.valueOf(row.getString(1)))
                .list();
    }
}
