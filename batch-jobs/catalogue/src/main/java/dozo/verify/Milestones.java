package dozo.verify;

import dozo.ledger.Rows;
import dozo.ledger.Sight;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
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

    /**
     * An experiment that is completely safe.
     *
     * @param sites where it is, by name
     * @param since when its current manifest became safe at the first of them
     */
    public record Safe(
            String project,
            String code,
            String title,
            @Nullable String subject,
            @Nullable LocalDate acquiredOn,
            @Nullable String scanner,
            List<String> sites,
            Instant since) {}

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

    /** Returns at most {@code limit} visible experiments that are completely safe, those that became so last first. */
    public List<Safe> newest(Sight sight, int limit) {
        return jdbc.sql("""
                        select p.code as project, e.code, e.title, e.subject, e.acquired_on, e.scanner,
                               array_agg(s.name order by s.name) as sites, min(coalesce(c.since, t.counted_at)) as since
                        from experiment e
                        join project p using (project_id)
                        join protection t on t.experiment_id = e.experiment_id and t.entries = t.entries_safe
                        join site s on s.site_id = t.site_id and s.removed_at is null
                        cross join lateral (
                            select max(since) as since from coverage
                            where experiment_id = t.experiment_id and site_id = t.site_id and waited_seconds is not null) c
                        where e.retired_at is null and in_sight(:seen, p.code)
                        group by p.code, e.experiment_id
                        order by since desc, e.experiment_id desc
                        limit :limit
                        """)
                .params(Map.of("seen", sight.seen(), "limit", limit))
                .query(Rows.of(Safe.class))
                .list();
    }
}
