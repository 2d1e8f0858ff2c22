package dozo.run;

import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.run.Runs.RunState;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** How the nights of the past went, and what they proved. Says nothing about nights that were planned: no plan is stored. */
@Component
public class Nights {

    /** More nights than anybody has in the time that a page shows. */
    private static final int LIMIT = 5_000;

    private final JdbcClient jdbc;

    /**
     * A backup of all experiments to a site, whoever started it. One of a part counts only if its site has no others (ADR 0078).
     */
    public record Night(long run, String site, RunState state, Instant startedAt) {}

    /**
     * Since when a site has had nights.
     *
     * @param removedAt null: it is in use
     */
    public record NightSite(
            String site, Instant firstAt, @Nullable Instant removedAt) {}

    /**
     * What a backup or a retry that has ended proved, of what the user may see.
     *
     * @param entries files, folders and links
     */
    public record Proven(long run, String site, Instant startedAt, Instant endedAt, long bytes, long entries) {

        public Duration took() {
            return Duration.between(startedAt, endedAt);
        }

        /** Returns the bytes a second over the whole run, also while nothing was sent. */
        public double bytesPerSecond() {
            return bytes / Math.max(0.001, took().toMillis() / 1e3);
        }
    }

    public Nights(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the nights that started since a moment, the oldest first; of very many the latest. */
    public List<Night> since(Instant from) {
        return jdbc.sql("""
                        select r.run_id as run, s.name as site, r.state, r.started_at
                        from night r join site s using (site_id)
                        where r.started_at >= :from
                        order by r.run_id desc
                        limit :limit
                        """)
                .param("from", Timestamp.from(from))
                .param("limit", LIMIT)
                .query(Rows.of(Night.class))
                .list()
                .reversed();
    }

    /** Returns the sites that have had a night, by name. */
    public List<NightSite> sites() {
        return jdbc.sql("""
                        select s.name as site, min(r.started_at) as first_at, s.removed_at
                        from night r join site s using (site_id)
                        group by s.site_id
                        order by s.name
                        """).query(Rows.of(NightSite.class)).list();
    }

    /** Returns what the backups and retries proved that started since a moment and have ended, the oldest first. */
    public List<Proven> proven(Sight sight, Instant from) {
        return jdbc.sql("""
                        select r.run_id as run, s.name as site, r.started_at, r.ended_at,
                               coalesce(sum(t.bytes), 0) as bytes, coalesce(sum(t.entries), 0) as entries
                        from run r
                        join site s using (site_id)
                        left join (run_total t join project p on p.project_id = t.project_id and in_sight(:seen, p.code))
                            on t.run_id = r.run_id
                        where r.kind in ('nightlyBackup', 'retry', 'chosen') and r.started_at >= :from and r.ended_at is not null
                        group by r.run_id, s.site_id
                        order by r.run_id desc
                        limit :limit
                        """)
                .param("seen", sight.seen())
                .param("from", Timestamp.from(from))
                .param("limit", LIMIT)
                .query(Rows.of(Proven.class))
                .list()
                .reversed();
    }
}
