package dozo.run;

import dozo.run.Limit.Found;
import dozo.run.Limit.Glance;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** For how long each bottleneck was the one of a run, and what a faster one would have brought. */
@Component
public class Limits {

    /** How many observations of a run in progress are kept: those of ten seconds. */
    private static final int RECENT = 10 * PaceWatch.GLANCES_PER_SECOND;

    /** What brings less is not worth a word. */
    private static final double WORTH_IT = 1.05;

    private final JdbcTemplate template;
    private final Map<Long, Deque<Glance>> recent = new ConcurrentHashMap<>();

    /**
     * A bottleneck of a run.
     *
     * @param seconds for which it was the bottleneck, of the service and all workers together
     * @param share of the time that is known, above 0 and at most 1
     * @param speedup how many times as fast the run would have been if this had been twice as fast: 1 to 2
     */
    public record Bottleneck(Limit limit, double seconds, double share, double speedup) {

        /** Returns how much less time the run would have taken then, as a fraction. */
        public double saved() {
            return 1 - 1 / speedup;
        }
    }

    /**
     * The time of one bottleneck.
     *
     * @param needed seconds that would still have been needed if it had been twice as fast
     */
    record Spent(double seconds, double needed) {

        Spent plus(Spent other) {
            return new Spent(seconds + other.seconds, needed + other.needed);
        }
    }

    Limits(JdbcTemplate template) {
        this.template = template;
    }

    /** Returns the bottlenecks of a run, the one of the longest time first; empty if nothing was ever under way. */
    public List<Bottleneck> of(long runId) {
        Map<Limit, Spent> spent = new EnumMap<>(Limit.class);
        template.query(
                "select name, seconds, seconds_needed from run_limit where run_id = ?",
                row -> {
                    spent.put(Limit.valueOf(row.getString(1)), new Spent(row.getDouble(2), row.getDouble(3)));
                },
                runId);
        double all = spent.values().stream().mapToDouble(Spent::seconds).sum();
        return spent.entrySet().stream()
                .map(each -> bottleneck(each.getKey(), each.getValue(), all))
                .sorted(Comparator.comparingDouble(Bottleneck::seconds)
                        .reversed()
                        .thenComparing(Bottleneck::limit))
                .toList();
    }

    private static Bottleneck bottleneck(Limit limit, Spent spent, double all) {
        return new Bottleneck(limit, spent.seconds, spent.seconds / all, all / (all - spent.seconds + spent.needed));
    }

    /** Returns the bottleneck of which a faster one would help most; empty if none would. */
    public static Optional<Bottleneck> best(List<Bottleneck> bottlenecks) {
        return bottlenecks.stream()
                .filter(each -> each.speedup >= WORTH_IT)
                .max(Comparator.comparingDouble(Bottleneck::speedup));
    }

    /** Returns the bottleneck of the last ten seconds of a run in this process; empty if nothing is under way. */
    public Optional<Limit> now(long runId) {
        Deque<Glance> seen = recent.get(runId);
        if (seen == null) {
            return Optional.empty();
        }
        synchronized (seen) {
            return seen.size() < PaceWatch.GLANCES_PER_SECOND
                    ? Optional.empty()
                    : Limit.of(List.copyOf(seen)).map(Found::limit);
        }
    }

    /** Adds an observation of a run in progress. */
    void look(long runId, Glance glance) {
        Deque<Glance> seen = recent.computeIfAbsent(runId, _ -> new ArrayDeque<>());
        synchronized (seen) {
            seen.addLast(glance);
            if (seen.size() > RECENT) {
                seen.removeFirst();
            }
        }
    }

    /** Forgets the observations of a run that is no longer in progress. */
    void leave(long runId) {
        recent.remove(runId);
    }

    void add(long runId, Map<Limit, Spent> spent) {
        template.batchUpdate(
                """
                insert into run_limit (run_id, name, seconds, seconds_needed) values (?, ?, ?, ?)
                on conflict (run_id, name) do update
                    set seconds = run_limit.seconds + excluded.seconds,
                        seconds_needed = run_limit.seconds_needed + excluded.seconds_needed
                """,
                spent.entrySet().stream()
                        .map(each -> new Object[] {
                            runId, each.getKey().name(), each.getValue().seconds, each.getValue().needed
                        })
                        .toList());
    }
}
