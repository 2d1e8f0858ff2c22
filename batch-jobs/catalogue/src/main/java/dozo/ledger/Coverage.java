package dozo.ledger;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Answers what is safe: for every experiment, the share of its manifest that has receipts at a site, now or at an
 * earlier moment ({@link PastCoverage}: at many). An experiment that was never read has no manifest and nothing protected.
 * A retired one counts at moments before it was retired only (ADR 0102).
 *
 * <p>It reads stored totals ({@code protection} for now, {@code coverage} for the past), one row or a few per
 * experiment, and never entries or receipts. Past values change only when a manifest is sealed or a run settles, and
 * never exceed what was safe (ADR 0020).
 */
@Component
public class Coverage {

    private static final String PER_EXPERIMENT = """
            select p.code as project, e.experiment_id, e.code, e.title, t.manifest_no as manifest, m.sealed_at,
                   coalesce(t.files, 0) as files, coalesce(t.bytes, 0) as bytes,
                   coalesce(t.files_safe, 0) as files_safe, coalesce(t.bytes_safe, 0) as bytes_safe,
                   coalesce(t.entries = t.entries_safe, false) as safe
            from experiment e
            join project p using (project_id)
            left join protection t on t.experiment_id = e.experiment_id and t.site_id = :site
            left join manifest m on m.experiment_id = e.experiment_id and m.manifest_no = t.manifest_no
            """;

    /** What each experiment has at a site: now, or at a moment. To be completed with a condition. */
    private static final String EACH_KEPT = """
            select experiment_id, files, bytes, entries, files_safe, bytes_safe, entries_safe, unprotected_since
            from protection
            where site_id = :site and :at::timestamptz is null %1$s
            union all
            select experiment_id, files, bytes, entries, files_safe, bytes_safe, entries_safe, unprotected_since
            from coverage
            where site_id = :site and tstzrange(since, until) @> :at::timestamptz %1$s
            """;

    private static final String KEPT_OF_ALL = "with kept as (%s)".formatted(EACH_KEPT.formatted(""));

    /** Reads the rows of the experiments in sight only, by an index. For all experiments, one pass is faster. */
    private static final String KEPT_OF_SOME =
            """
            with kept as (
                select k.* from experiment e join project p using (project_id) cross join lateral (%s) k
                where in_sight(:seen, p.code)
            )
            """.formatted(EACH_KEPT.formatted("and experiment_id = e.experiment_id"));

    /** The experiments {@code e} that are not completely safe, with what they have kept, if they have a manifest. */
    private static final String UNPROTECTED = """
            from experiment e
            join project p using (project_id)
            left join kept t using (experiment_id)
            where t.entries = t.entries_safe is not true and living(e.retired_at, :at::timestamptz)
              and (:at::timestamptz is null or e.registered_at <= :at::timestamptz)
              and in_sight(:seen, p.code)
            """;

    private static final RowMapper<ExperimentCoverage> EXPERIMENT = Rows.of(ExperimentCoverage.class);

    private static final RowMapper<Group> GROUP = (row, n) -> new Group(row.getString("name"), totals(null, row));

    /** The name of the group of all experiments; no dimension has it. */
    private static final String EVERYTHING = "";

    /** Sorts before every name. */
    private static final String BEGINNING = "";

    private final JdbcClient jdbc;

    /**
     * One experiment's coverage at a site.
     *
     * @param manifest the current manifest's number, null before the first
     * @param safe whether every entry of the current manifest has a receipt
     */
    public record ExperimentCoverage(
            int experimentId,
            String project,
            String code,
            String title,
            @Nullable Integer manifest,
            @Nullable Instant sealedAt,
            long files,
            long bytes,
            long filesSafe,
            long bytesSafe,
            boolean safe) {}

