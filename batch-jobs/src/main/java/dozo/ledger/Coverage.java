package dozo.ledger;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * What is safe: for every experiment the share of its current manifest that has receipts at a site, from kept totals. An
 * experiment that was never looked at has no manifest and nothing protected.
 */
@Component
public class Coverage {

    private static final String PER_EXPERIMENT = """
            select p.code as project, e.experiment_id, e.code, e.title, m.manifest_no, m.sealed_at,
                   coalesce(m.files, 0) as files, coalesce(m.bytes, 0) as bytes,
                   coalesce(m.files + m.folders + m.links, 0) as entries,
                   coalesce(t.files, 0) as files_safe, coalesce(t.bytes, 0) as bytes_safe,
                   coalesce(t.entries, 0) as entries_safe,
                   coalesce(u.sealed_at, e.registered_at) as unprotected_since
            from experiment e
            join project p using (project_id)
            left join lateral (select * from manifest m where m.experiment_id = e.experiment_id
                               order by manifest_no desc limit 1) m on true
            left join protection t on t.experiment_id = e.experiment_id and t.site_id = :site
            left join manifest u on u.experiment_id = e.experiment_id
                                and u.manifest_no = coalesce(t.safe_manifest, 0) + 1
            """;

    private static final RowMapper<ExperimentCoverage> EXPERIMENT = (row, n) -> new ExperimentCoverage(
            row.getInt("experiment_id"),
            row.getString("project"),
            row.getString("code"),
            row.getString("title"),
            row.getObject("manifest_no", Integer.class),
            instant(row.getTimestamp("sealed_at")),
            row.getLong("files"),
            row.getLong("bytes"),
            row.getLong("files_safe"),
            row.getLong("bytes_safe"),
            row.getObject("manifest_no") != null && row.getLong("entries") == row.getLong("entries_safe"));

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
     * A project's coverage, or everything's.
     *
     * @param project null in the sums over everything
     * @param safe whether every experiment is wholly safe; of nothing, nothing is said: no experiments is not "safe"
     * @param oldestUnprotected when the oldest data that is not safe was found: of each experiment that is not wholly safe,
     *     when the first manifest after its last wholly safe one was sealed, or when it was registered; null when all are
     *     safe
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
            @Nullable Instant oldestUnprotected) {}

    public Coverage(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** At most {@code limit} experiments with an id above {@code after}, by id. */
    public List<ExperimentCoverage> experiments(int siteId, int after, int limit) {
        return jdbc.sql(PER_EXPERIMENT + " where e.experiment_id > :after order by e.experiment_id limit :limit")
                .param("site", siteId)
                .param("after", after)
                .param("limit", limit)
                .query(EXPERIMENT)
                .list();
    }

    /** One experiment. */
    public Optional<ExperimentCoverage> experiment(int siteId, int experimentId) {
        return jdbc.sql(PER_EXPERIMENT + " where e.experiment_id = :experiment")
                .param("site", siteId)
                .param("experiment", experimentId)
                .query(EXPERIMENT)
                .optional();
    }

    /** Each project's sums, by code. */
    public List<Totals> projects(int siteId) {
        return jdbc.sql(totalsBy("project"))
                .param("site", siteId)
                .query((row, n) -> totals(row.getString("project"), row))
                .list();
    }

    /** The sums over everything. */
    public Totals all(int siteId) {
        return jdbc.sql(totalsBy("()"))
                .param("site", siteId)
                .query((row, n) -> totals(null, row))
                .single();
    }

    private static String totalsBy(String group) {
        return """
                select %s count(*) as experiments,
                       count(*) filter (where safe) as experiments_safe,
                       coalesce(sum(files), 0) as files, coalesce(sum(files_safe), 0) as files_safe,
                       coalesce(sum(bytes), 0) as bytes, coalesce(sum(bytes_safe), 0) as bytes_safe,
                       min(unprotected_since) filter (where not safe) as oldest_unprotected
                from (select *, manifest_no is not null and entries = entries_safe as safe from (%s) each) experiment
                group by %s
                order by 1
                """.formatted(group.equals("()") ? "" : group + ",", PER_EXPERIMENT, group);
    }

    private static Totals totals(@Nullable String project, ResultSet row) throws SQLException {
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
                instant(row.getTimestamp("oldest_unprotected")));
    }

    private static @Nullable Instant instant(@Nullable Timestamp timestamp) {
        return timestamp == null ? null : timestamp.toInstant();
    }
}
