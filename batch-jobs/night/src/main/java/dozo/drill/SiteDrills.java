package dozo.drill;

import static java.util.Objects.requireNonNullElse;

import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;
import tools.jackson.databind.json.JsonMapper;

/** The evidence of site drills, which is never changed after a drill's end, and what is promised of them. */
@Component
public class SiteDrills {

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final DrillSettings settings;
    private final InstantSource clock;

    /** How a drill of a site stands. */
    public enum SiteDrillState {
        RUNNING,
        /** Nothing differs, and everything that was restored is whole. */
        COMPLETE,
        /** Something differs, or could not be restored. */
        FINDINGS,
        /** It did not come to its end: the key or the site could not be used, for example. */
        FAILED,
        /** The service ended. It shows nothing. */
        BROKEN_OFF
    }

    /** What most of the forecast time is for. */
    public enum Limit {
        /** Rebuilding the catalogue; with the digests of the site, unless only lists were read. */
        REBUILD,
        /** Beginning the restores. */
        EXPERIMENTS,
        FILES,
        BYTES
    }

    /**
     * What a drill has measured.
     *
     * @param writtenAt of the base record that was loaded; missing: none was
     * @param rowsCompared rows of tables on either side
     * @param rowsExplained those that differ because they are newer than the record, or written by the rebuild
     * @param digestsCompared digests of copies
     * @param experiments in the rebuilt catalogue, with a manifest
     * @param restored experiments, in whole or in part
     * @param rtoSeconds the forecast for rebuilding and restoring everything, with its range; missing: unknown, there are too few restores
     * @param recentExperiments those of the 30 days before the drill, which would be back after {@code recentSeconds}
     * @param told the first 100 differences and findings
     */
    public record DrillEvidence(
            @Nullable Instant writtenAt,
            @Nullable Double rebuildSeconds,
            long rowsCompared,
            long rowsExplained,
            long digestsCompared,
            long differences,
            int experiments,
            int restored,
            long restoredEntries,
            long restoredBytes,
            double restoreSeconds,
            @Nullable Double rtoSeconds,
            @Nullable Double rtoLeastSeconds,
            @Nullable Double rtoMostSeconds,
            int recentExperiments,
            @Nullable Double recentSeconds,
            @Nullable Limit limitedBy,
            List<String> told) {

        static final DrillEvidence NONE =
                new DrillEvidence(null, null, 0, 0, 0, 0, 0, 0, 0, 0, 0, null, null, null, 0, null, null, List.of());
    }

    /**
     * A drill of the loss of everything but a site.
     *
     * @param keyed whether somebody gave the recovery key; without it only lists and bags are compared
     * @param listsOnly whether the site computed no digests of copies
     * @param endedAt missing: it goes on
     * @param message why it failed, or what else is to say
     */
    public record SiteDrill(
            long id,
            String site,
            SiteDrillState state,
            boolean keyed,
            boolean listsOnly,
            String requestedBy,
            Instant requestedAt,
            @Nullable Instant endedAt,
            String message,
            DrillEvidence evidence) {}

    /** What is wrong with the drills of a site. */
    public enum SiteDrillNeed {
        /** A drill since the last complete one with the key has failed. */
        FAILED,
        /** No drill with the key was complete in time. */
        OVERDUE,
        /** The forecast is longer than promised, or unknown. */
        RTO
    }

    /** A site whose drills need a person. */
    public record Needed(String site, SiteDrillNeed need) {}

    record Open(long id, String scratch) {}

    SiteDrills(JdbcClient jdbc, Ledger ledger, DrillSettings settings, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.settings = settings;
        this.clock = clock;
    }

    /** Returns at most {@code limit} drills before this one, the latest first. */
    public List<SiteDrill> page(long before, int limit) {
        return jdbc.sql("""
                        select d.*, s.name from site_drill d join site s using (site_id)
                        where drill_id < :before order by drill_id desc limit :limit
                        """)
                .param("before", before)
                .param("limit", limit)
                .query((row, n) -> {
                    Timestamp ended = row.getTimestamp("ended_at");
                    return new SiteDrill(
                            row.getLong("drill_id"),
                            row.getString("name"),
                            SiteDrillState.valueOf(row.getString("state")),
                            row.getBoolean("keyed"),
                            row.getBoolean("lists_only"),
                            row.getString("requested_by"),
                            row.getTimestamp("requested_at").toInstant(),
                            ended == null ? null : ended.toInstant(),
                            row.getString("message"),
                            ended == null
                                    ? DrillEvidence.NONE
                                    : JsonMapper.shared().readValue(row.getString("evidence"), DrillEvidence.class));
                })
                .list();
    }