    /**
     * The coverage of a project or of all experiments.
     *
     * @param project null in the sums over all experiments and in those of another group
     * @param safe whether every experiment is completely safe; false if there are no experiments
     * @param oldestUnprotected when the oldest unprotected data was found: for each experiment that is not completely
     * safe, when the first manifest after its last completely safe one was sealed, or when it was registered; null if
     * all are safe
     * @param experimentsUnseen those without a manifest; their files and bytes are unknown and in no sum
     */
    public record Totals(
            @Nullable String project,
            boolean safe,
            long experiments,
            long experimentsSafe,
            long files,
            long filesSafe,
            long bytes,
            long bytesSafe,
            @Nullable Instant oldestUnprotected,
            long experimentsUnseen) {

        /**
         * Returns the sum of several totals that were read at one moment. Separate queries could see different moments.
         */
        public static Totals together(List<Totals> parts) {
            long experiments = sum(parts, Totals::experiments);
            long experimentsSafe = sum(parts, Totals::experimentsSafe);
            return new Totals(
                    null,
                    experiments > 0 && experiments == experimentsSafe,
                    experiments,
                    experimentsSafe,
                    sum(parts, Totals::files),
                    sum(parts, Totals::filesSafe),
                    sum(parts, Totals::bytes),
                    sum(parts, Totals::bytesSafe),
                    parts.stream()
                            .map(Totals::oldestUnprotected)
                            .filter(Objects::nonNull)
                            .min(Comparator.naturalOrder())
                            .orElse(null),
                    sum(parts, Totals::experimentsUnseen));
        }

        private static long sum(List<Totals> parts, ToLongFunction<Totals> value) {
            return parts.stream().mapToLong(value).sum();
        }

        /**
         * Returns the safe share in percent, by bytes, or by experiments if all known bytes are safe. It is rounded
         * down: 100 only if everything is safe, 0 only if no file is.
         */
        public int percent() {
            if (safe) {
                return 100;
            }
            long done = bytesSafe < bytes ? bytesSafe : experimentsSafe;
            long whole = bytesSafe < bytes ? bytes : experiments;
            return whole == 0 ? 0 : (int) Math.clamp(100.0 * done / whole, filesSafe > 0 ? 1 : 0, 99);
        }
    }

    /**
     * What the retired experiments have. They are in no other sum, and may be found wanting only at this site.
     *
     * @param experimentsSafe those of which every entry of the last manifest has a receipt
     * @param bytes of their last manifests
     */
    public record RetiredSums(long experiments, long experimentsSafe, long bytes) {}

    /**
     * The sums of one group.
     *
     * @param name the group's name in the dimension; null: unknown, always the last one
     * @param totals missing: unknown, because the records of the site begin later
     */
    public record Group(@Nullable String name, @Nullable Totals totals) {}

    /**
     * An experiment that is not completely safe.
     *
     * @param since when the first manifest after its last completely safe one was sealed, or when it was registered
     * @param files the unsafe files of its current manifest, with {@code bytes}; null: never read
     */
    public record Unprotected(
            String project,
            String code,
            Instant since,
            @Nullable Long files,
            @Nullable Long bytes) {}

