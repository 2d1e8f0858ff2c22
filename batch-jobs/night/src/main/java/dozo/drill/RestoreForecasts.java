package dozo.drill;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Sight;
import dozo.plan.RestoreCost;
import dozo.plan.RestoreCost.Measured;
import dozo.plan.RestoreCost.RestoreTime;
import dozo.plan.Work;
import dozo.restore.KeptRestore;
import dozo.restore.Restores;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** How long a restore takes, learnt from the drills of each site. */
@Component
public class RestoreForecasts {

    /** The number of latest drills that count, because sites and lines change. */
    private static final int DRILLS_MAX = 30;

    private final JdbcClient jdbc;
    private final Restores restores;

    /**
     * The forecast for all safe experiments of a project, one after the other.
     *
     * @param project null: of all projects together
     * @param forecast null: unknown, there are too few drills
     */
    public record ProjectForecast(
            @Nullable String project,
            long experiments,
            long entries,
            long bytes,
            @Nullable RestoreTime forecast) {}

    /**
     * A drill compared with the forecast that the drills before it gave.
     *
     * @param forecastSeconds null: there were too few before it
     */
    public record Compared(
            long id,
            String project,
            String experiment,
            Instant endedAt,
            long entries,
            long bytes,
            double seconds,
            @Nullable Double forecastSeconds) {}

    RestoreForecasts(JdbcClient jdbc, Restores restores) {
        this.jdbc = jdbc;
        this.restores = restores;
    }

    /** Returns what restores from a site cost; empty while there are too few drills. */
    public Optional<RestoreCost> cost(int siteId) {
        return cost(drilled(siteId, DRILLS_MAX));
    }

    /** Returns the same, learnt from these restores too. */
    Optional<RestoreCost> cost(int siteId, List<Measured> more) {
        return RestoreCost.of(
                Stream.concat(drilled(siteId, DRILLS_MAX).stream().map(RestoreForecasts::measured), more.stream())
                        .toList());
    }

    /** Returns the forecast for one restore; empty while there are too few drills. */
    public Optional<RestoreTime> of(int siteId, Work work) {
        return cost(siteId).map(cost -> cost.of(1, work));
    }

    /** Returns the forecasts for what is safe at a site, by visible project; after them, of all of these together. */
    public List<ProjectForecast> projects(Sight sight, int siteId) {
        Optional<RestoreCost> cost = cost(siteId);
        return jdbc.sql("""
                        select p.code, count(*) as experiments, sum(m.files + m.folders + m.links)::bigint as entries,
                               sum(m.bytes)::bigint as bytes
                        from rehearsable h join project p using (project_id) join manifest m using (experiment_id, manifest_no)
                        where h.site_id = :site and in_sight(:seen, p.code)
                        group by rollup (p.code)
                        having count(*) > 0
                        order by p.code nulls last
                        """)
                .param("site", siteId)
                .param("seen", sight.seen())
                .query((row, n) -> {
                    long experiments = row.getLong("experiments");
                    Work work = new Work(row.getLong("bytes"), row.getLong("entries"));
                    return new ProjectForecast(
                            row.getString("code"),
                            experiments,
                            work.entries(),
                            work.bytes(),
                            cost.map(known -> known.of(experiments, work)).orElse(null));
                })
                .list();
    }

    /** Returns the latest visible drills with the forecast that the drills before each of them gave, the oldest first. */
    public List<Compared> compared(Sight sight, int siteId) {
        List<KeptRestore> drills = drilled(siteId, 2 * DRILLS_MAX);
        List<Compared> compared = new ArrayList<>();
        for (int i = Math.max(0, drills.size() - DRILLS_MAX); i < drills.size(); i++) {
            KeptRestore drill = drills.get(i);
            if (sight.sees(drill.project())) {
                Measured measured = measured(drill);
                compared.add(new Compared(
                        drill.id(),
                        drill.project(),
                        drill.experiment(),
                        requireNonNull(drill.endedAt()),
                        drill.entries(),
                        drill.bytes(),
                        measured.seconds(),
                        cost(drills.subList(Math.max(0, i - DRILLS_MAX), i))
                                .map(cost -> cost.of(1, measured.work()).seconds())
                                .orElse(null)));
            }
        }
        return compared;
    }

    private static Optional<RestoreCost> cost(List<KeptRestore> drills) {
        return RestoreCost.of(drills.stream().map(RestoreForecasts::measured).toList());
    }

    private static Measured measured(KeptRestore drill) {
        return new Measured(
                new Work(drill.bytes(), drill.entries()),
                requireNonNull(drill.firstByteSeconds()),
                requireNonNull(drill.seconds()));
    }

    /** Returns the latest drills of a site that restored everything, the oldest first. */
    private List<KeptRestore> drilled(int siteId, int limit) {
        return restores.measured(siteId, limit).reversed();
    }
}
