package dozo.run;

import dozo.plan.CostFit;
import dozo.plan.CostModel;
import dozo.plan.Measurement;
import dozo.plan.Speed;
import dozo.plan.Work;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** The cost of sending to each site, learnt from measurements. */
@Component
public class CostModels {

    /** The number of latest measurements that count: a month of nights, because sites and links change. */
    private static final int MEASUREMENTS_MAX = 30;

    private final JdbcClient jdbc;
    private final InstantSource clock;

    /**
     * A site's model.
     *
     * @param measurements the number of measurements that it was fitted to
     * @param measuredAt when the last of them ended
     * @param runId the run of the last measurement
     */
    public record KeptModel(CostModel model, int measurements, Instant measuredAt, long runId) {}

    CostModels(JdbcClient jdbc, InstantSource clock) {
        this.jdbc = jdbc;
        this.clock = clock;
    }

    /** Returns the site's model, or the default before anything was measured. */
    public CostModel of(int siteId) {
        return kept(siteId).map(KeptModel::model).orElse(CostModel.DEFAULT);
    }

    /** Returns how fast the next night sends to the site, as the latest ones suggest. */
    Speed speed(int siteId) {
        List<Kept> latest = latest(siteId, MEASUREMENTS_MAX);
        if (latest.isEmpty()) {
            return Speed.UNMEASURED;
        }
        List<Double> factors = new ArrayList<>();
        for (int i = 0; i + 1 < latest.size(); i++) {
            // The model before is the one that the night was planned with.
            factors.add(latest.get(i).measured.factor(latest.get(i + 1).model()));
        }
        return Speed.of(latest.getFirst().model(), latest.getFirst().measured.lanes(), factors);
    }

    /** A measurement, and the model that followed from it. */
    private record Kept(Measurement measured, KeptModel kept) {

        CostModel model() {
            return kept.model;
        }
    }

    /** Returns the site's model, if anything was measured. */
    public Optional<KeptModel> kept(int siteId) {
        return latest(siteId, 1).stream().map(Kept::kept).findFirst();
    }

    /** Adds a measurement, and stores the model that follows from it and the previous ones. */
    @Transactional
    public CostModel learn(long runId, int siteId, Measurement measured) {
        List<Measurement> all = new ArrayList<>(latest(siteId, MEASUREMENTS_MAX - 1).stream()
                .map(Kept::measured)
                .toList());
        all.add(measured);
        CostModel model = CostFit.of(CostModel.DEFAULT, all);
        jdbc.sql("""
                        insert into cost_model (site_id, run_id, measured_at, bytes, entries, lanes, seconds,
                                                bytes_per_second, seconds_per_entry, measurements)
                        values (:site, :run, :now, :bytes, :entries, :lanes, :seconds, :rate, :entry, :measurements)
                        """)
                .param("site", siteId)
                .param("run", runId)
                .param("now", Timestamp.from(clock.instant()))
                .param("bytes", measured.work().bytes())
                .param("entries", measured.work().entries())
                .param("lanes", measured.lanes())
                .param("seconds", measured.seconds())
                .param("rate", model.bytesPerSecond())
                .param("entry", model.secondsPerEntry())
                .param("measurements", all.size())
                .update();
        return model;
    }

    private List<Kept> latest(int siteId, int limit) {
        return jdbc.sql("select * from cost_model where site_id = :site order by cost_model_id desc limit :limit")
                .param("site", siteId)
                .param("limit", limit)
                .query((row, n) -> new Kept(
                        new Measurement(
                                new Work(row.getLong("bytes"), row.getLong("entries")),
                                row.getInt("lanes"),
                                row.getDouble("seconds")),
                        new KeptModel(
                                new CostModel(row.getDouble("bytes_per_second"), row.getDouble("seconds_per_entry")),
                                row.getInt("measurements"),
                                row.getTimestamp("measured_at").toInstant(),
                                row.getLong("run_id"))))
                .list();
    }
}
