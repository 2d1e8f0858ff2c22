package dozo.ledger;

import java.sql.Timestamp;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Answers an auditor's questions about a period: what changed, and how long data waited until it was safe. Like
 * coverage, it reads stored totals.
 */
@Component
public class Audit {

    private final JdbcClient jdbc;

    /**
     * What changed in a group of experiments. Entries are files, folders and links. Each manifest counts them: a file
     * that changed in three manifests counts three times.
     *
     * @param name the group's name in the dimension; null: unknown, and findings that concern a whole run
     * @param manifests the number of sealed manifests
     * @param filesProven files that got receipts, counted when the run that sent them settled; {@code bytesProven} is
     * their size
     * @param experimentsProtected how often an experiment became completely safe
     */
    public record Change(
            @Nullable String name,
            long manifests,
            long entriesNew,
            long entriesChanged,
            long entriesGone,
            long filesProven,
            long bytesProven,
            long experimentsProtected,
            long findings) {}

    /**
     * How long a group of experiments waited to be safe: from the seal of the first manifest after the last completely
     * safe one until the run that made the experiment completely safe had settled.
     *
     * @param name the group's name in the dimension; null: unknown
     * @param protections how often an experiment became completely safe. The minutes are whole minutes over these
     * waits, and null if there are none
     * @param waiting experiments that are not completely safe now, no matter since when; the minutes do not include
     * them
     * @param waitingSince since when the longest of these has waited; null: none waits
     */
    public record Wait(
            @Nullable String name,
            long protections,
            @Nullable Long medianMinutes,
            @Nullable Long p95Minutes,
            @Nullable Long longestMinutes,
            long waiting,
            @Nullable Instant waitingSince) {}

    public Audit(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns what changed between two moments, by name, without the groups in which nothing changed. */
    public List<Change> changes(Sight sight, Dimension by, int siteId, Instant from, Instant until) {
        return jdbc.sql("""
                        with change as (
                            select experiment_id, 1 as manifests, entries_new, entries_changed, entries_gone,
                                   0 as files_proven, 0 as bytes_proven, 0 as protected, 0 as findings
                            from manifest
                            where sealed_at >= :from and sealed_at < :until
                            union all
                            select experiment_id, 0, 0, 0, 0, files_proven, bytes_proven, num_nonnulls(waited_seconds), 0
                            from coverage
                            where site_id = :site and since >= :from and since < :until
                            union all
                            select f.experiment_id, 0, 0, 0, 0, 0, 0, 0, count(*)
                            from finding f join run using (run_id)
                            where site_id = :site and f.found_at >= :from and f.found_at < :until
                            group by f.experiment_id
                        )
                        select group_name(:by, p.code, e.code, e.modality, e.scanner, e.acquired_month) as name,
                               sum(manifests) as manifests, sum(entries_new) as entries_new,
                               sum(entries_changed) as entries_changed, sum(entries_gone) as entries_gone,
                               sum(files_proven) as files_proven, sum(bytes_proven) as bytes_proven,
                               sum(protected) as experiments_protected, sum(findings) as findings
                        from change
                        left join experiment e using (experiment_id)
                        left join project p using (project_id)
                        where in_sight(:seen, p.code)
                        group by name
                        having sum(manifests) + sum(files_proven) + sum(protected) + sum(findings) > 0
                        order by name nulls last
                        """)
                .param("by", by.name())
                .params(Map.of("seen", sight.seen(), "site", siteId, "from", Timestamp.from(from)))
                .param("until", Timestamp.from(until))
                .query(Rows.of(Change.class))
                .list();
    }

    /**
     * Returns how long experiments waited that became completely safe between two moments, and who waits now; by name.
     */
    public List<Wait> waits(Sight sight, Dimension by, int siteId, Instant from, Instant until) {
        // Counts by minute first, because a percentile of the rows themselves would sort all of them.
        return jdbc.sql("""
                        with named as (
                            select e.experiment_id, e.registered_at,
                                   group_name(:by, p.code, e.code, e.modality, e.scanner, e.acquired_month) as name
                            from experiment e join project p using (project_id)
                            where in_sight(:seen, p.code)
                        ), counted as (
                            select name, waited_seconds / 60 as minutes, count(*) as n, 0 as waiting,
                                   null::timestamptz as waiting_since
                            from coverage join named using (experiment_id)
                            where site_id = :site and waited_seconds is not null and since >= :from and since < :until
                            group by name, minutes
                            union all
                            select name, null, 0, count(*), min(coalesce(t.unprotected_since, n.registered_at))
                            from named n join living_experiment using (experiment_id)
                            left join protection t on t.experiment_id = n.experiment_id and t.site_id = :site
                            where t.entries = t.entries_safe is not true
                            group by name
                        ), ranked as (
                            select *, sum(n) over (partition by name) as whole,
                                   sum(n) over (partition by name order by minutes) as part
                            from counted
                        )
                        select name, sum(n) as protections,
                               min(minutes) filter (where part >= 0.5 * whole) as median_minutes,
                               min(minutes) filter (where part >= 0.95 * whole) as p95_minutes,
                               max(minutes) as longest_minutes,
                               sum(waiting) as waiting, min(waiting_since) as waiting_since
                        from ranked
                        group by name
                        order by name nulls last
                        """)
                .param("by", by.name())
                .params(Map.of("seen", sight.seen(), "site", siteId, "from", Timestamp.from(from)))
                .param("until", Timestamp.from(until))
                .query(Rows.of(Wait.class))
                .list();
    }
}