    public Optional<SiteDrill> find(long id) {
        return page(id + 1, 1).stream().filter(drill -> drill.id == id).findFirst();
    }

    /** Returns the sites whose drills need a person, by name. Nothing is asked of a site before its first backup. */
    public List<Needed> needed() {
        return jdbc.sql("""
                        with done as (
                            select site_id, max(drill_id) as last from site_drill
                            where keyed and state = 'COMPLETE' and ended_at <= :now group by site_id
                        ), standing as (
                            select s.name, (l.evidence ->> 'rtoMostSeconds')::double precision as rto_most_seconds,
                                   coalesce(l.ended_at, (select min(started_at) from run r where r.site_id = s.site_id)) as since,
                                   exists (select from site_drill f where f.site_id = s.site_id and f.drill_id > coalesce(done.last, 0)
                                                                      and f.state in ('FINDINGS', 'FAILED')) as failed
                            from site s left join done using (site_id) left join site_drill l on l.drill_id = done.last
                            where s.removed_at is null
                        )
                        select name as site, need
                        from standing cross join lateral (values
                            ('FAILED', failed),
                            ('OVERDUE', :days > 0 and since + make_interval(hours => 24 * :days) < :now),
                            ('RTO', :rto > 0 and since is not null and coalesce(rto_most_seconds > :rto, true))) n (need, stands)
                        where stands order by name, need
                        """)
                .param("now", Timestamp.from(clock.instant()))
                .param("days", settings.siteDays())
                .param("rto", settings.rto().toSeconds())
                .query(Rows.of(Needed.class))
                .list();
    }

    /**
     * Begins a drill.
     *
     * @throws Refusal if one of the site has not ended
     */
    @Transactional
    public long begin(Site site, boolean keyed, boolean listsOnly, String scratch, String message, String actor) {
        long id = jdbc.sql("""
                        insert into site_drill (site_id, keyed, lists_only, scratch, message, requested_by, requested_at)
                        values (:site, :keyed, :listsOnly, :scratch, :message, :actor, :now)
                        on conflict (site_id) where ended_at is null do nothing
                        returning drill_id
                        """)
                .param("site", site.id())
                .param("keyed", keyed)
                .param("listsOnly", listsOnly)
                .param("scratch", scratch)
                .param("message", message)
                .param("actor", actor)
                .param("now", Timestamp.from(clock.instant()))
                .query(Long.class)
                .optional()
                .orElseThrow(() -> Refusal.conflict("site", "a drill of site %s has not ended", site.name()));
        ledger.append(
                actor, "site.drilling", site.name(), Map.of("drill", id, "keyed", keyed, "lists_only", listsOnly));
        return id;
    }

    /** Records the end. It is only recorded once. */
    @Transactional
    public void end(long id, SiteDrillState state, DrillEvidence evidence, String message) {
        int ended = jdbc.sql("""
                        update site_drill set state = :state, evidence = :evidence::jsonb, message = :message, ended_at = :now
                        where drill_id = :id and ended_at is null
                        """)
                .param("id", id)
                .param("state", state.name())
                .param("evidence", JsonMapper.shared().writeValueAsString(evidence))
                .param("message", message)
                .param("now", Timestamp.from(clock.instant()))
                .update();
        if (ended == 1) {
            SiteDrill drill = find(id).orElseThrow();
            ledger.append(
                    Ledger.SYSTEM,
                    "site.drilled",
                    drill.site,
                    Map.of(
                            "drill", id,
                            "state", state,
                            "keyed", drill.keyed,
                            "rows", evidence.rowsCompared,
                            "digests", evidence.digestsCompared,
                            "differences", evidence.differences,
                            "restored", evidence.restored,
                            "bytes", evidence.restoredBytes,
                            "rto_seconds", requireNonNullElse(evidence.rtoSeconds, "unknown")));
        }
    }

    /** Returns the drills that have not ended. */
    List<Open> open() {
        return jdbc.sql("select drill_id as id, scratch from site_drill where ended_at is null order by drill_id")
                .query(Rows.of(Open.class))
                .list();
    }
}
