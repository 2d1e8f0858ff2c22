package dozo.registry;

import dozo.ledger.Rows;
import dozo.registry.Capacity.Seen;
import dozo.remote.Space;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** The space of sites, one row a day for at most two years, and the forecast from it. */
@Component
public class Capacities {

    private static final int YEARS_KEPT = 2;

    private final JdbcClient jdbc;
    private final InstantSource clock;

    public Capacities(JdbcClient jdbc, InstantSource clock) {
        this.jdbc = jdbc;
        this.clock = clock;
    }

    /** Returns how full a site is and when it will be full; empty before a check has found its space. */
    public Optional<Capacity> of(int siteId) {
        Instant now = clock.instant();
        List<Seen> history = history(siteId, now.minus(Capacity.HISTORY));
        return history.isEmpty() ? Optional.empty() : Optional.of(Capacity.of(history, now));
    }

    /** Returns what checks have found since a moment, and the last check, however old it is; by time. */
    public List<Seen> history(int siteId, Instant from) {
        return jdbc.sql("""
                        select seen_at as at, total_bytes, free_bytes from site_space
                        where site_id = :site and (seen_at >= :from
                            or day = (select max(day) from site_space where site_id = :site))
                        order by day
                        """)
                .params(Map.of("site", siteId, "from", Timestamp.from(from)))
                .query(Rows.of(Seen.class))
                .list();
    }

    /** Stores what a check found, in place of an earlier check on the same day. */
    @Transactional
    public void keep(int siteId, Space space) {
        Instant now = clock.instant();
        LocalDate today = now.atOffset(ZoneOffset.UTC).toLocalDate();
        jdbc.sql("""
                        insert into site_space (site_id, day, seen_at, total_bytes, free_bytes)
                        values (:site, :day, :now, :total, :free)
                        on conflict (site_id, day) do update
                            set seen_at = excluded.seen_at, total_bytes = excluded.total_bytes,
                                free_bytes = excluded.free_bytes
                        """)
                .params(Map.of("site", siteId, "day", today, "now", Timestamp.from(now), "total", space.totalBytes()))
                // A server may report more free bytes than there are in total.
                .param("free", Math.clamp(space.freeBytes(), 0, space.totalBytes()))
                .update();
        jdbc.sql("delete from site_space where site_id = :site and day < :oldest")
                .params(Map.of("site", siteId, "oldest", today.minusYears(YEARS_KEPT)))
                .update();
    }
}
