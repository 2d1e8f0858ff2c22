package dozo.run;

import dozo.plan.Hours;
import dozo.plan.Pending;
import dozo.plan.SendingOrder;
import dozo.plan.Speed;
import dozo.plan.Work;
import java.sql.Date;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** What is not safe at a site, in the order in which a night sends it (ADR 0076). */
@Component
public class Agenda {

    /** Those of which there is no hurry come after these, by number. */
    private static final int EXPERIMENTS_MAX = 10_000;

    /** How far forecasts look. */
    private static final Duration AHEAD = Duration.ofDays(14);

    private final JdbcClient jdbc;
    private final CostModels models;
    private final SiteHours hours;
    private final InstantSource clock;
    private final ZoneId zone;

    /**
     * What is to be sent.
     *
     * @param ordered in the order of sending
     * @param unknown the numbers of experiments of which not even an estimate is possible; they come first
     */
    record Plan(List<Pending> ordered, List<Integer> unknown, Speed speed, Hours hours) {

        /** Returns the numbers of all experiments in the order of reading and sending. */
        List<Integer> experiments() {
            return Stream.concat(unknown.stream(), ordered.stream().map(Pending::experiment))
                    .toList();
        }
    }

    private record Unsafe(Pending pending, boolean known) {}

    Agenda(JdbcClient jdbc, CostModels models, SiteHours hours, InstantSource clock, ZoneId zone) {
        this.jdbc = jdbc;
        this.models = models;
        this.hours = hours;
        this.clock = clock;
        this.zone = zone;
    }

    /**
     * Returns what is not known to be safe at a site, without frozen experiments; at most 10,000 experiments, with those first
     * that their scanner deletes.
     */
    Plan of(int siteId) {
        List<Unsafe> all = unsafe(siteId);
        List<Pending> known =
                all.stream().filter(Unsafe::known).map(Unsafe::pending).toList();
        List<Integer> unknown = all.stream()
                .filter(each -> !each.known)
                .map(each -> each.pending.experiment())
                .toList();
        Speed speed = models.speed(siteId);
        Instant now = clock.instant();
        Hours ahead = new Hours(hours.ahead(siteId, now, now.plus(AHEAD)), now.plus(AHEAD), fullRate(known, speed));
        return new Plan(SendingOrder.of(known, speed, ahead), unknown, speed, ahead);
    }

    /** Returns the bytes a second of this mix of sizes. */
    private static double fullRate(List<Pending> all, Speed speed) {
        Work work = all.stream().map(Pending::work).reduce(Work.NONE, Work::plus);
        return work.bytes() == 0 ? speed.cost().bytesPerSecond() * speed.lanes() : work.bytes() / speed.seconds(work);
    }

    /**
     * An experiment that was never read is expected to be like the others of its project, else of the site. The fewer there are,
     * the less is known; from one alone, only the order of magnitude.
     */
    private List<Unsafe> unsafe(int siteId) {
        return jdbc.sql("""
                        with usual as (
                            select e.project_id, avg(n.bytes) as bytes, avg(n.entries) as entries,
                                   sqrt(coalesce(var_pop(n.bytes) / nullif(avg(n.bytes), 0) ^ 2, 0) + 1.0 / count(*)) as uncertainty
                            from protection n join experiment e using (experiment_id)
                            where n.site_id = :site
                            group by grouping sets ((), (e.project_id))
                            having count(*) > 0
                        )
                        select e.experiment_id, e.project_id, p.priority, e.acquired_on + s.purge_days as deleted_on,
                               coalesce(n.bytes - n.bytes_safe, own.bytes, every.bytes) as bytes,
                               coalesce(n.entries - n.entries_safe, own.entries, every.entries) as entries,
                               case when n.entries is null then coalesce(own.uncertainty, every.uncertainty) end as uncertainty
                        from experiment e
                        join project p on p.project_id = e.project_id
                        left join protection n on n.experiment_id = e.experiment_id and n.site_id = :site
                        left join scanner s on s.code = e.scanner
                        left join usual own on own.project_id = e.project_id
                        left join usual every on every.project_id is null
                        where n.entries_safe = n.entries is not true
                          and not exists (select from frozen_experiment f
                                          where f.experiment_id = e.experiment_id and f.ended_at is null and f.released_at is null)
                        order by deleted_on nulls last, e.experiment_id
                        limit :most
                        """)
                .param("site", siteId)
                .param("most", EXPERIMENTS_MAX)
                .query((row, n) -> {
                    Optional<Date> deleted = Optional.ofNullable(row.getDate("deleted_on"));
                    Work work = new Work(Math.max(0, row.getLong("bytes")), Math.max(0, row.getLong("entries")));
                    return new Unsafe(
                            new Pending(
                                    row.getInt("experiment_id"),
                                    row.getInt("project_id"),
                                    row.getInt("priority"),
                                    work,
                                    row.getDouble("uncertainty"),
                                    deleted.map(day -> day.toLocalDate()
                                                    .atStartOfDay(zone)
                                                    .toInstant())
                                            .orElse(null)),
                            row.getObject("bytes") != null);
                })
                .list();
    }
}
