package dozo.run;

import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** For how long each bottleneck was the one of a run. */
@Component
public class Limits {

    private final JdbcTemplate template;

    /**
     * A bottleneck of a run.
     *
     * @param share of the time in which units were under way, above 0 and at most 1
     */
    public record Bottleneck(Limit limit, double seconds, double share) {}

    Limits(JdbcTemplate template) {
        this.template = template;
    }

    /** Returns the bottlenecks of a run, the one of the longest time first; empty if nothing was ever under way. */
    public List<Bottleneck> of(long runId) {
        Map<Limit, Double> seconds = new EnumMap<>(Limit.class);
        template.query(
                "select name, seconds from run_limit where run_id = ?",
                row -> {
                    seconds.put(Limit.valueOf(row.getString(1)), row.getDouble(2));
                },
                runId);
        double all = seconds.values().stream().mapToDouble(Double::doubleValue).sum();
        return seconds.entrySet().stream()
                .map(each -> new Bottleneck(each.getKey(), each.getValue(), each.getValue() / all))
                .sorted(Comparator.comparingDouble(Bottleneck::seconds)
                        .reversed()
                        .thenComparing(Bottleneck::limit))
                .toList();
    }

    /** Adds seconds. */
    void add(long runId, Map<Limit, Double> seconds) {
        template.batchUpdate(
                """
                insert into run_limit (run_id, name, seconds) values (?, ?, ?)
                on conflict (run_id, name) do update set seconds = run_limit.seconds + excluded.seconds
                """,
                seconds.entrySet().stream()
                        .map(each -> new Object[] {runId, each.getKey().name(), each.getValue()})
                        .toList());
    }
}
