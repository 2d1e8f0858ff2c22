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
import java.time.LocalDate;
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
    private static final int EXPERIMENTS_MAX = 100_000;

    /** How far forecasts look, and how far if that is not enough. */
    private static final Duration AHEAD = Duration.ofDays(14);

    private static final Duration FAR_AHEAD = Duration.ofDays(366);

    /** Everything may take so many times as long as expected. */
    private static final double LATE = 4;

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
    record Plan(int site, List<Pending> ordered, List<Integer> unknown, Speed speed, Hours hours) {

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
     * Returns what is not known to be safe at a site, without retired and frozen experiments; at most 100,000 experiments, with those first
     * that their scanner deletes.
     */
    Plan of(int siteId) {
        return plan(siteId, unsafe(siteId, ""));
    }

    /** Returns the beginning of the same: only experiments that their scanner has not deleted yet, but will. */
    Plan urgent(int siteId) {
        // The first condition is implied; it makes the cost that of the latest days.
        return plan(siteId, unsafe(siteId, """
                and e.acquired_on > :today - (select max(purge_days) from scanner)
                and e.acquired_on + s.purge_days > :today
                """));
    }

    private Plan plan(int siteId, List<Unsafe> all) {
        List<Pending> known =
                all.stream().filter(Unsafe::known).map(Unsafe::pending).toList();
        List<Integer> unknown = all.stream()
                .filter(each -> !each.known)
                .map(each -> each.pending.experiment())
                .toList();
        Speed speed = models.speed(siteId);
        Work work = known.stream().map(Pending::work).reduce(Work.NONE, Work::plus);
        Hours ahead = ahead(siteId, AHEAD, work, speed);
        if (ahead.usableUntil(ahead.begin().plus(AHEAD)) < LATE * speed.seconds(work)) {
            ahead = ahead(siteId, FAR_AHEAD, work, speed);
        }
        return new Plan(siteId, SendingOrder.of(known, speed, ahead), unknown, speed, ahead);
    }

    private Hours ahead(int siteId, Duration ahead, Work work, Speed speed) {
        Instant now = clock.instant();
        // The rate of this mix of sizes.
        double bytesPerSecond =
                work.bytes() == 0 ? speed.cost().bytesPerSecond() * speed.lanes() : work.bytes() / speed.seconds(work);
        return new Hours(hours.ahead(siteId, now, now.plus(ahead)), now.plus(ahead), bytesPerSecond);
    }

    /**
     * An experiment that was never read is expected to be like the others of its project, else of the site. The fewer there are,
     * the less is known; from one alone, only the order of magnitude.
     */
    private List<Unsafe> unsafe(int siteId, String which) {
        return jdbc.sql("""
                        with unsafe as materialized (
                            select e.experiment_id, e.project_id, p.priority, e.acquired_on + s.purge_days as deleted_on,
                                   n.entries is null as unread, n.bytes - n.bytes_safe as bytes, n.entries - n.entries_safe as entries
                            from living_experiment e
                            join project p on p.project_id = e.project_id
                            left join protection n on n.experiment_id = e.experiment_id and n.site_id = :site
                            left join scanner s on s.code = e.scanner
                            where n.entries_safe = n.entries is not true
                              and not exists (select from frozen_experiment f
                                              where f.experiment_id = e.experiment_id and f.ended_at is null and f.released_at is null)
                              %s
                            order by deleted_on nulls last, e.experiment_id
                            limit :most
                        ), usual as (
                            select e.project_id, avg(n.bytes) as bytes, avg(n.entries) as entries,
                                   sqrt(coalesce(var_pop(n.bytes) / nullif(avg(n.bytes), 0) ^ 2, 0) + 1.0 / count(*)) as uncertainty
                            from protection n join experiment e using (experiment_id)
                            where n.site_id = :site and (select bool_or(unread) from unsafe)
                            group by grouping sets ((), (e.project_id))
                            having count(*) > 0
                        )
                        select u.experiment_id, u.project_id, u.priority, u.deleted_on,
                               coalesce(u.bytes, own.bytes, every.bytes) as bytes,
                               coalesce(u.entries, own.entries, every.entries) as entries,
                               case when u.unread then coalesce(own.uncertainty, every.uncertainty) end as uncertainty
                        from unsafe u
                        left join usual own on own.project_id = u.project_id
                        left join usual every on every.project_id is null
                        order by u.deleted_on nulls last, u.experiment_id
                        """.formatted(which))
                .param("site", siteId)
                .param("today", LocalDate.ofInstant(clock.instant(), zone))
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
