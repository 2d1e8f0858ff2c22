package dozo.verify;

import dozo.ledger.Rows;
import dozo.ledger.Sight;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Lost files and links: they were proven once, but no site has an undamaged copy any more, and their source no longer
 * has them. Nothing can be sent again. Those of earlier manifests count too, and so do those whose finding was
 * acknowledged.
 */
@Component
public class Losses {

    private final JdbcClient jdbc;

    /**
     * What one experiment has lost.
     *
     * @param files the number of lost files and links, with {@code bytes}
     * @param since when the first of them was found damaged
     */
    public record Lost(String project, String code, long files, long bytes, Instant since) {

        /** Returns {@code PROJECT/CODE}. */
        public String name() {
            return project + "/" + code;
        }
    }

    /**
     * What all experiments together have lost.
     *
     * @param files the number of lost files and links
     * @param experiments the number of experiments that have lost some
     * @param first the experiments that have lost the most files, the worst first
     */
    public record AllLost(long files, long experiments, List<Lost> first) {}

    private record Row(
            String project, String code, long files, long bytes, Instant since, long allFiles, long experiments) {

        Lost lost() {
            return new Lost(project, code, files, bytes, since);
        }
    }

    public Losses(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns all losses of the visible experiments, with at most {@code limit} of these. */
    public AllLost all(Sight sight, int limit) {
        List<Row> rows = jdbc.sql("""
                        select p.code as project, e.code, count(*) as files, sum(l.size_bytes) as bytes,
                               min(l.found_at) as since, sum(count(*)) over () as all_files, count(*) over () as experiments
                        from loss l join experiment e using (experiment_id) join project p using (project_id)
                        where in_sight(:seen, p.code)
                        group by p.code, e.code
                        order by files desc, p.code, e.code
                        limit :limit
                        """)
                .params(Map.of("seen", sight.seen(), "limit", limit))
                .query(Rows.of(Row.class))
                .list();
        return rows.isEmpty()
                ? new AllLost(0, 0, List.of())
                : new AllLost(
                        rows.getFirst().allFiles,
                        rows.getFirst().experiments,
                        rows.stream().map(Row::lost).toList());
    }
}
