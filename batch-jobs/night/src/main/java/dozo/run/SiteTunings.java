package dozo.run;

import dozo.ledger.Ledger;
import dozo.registry.Sites.Site;
import dozo.remote.TuningGrid;
import dozo.remote.TuningGrid.Cell;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** How many lanes and channels were best for each site when it was last measured with made-up data (ADR 0077). */
@Component
public class SiteTunings {

    /** Later, runs no longer begin with the choice: sites and links change. */
    private static final Duration HOLDS = Duration.ofDays(90);

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final InstantSource clock;

    /**
     * The result of a measurement.
     *
     * @param cells what was measured, in this order; combinations that could not be faster are missing
     * @param best of those within 5 % of the highest rate, the one with the fewest channels in all
     * @param holdsUntil until when runs to the site begin with it
     */
    public record SiteTuning(Instant measuredAt, String measuredBy, List<Cell> cells, Cell best, Instant holdsUntil) {}

    SiteTunings(JdbcClient jdbc, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.clock = clock;
    }

    /** Returns the last result of a site. */
    public Optional<SiteTuning> of(int siteId) {
        return jdbc.sql("select * from site_tuning where site_id = :site")
                .param("site", siteId)
                .query((row, n) -> tuning(row))
                .optional();
    }

    /** Returns the choice that runs to a site begin with now. */
    Optional<Cell> choice(int siteId) {
        return of(siteId)
                .filter(tuning -> clock.instant().isBefore(tuning.holdsUntil))
                .map(SiteTuning::best);
    }

    /** Keeps a result instead of the one before. */
    @Transactional
    SiteTuning keep(Site site, List<Cell> cells, String actor) {
        Cell best = TuningGrid.best(cells);
        Instant now = clock.instant();
        jdbc.sql("""
                        insert into site_tuning (site_id, measured_at, measured_by, cell_lanes, cell_channels,
                                                 cell_bytes_per_second, lanes, channels, bytes_per_second)
                        values (:site, :now, :actor, :cellLanes, :cellChannels, :cellRates, :lanes, :channels, :rate)
                        on conflict (site_id) do update
                            set measured_at = excluded.measured_at, measured_by = excluded.measured_by,
                                cell_lanes = excluded.cell_lanes, cell_channels = excluded.cell_channels,
                                cell_bytes_per_second = excluded.cell_bytes_per_second, lanes = excluded.lanes,
                                channels = excluded.channels, bytes_per_second = excluded.bytes_per_second
                        """)
                .param("site", site.id())
                .param("now", Timestamp.from(now))
                .param("actor", actor)
                .param("cellLanes", cells.stream().map(Cell::lanes).toArray(Integer[]::new))
                .param("cellChannels", cells.stream().map(Cell::channels).toArray(Integer[]::new))
                .param("cellRates", cells.stream().map(Cell::bytesPerSecond).toArray(Double[]::new))
                .param("lanes", best.lanes())
                .param("channels", best.channels())
                .param("rate", best.bytesPerSecond())
                .update();
        ledger.append(
                actor,
                "site.tuned",
                site.name(),
                Map.of(
                        "lanes", best.lanes(),
                        "channels", best.channels(),
                        "bytesPerSecond", Math.round(best.bytesPerSecond())));
        return new SiteTuning(now, actor, cells, best, now.plus(HOLDS));
    }

    private static SiteTuning tuning(ResultSet row) throws SQLException {
        Integer[] lanes = (Integer[]) array(row, "cell_lanes");
        Integer[] channels = (Integer[]) array(row, "cell_channels");
        Double[] rates = (Double[]) array(row, "cell_bytes_per_second");
        Instant measuredAt = row.getTimestamp("measured_at").toInstant();
        return new SiteTuning(
                measuredAt,
                row.getString("measured_by"),
                IntStream.range(0, lanes.length)
                        .mapToObj(i -> new Cell(lanes[i], channels[i], rates[i]))
                        .toList(),
                new Cell(row.getInt("lanes"), row.getInt("channels"), row.getDouble("bytes_per_second")),
                measuredAt.plus(HOLDS));
    }

    private static Object array(ResultSet row, String column) throws SQLException {
        Array array = row.getArray(column);
        return array.getArray();
    }
}