    public Coverage(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns at most {@code limit} experiments with an id above {@code after}, by id. */
    public List<ExperimentCoverage> experiments(Sight sight, int siteId, int after, int limit) {
        return page(
                "living_experiment join project p using (project_id) where in_sight(:seen, p.code)",
                sight,
                siteId,
                after,
                limit);
    }

    /**
     * Returns at most {@code limit} experiments with an id above {@code after} that have a manifest and are not
     * completely safe, by id.
     */
    public List<ExperimentCoverage> unsafe(int siteId, int after, int limit) {
        String which = "protection join living_experiment using (experiment_id)"
                + " where site_id = :site and entries = entries_safe is false";
        return page(which, Sight.EVERYTHING, siteId, after, limit);
    }

    /** NB: the page is selected first; otherwise all manifests up to it may be read. */
    private List<ExperimentCoverage> page(String which, Sight sight, int siteId, int after, int limit) {
        return jdbc.sql("""
                        with page as materialized (
                            select experiment_id from %s and experiment_id > :after
                            order by experiment_id limit :limit
                        )
                        """.formatted(which) + PER_EXPERIMENT + """
                        where e.experiment_id in (select experiment_id from page)
                        order by e.experiment_id
                        """)
                .params(Map.of("seen", sight.seen(), "site", siteId, "after", after, "limit", limit))
                .query(EXPERIMENT)
                .list();
    }

    /** Returns those of these experiments whose current manifest is completely safe at a site. */
    public Set<Integer> safe(int siteId, int[] experimentIds) {
        return new HashSet<>(jdbc.sql("""
                        select experiment_id from protection
                        where site_id = :site and experiment_id = any(:experiments) and entries = entries_safe is true
                        """)
                .params(Map.of("site", siteId, "experiments", experimentIds))
                .query((row, n) -> row.getInt(1))
                .list());
    }

    public Optional<ExperimentCoverage> experiment(int siteId, int experimentId) {
        return jdbc.sql(PER_EXPERIMENT + " where e.experiment_id = :experiment")
                .params(Map.of("site", siteId, "experiment", experimentId))
                .query(EXPERIMENT)
                .optional();
    }

    /** Returns the coverage of each of these experiments. */
    public Map<Integer, ExperimentCoverage> experiments(int siteId, int[] experimentIds) {
        return jdbc
                .sql(PER_EXPERIMENT + " where e.experiment_id = any(:experiments)")
                .params(Map.of("site", siteId, "experiments", experimentIds))
                .query(EXPERIMENT)
                .list()
                .stream()
                .collect(Collectors.toMap(ExperimentCoverage::experimentId, each -> each));
    }

    /**
     * Returns each project's sums at a moment, by code.
     *
     * @param at null: now, with every receipt so far
     */
    public List<Totals> projects(Sight sight, int siteId, @Nullable Instant at) {
        RowMapper<Totals> mapper = (row, n) -> totals(row.getString("name"), row);
        return sums(mapper, sight, Dimension.PROJECT.name(), siteId, at, BEGINNING, Integer.MAX_VALUE);
    }

    /** Returns the sums over all experiments. */
    public Totals all(int siteId) {
        return all(Sight.EVERYTHING, siteId, null);
    }

    /**
     * Returns the sums over all visible experiments at a moment.
     *
     * @param at null: now, with every receipt so far
     */
    public Totals all(Sight sight, int siteId, @Nullable Instant at) {
        List<Totals> all = sums((row, n) -> totals(null, row), sight, EVERYTHING, siteId, at, BEGINNING, 1);
        return all.isEmpty() ? new Totals(null, false, 0, 0, 0, 0, 0, 0, null, 0) : all.getFirst();
    }

    /** Returns what the visible retired experiments have at a site. */
    public RetiredSums retired(Sight sight, int siteId) {
        return jdbc.sql("""
                        select count(*) as experiments, count(*) filter (where t.entries = t.entries_safe) as experiments_safe,
                               coalesce(sum(t.bytes), 0)::bigint as bytes
                        from experiment e
                        join project p using (project_id)
                        left join protection t on t.experiment_id = e.experiment_id and t.site_id = :site
                        where e.retired_at is not null and in_sight(:seen, p.code)
                        """)
                .params(Map.of("seen", sight.seen(), "site", siteId))
                .query(Rows.of(RetiredSums.class))
                .single();
    }

    /**
     * Returns at most {@code limit} groups after the one named {@code after} (empty: from the first), by name. Groups
     * follow today's registration of the experiments, also for an earlier moment.
     *
     * @param at null: now, with every receipt so far
     */
    public List<Group> groups(Sight sight, Dimension by, int siteId, @Nullable Instant at, String after, int limit) {
        List<Group> groups = by == Dimension.EXPERIMENT
                ? each(sight, siteId, at, after, limit)
                : sums(GROUP, sight, by.name(), siteId, at, after, limit);
        return isKnown(siteId, at)
                ? groups
                : groups.stream().map(group -> new Group(group.name, null)).toList();
    }

    /**
     * Returns whether it is known what was safe at a site at a moment: it is not for a time before the records begin.
     *
     * @param at null: now, which is always known
     */
    public boolean isKnown(int siteId, @Nullable Instant at) {
        return at == null
                || recordedSince(siteId).filter(since -> !since.isAfter(at)).isPresent();
    }

    /**
     * Returns since when coverage at a site is recorded; before that moment nothing is known to be safe. Empty: nothing
     * is recorded.
     */
    public Optional<Instant> recordedSince(int siteId) {
        return jdbc.sql("select since from coverage where site_id = :site order by since limit 1")
                .param("site", siteId)
                .query((row, n) -> row.getTimestamp("since").toInstant())
                .optional();
    }

    /**
     * Returns at most {@code limit} experiments that were not completely safe at a moment, those that had waited longest first.
     *
     * @param at null: now, with every receipt so far
     */
    public List<Unprotected> oldestUnprotected(Sight sight, int siteId, @Nullable Instant at, int limit) {
        return jdbc.sql(kept(sight) + """
                        select p.code as project, e.code, coalesce(t.unprotected_since, e.registered_at) as since,
                               t.files - t.files_safe as files, t.bytes - t.bytes_safe as bytes
                        """ + UNPROTECTED + """
                        order by since, e.experiment_id
                        limit :limit
                        """)
                .params(Map.of("seen", sight.seen(), "site", siteId))
                .param("at", offset(at), Types.TIMESTAMP_WITH_TIMEZONE)
                .param("limit", limit)
                .query(Rows.of(Unprotected.class))
                .list();
    }

    /**
     * Returns how many experiments were not completely safe at a moment, although they had waited since before another one.
     *
     * @param at null: now, with every receipt so far
     */
    public long unprotectedSince(Sight sight, int siteId, @Nullable Instant at, Instant before) {
        return jdbc.sql(kept(sight) + """
                        select count(*)
                        """ + UNPROTECTED
                        + " and coalesce(t.unprotected_since, e.registered_at) < :before")
                .params(Map.of("seen", sight.seen(), "site", siteId))
                .param("at", offset(at), Types.TIMESTAMP_WITH_TIMEZONE)
                .param("before", offset(before), Types.TIMESTAMP_WITH_TIMEZONE)
                .query(Long.class)
                .single();
    }

    /** Returns how many experiments became completely safe in a time, and had not been immediately before. */
    public long becameSafe(Sight sight, int siteId, Instant from, Instant until) {
        return jdbc.sql("""
                        select count(distinct c.experiment_id)
                        from coverage c
                        join experiment e using (experiment_id)
                        join project p using (project_id)
                        where c.site_id = :site and c.since >= :from and c.since <= :until and c.entries = c.entries_safe
                          and in_sight(:seen, p.code)
                          and not exists (select from coverage b
                                          where b.experiment_id = c.experiment_id and b.site_id = c.site_id
                                            and b.until = c.since and b.entries = b.entries_safe)
                        """)
                .params(Map.of("seen", sight.seen(), "site", siteId))
                .param("from", offset(from), Types.TIMESTAMP_WITH_TIMEZONE)
                .param("until", offset(until), Types.TIMESTAMP_WITH_TIMEZONE)
                .query(Long.class)
                .single();
    }

    private static String kept(Sight sight) {
        return sight.ofEverything() ? KEPT_OF_ALL : KEPT_OF_SOME;
    }

    private <T> List<T> sums(
            RowMapper<T> mapper, Sight sight, String by, int siteId, @Nullable Instant at, String after, int limit) {
        return jdbc.sql(kept(sight) + """
                        , each as (
                            select group_name(:by, p.code, e.code, e.modality, e.scanner, e.acquired_month) as name,
                                   1 as experiments, k.files, k.files_safe, k.bytes, k.bytes_safe,
                                   coalesce(k.entries = k.entries_safe, false) as safe,
                                   coalesce(k.unprotected_since, e.registered_at) as since
                            from experiment e
                            join project p using (project_id)
                            left join kept k on k.experiment_id = e.experiment_id
                            where (:at::timestamptz is null or e.registered_at <= :at::timestamptz)
                              and living(e.retired_at, :at::timestamptz) and in_sight(:seen, p.code)
                            union all
                            -- A project without experiments is not left out.
                            select p.code, 0, null, null, null, null, null, null from project p
                            where :by = 'PROJECT' and (:at::timestamptz is null or p.created_at <= :at::timestamptz)
                              and living(p.retired_at, :at::timestamptz) and in_sight(:seen, p.code)
                        )
                        select name, sum(experiments) as experiments,
                               count(*) filter (where safe) as experiments_safe,
                               count(*) filter (where experiments = 1 and files is null) as experiments_unseen,
                               coalesce(sum(files), 0) as files, coalesce(sum(files_safe), 0) as files_safe,
                               coalesce(sum(bytes), 0) as bytes, coalesce(sum(bytes_safe), 0) as bytes_safe,
                               min(since) filter (where not safe) as oldest_unprotected
                        from each
                        where name is null or name > :after
                        group by name
                        order by name nulls last
                        limit :limit
                        """)
                .params(Map.of("by", by, "site", siteId, "seen", sight.seen()))
                .param("at", offset(at), Types.TIMESTAMP_WITH_TIMEZONE)
                .params(Map.of("after", after, "limit", limit))
                .query(mapper)
                .list();
    }

    /**
     * Returns groups of one experiment each in index order: the groups before and after a page do not add to its cost.
     */
    private List<Group> each(Sight sight, int siteId, @Nullable Instant at, String after, int limit) {
        int slash = after.indexOf('/');
        return jdbc.sql("""
                        select p.code || '/' || e.code as name, 1 as experiments,
                               coalesce(k.entries = k.entries_safe, false)::integer as experiments_safe,
                               num_nulls(k.files) as experiments_unseen,
                               coalesce(k.files, 0) as files, coalesce(k.files_safe, 0) as files_safe,
                               coalesce(k.bytes, 0) as bytes, coalesce(k.bytes_safe, 0) as bytes_safe,
                               case when k.entries = k.entries_safe is not true
                                    then coalesce(k.unprotected_since, e.registered_at) end as oldest_unprotected
                        from project p
                        join experiment e using (project_id)
                        left join lateral (
                            select files, bytes, entries, files_safe, bytes_safe, entries_safe, unprotected_since
                            from protection
                            where experiment_id = e.experiment_id and site_id = :site and :at::timestamptz is null
                            union all
                            select files, bytes, entries, files_safe, bytes_safe, entries_safe, unprotected_since
                            from coverage
                            where experiment_id = e.experiment_id and site_id = :site
                              and since <= :at::timestamptz and until > :at::timestamptz
                        ) k on true
                        where (:at::timestamptz is null or e.registered_at <= :at::timestamptz)
                          and living(e.retired_at, :at::timestamptz) and in_sight(:seen, p.code)
                          and p.code >= :project and (p.code > :project or e.code > :code)
                        order by p.code, e.code
                        limit :limit
                        """)
                .params(Map.of("site", siteId, "seen", sight.seen()))
                .param("at", offset(at), Types.TIMESTAMP_WITH_TIMEZONE)
                .param("project", slash < 0 ? after : after.substring(0, slash))
                .params(Map.of("code", after.substring(slash + 1), "limit", limit))
                .query(GROUP)
                .list();
    }

    private static @Nullable OffsetDateTime offset(@Nullable Instant at) {
        return at == null ? null : OffsetDateTime.ofInstant(at, ZoneOffset.UTC);
    }

    /** @param project null: the row has the sums of another group */
    static Totals totals(@Nullable String project, ResultSet row) throws SQLException {
        long experiments = row.getLong("experiments");
        long experimentsSafe = row.getLong("experiments_safe");
        return new Totals(
                project,
                experiments > 0 && experiments == experimentsSafe,
                experiments,
                experimentsSafe,
                row.getLong("files"),
                row.getLong("files_safe"),
                row.getLong("bytes"),
                row.getLong("bytes_safe"),
                Rows.instant(row, "oldest_unprotected"),
                row.getLong("experiments_unseen"));
    }
}
