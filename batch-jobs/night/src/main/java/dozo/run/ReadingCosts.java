package dozo.run;

import dozo.plan.CostModel;
import dozo.plan.Measurement;
import dozo.plan.ReadingBudget;
import dozo.plan.ReadingCost;
import dozo.plan.ScrubForecast;
import dozo.plan.ScrubForecast.Layer;
import dozo.plan.Work;
import dozo.verify.Readings;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** The cost of reading at each site, learnt from the scrubs there, and the forecast for everything that is stored. */
@Component
public class ReadingCosts {

    /** The number of latest scrubs that count, because disks and their other load change. */
    private static final int SCRUBS_MAX = 30;

    /** A scrub that kept the site busy for less is ignored: it measures mostly its start and end. */
    private static final int SECONDS_MIN = 10;

    private final JdbcClient jdbc;
    private final Readings readings;

    /**
     * A learnt cost.
     *
     * @param measurements the number of scrubs
     * @param measuredAt when the last of them ended
     */
    public record KeptCost(CostModel cost, int measurements, Instant measuredAt) {}

    private record Measured(Measurement measurement, Instant endedAt) {}

    ReadingCosts(JdbcClient jdbc, Readings readings) {
        this.jdbc = jdbc;
        this.readings = readings;
    }

    /**
     * Returns the cost of reading at a site; empty before a scrub has measured it.
     *
     * @param cold whether the site's disk is to be read: then scrubs that could read from its memory do not count
     */
    public Optional<KeptCost> of(int siteId, boolean cold) {
        List<Measured> latest = jdbc.sql("""
                        select s.bytes_read, s.copies_read, s.seconds_busy / s.partitions as seconds, r.ended_at
                        from scrub s join run r using (run_id)
                        where r.site_id = :site and r.kind = 'scrub' and r.ended_at is not null and (s.cold or not :cold)
                          and s.copies_read > 0 and s.seconds_busy / s.partitions >= :least
                        order by run_id desc limit :limit
                        """)
                .param("site", siteId)
                .param("cold", cold)
                .param("least", SECONDS_MIN)
                .param("limit", SCRUBS_MAX)
                .query((row, n) -> new Measured(
                        // As one lane: each scrub has the same number of partitions.
                        new Measurement(
                                new Work(row.getLong("bytes_read"), row.getLong("copies_read")),
                                1,
                                row.getDouble("seconds")),
                        row.getTimestamp("ended_at").toInstant()))
                .list();
        return ReadingCost.of(latest.stream().map(Measured::measurement).toList())
                .map(cost -> new KeptCost(cost, latest.size(), latest.getFirst().endedAt()));
    }

    /**
     * Returns the forecast for everything that is stored at a site. All readings of a day count as old as the oldest of
     * them. Reads the whole index of the queue: a second for some million receipts.
     */
    @Transactional(readOnly = true)
    public ScrubForecast forecast(
            int siteId, Instant now, Duration maxAge, ReadingBudget budget, @Nullable CostModel cost) {
        try (Stream<Readings.Age> ages = readings.ages(siteId)) {
            List<Layer> layers = ages.map(age -> new Layer(age.lastReadAt(), new Work(age.bytes(), age.files())))
                    .toList();
            return ScrubForecast.of(layers, now, maxAge, budget, cost);
        }
    }
}
