package dozo.ledger;

import dozo.ledger.Coverage.Totals;
import java.sql.Types;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.SqlParameterValue;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Answers what was safe at many moments: the curve of each project. */
@Component
public class PastCoverage {

    private final JdbcClient jdbc;

    /**
     * A project's sums at several moments, without the time of its oldest unprotected data. Before its first experiment
     * they are zero.
     */
    public record History(String project, List<Totals> totals) {}

    public PastCoverage(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Returns each project's sums at several moments, by code. It reads each period twice, however many moments there
     * are: what a period adds at its begin is subtracted at its end. Periods that ended before the first moment are
     * skipped.
     *
     * @param moments ascending
     */
    public List<History> history(Sight sight, int siteId, List<Instant> moments) {
        Map<String, Totals[]> projects = new LinkedHashMap<>();
        jdbc.sql("""
                        with asked as materialized (
                            select :moments::text[]::timestamptz[] as moments
                        ), period as (
                            -- Nothing of an experiment counts after it was retired.
                            select c.*, least(c.until, e.retired_at) as ended
                            from coverage c join experiment e using (experiment_id)
                            where c.site_id = :site and c.until > (select moments[1] from asked)
                              and (e.retired_at is null or c.since < e.retired_at)
                        ), change as (
                            select experiment_id, registered_at as at, 1 as experiments, 0 as seen, 0 as safe,
                                   0 as files, 0 as files_safe, 0 as bytes, 0 as bytes_safe
                            from experiment
                            union all
                            select experiment_id, retired_at, -1, 0, 0, 0, 0, 0, 0 from experiment where retired_at is not null
                            union all
                            select experiment_id, since, 0, 1, (entries = entries_safe)::integer, files, files_safe, bytes, bytes_safe
                            from period
                            union all
                            select experiment_id, ended, 0, -1, -(entries = entries_safe)::integer, -files, -files_safe, -bytes, -bytes_safe
                            from period where ended < 'infinity'
                        ), moved as (
                            -- By the first moment that is not before the change.
                            select e.project_id, width_bucket(c.at - interval '1 microsecond', (select moments from asked)) + 1 as moment,
                                   sum(experiments) as experiments, sum(seen) as seen, sum(safe) as safe, sum(files) as files,
                                   sum(files_safe) as files_safe, sum(bytes) as bytes, sum(bytes_safe) as bytes_safe
                            from change c join experiment e using (experiment_id)
                            group by 1, 2
                        )
                        select p.code as project, moment, sum(experiments) over until_then as experiments, sum(safe) over until_then as experiments_safe,
                               sum(experiments - seen) over until_then as experiments_unseen,
                               sum(files) over until_then as files, sum(files_safe) over until_then as files_safe,
                               sum(bytes) over until_then as bytes, sum(bytes_safe) over until_then as bytes_safe,
                               null::timestamptz as oldest_unprotected
                        from moved join project p using (project_id)
                        where in_sight(:seen, p.code)
                        window until_then as (partition by p.code order by moment)
                        order by p.code, moment
                        """)
                .params(Map.of("site", siteId, "seen", sight.seen()))
                .param(
                        "moments",
                        new SqlParameterValue(
                                Types.ARRAY,
                                moments.stream().map(Instant::toString).toArray(String[]::new)))
                .query(row -> {
                    String project = row.getString("project");
                    Totals[] totals = projects.computeIfAbsent(project, _ -> nothing(project, moments.size()));
                    int first = Math.min(row.getInt("moment") - 1, totals.length);
                    Arrays.fill(totals, first, totals.length, Coverage.totals(project, row));
                });
        return projects.entrySet().stream()
                .map(project -> new History(project.getKey(), List.of(project.getValue())))
                .toList();
    }

    private static Totals[] nothing(String project, int moments) {
        Totals[] nothing = new Totals[moments];
        Arrays.fill(nothing, new Totals(project, false, 0, 0, 0, 0, 0, 0, null, 0));
        return nothing;
    }
}
