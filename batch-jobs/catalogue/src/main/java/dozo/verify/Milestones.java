package dozo.verify;

import dozo.ledger.Rows;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Reads how far an experiment has come at a site, and when, as far as it is known. */
@Component
public class Milestones {

    private final JdbcClient jdbc;

    /**
     * The times of the milestones; null: not reached.
     *
     * @param sealedAt when the current manifest was sealed
     * @param firstProvenAt the first receipt; {@code lastProvenAt} the last
     * @param safeAt when the current manifest had become completely safe
     * @param readAt the oldest reading, once all stored copies were read again
     */
    public record Reached(
            @Nullable Instant sealedAt,
            @Nullable Instant firstProvenAt,
            @Nullable Instant lastProvenAt,
            @Nullable Instant safeAt,
            @Nullable Instant readAt) {}

    public Milestones(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns what an experiment has reached at a site. Costs its receipts. */
    public Reached of(int experimentId, int siteId) {
        return jdbc.sql("""
                        select (select sealed_at from manifest
                                where experiment_id = :experiment order by manifest_no desc limit 1) as sealed_at,
                               r.first_proven_at, r.last_proven_at, r.read_at,
                               (select c.since from protection t join coverage c using (experiment_id, site_id)
                                where t.experiment_id = :experiment and t.site_id = :site and t.entries = t.entries_safe
                                  and c.waited_seconds is not null
                                order by c.since desc limit 1) as safe_at
                        from (select min(r.verified_at) as first_proven_at, max(r.verified_at) as last_proven_at,
                                     case when bool_and(s.last_read_at > r.verified_at) then min(s.last_read_at) end as read_at
                              from receipt r left join stored s using (receipt_id)
                              where r.experiment_id = :experiment and r.site_id = :site) r
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId))
                .query(Rows.of(Reached.class))
                .single();
    }
}
