package dozo.alert;

import dozo.alert.Condition.Kind;
import dozo.drill.DrillPromises.DrillPromise;
import dozo.drill.DrillPromises.Standing;
import dozo.drill.SiteDrills;
import dozo.drill.SiteDrills.Needed;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.ledger.Verification;
import dozo.registry.Capacities;
import dozo.registry.RiskSettings;
import dozo.registry.Sites.Site;
import dozo.run.Forecasts.Line;
import dozo.run.Headlines;
import dozo.run.Headlines.Headline;
import dozo.run.Services;
import dozo.run.Services.SeenService;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Finds out which conditions need a person now. All but what {@link Watch} knows is read from the catalogue; no site is asked. */
@Component
public class Conditions {

    /** An experiment is late soon in the last part of the time that it may wait: one in so many. */
    private static final int SOON = 4;

    /** A scanner deletes soon what it deletes within so many days. */
    private static final int NEAR_DAYS = 7;

    /** How long a report that was given up is told. */
    private static final Duration GIVEN_UP = Duration.ofDays(7);

    /** The kinds of headlines that are about a site or the service as a whole. */
    private static final Set<Headlines.Kind> OF_WHOLE = Set.of(
            Headlines.Kind.SITE_KEY_CHANGED,
            Headlines.Kind.SITE_FULL,
            Headlines.Kind.SITE_UNREACHABLE,
            Headlines.Kind.SITE_UNUSABLE,
            Headlines.Kind.RUN_FAILED,
            Headlines.Kind.CLOCK_SET_BACK,
            Headlines.Kind.NO_NIGHT,
            Headlines.Kind.OLD_NIGHT,
            Headlines.Kind.UNREAD);

    private static final RowMapper<Condition> CONDITION = (row, n) -> new Condition(
            Kind.valueOf(row.getString("kind")),
            row.getString("site"),
            row.getString("project"),
            row.getLong("count"),
            named(row.getString("first"), row.getString("last")));

    private final JdbcClient jdbc;
    private final Headlines headlines;
    private final Capacities capacities;
    private final Services services;
    private final SiteDrills siteDrills;
    private final Ledger ledger;
    private final ObjectProvider<Watch> watches;
    private final RiskSettings settings;
    private final InstantSource clock;
    private final ZoneId zone;

    Conditions(
            JdbcClient jdbc,
            Headlines headlines,
            Capacities capacities,
            Services services,
            SiteDrills siteDrills,
            Ledger ledger,
            ObjectProvider<Watch> watches,
            RiskSettings settings,
            InstantSource clock,
            ZoneId zone) {
        this.jdbc = jdbc;
        this.headlines = headlines;
        this.capacities = capacities;
        this.services = services;
        this.siteDrills = siteDrills;
        this.ledger = ledger;
        this.watches = watches;
        this.settings = settings;
        this.clock = clock;
        this.zone = zone;
    }

    /**
     * Returns all conditions, each kind once for each site and project.
     *
     * @throws org.springframework.dao.DataAccessException if one cannot be found out: then nothing is over either
     */
    public List<Condition> now() {
        List<Condition> now = new ArrayList<>();
        List<Headline> all = headlines.all(Sight.EVERYTHING);
        all.forEach(headline -> now.addAll(at(headline)));
        watches.forEach(watch -> now.addAll(watch.now()));
        now.addAll(lost());
        now.addAll(brokenDeletedSoon());
        now.addAll(erasures());
        now.addAll(notReported());
        now.addAll(drills(all.getFirst().drills()));
        siteDrills.needed().forEach(each -> now.add(of(each)));
        ledger.lastVerification()
                .filter(check -> check.verdict().equals(Verification.BROKEN))
                .ifPresent(check -> now.add(new Condition(Kind.LEDGER_BROKEN, null, null, check.breaches(), "")));
        List<SeenService> missing = Services.missing(services.all());
        if (!missing.isEmpty()) {
            now.add(new Condition(
                    Kind.NOBODY_STANDS_BY, null, null, 1, missing.getFirst().name()));
        }
        return now;
    }

    private List<Condition> at(Headline headline) {
        Site site = headline.site();
        String name = headline.siteName();
        List<Condition> found = new ArrayList<>();
        headline.kinds().stream()
                .filter(OF_WHOLE::contains)
                .forEach(kind ->
                        found.add(new Condition(Kind.valueOf(kind.name()), name, null, 1, name == null ? "" : name)));
        if (site != null) {
            found.addAll(risks(site));
            found.addAll(lateSoon(site));
            found.addAll(endangered(site, headline.endangered()));
            capacities
                    .of(site.id())
                    .filter(capacity -> capacity.pressing(clock.instant()))
                    .ifPresent(_ -> found.add(new Condition(Kind.SITE_FILLING, name, null, 1, site.name())));
        }
        return found;
    }

    private List<Condition> risks(Site site) {
        return of(site, """
                select k.risk::text as kind, :name::text as site, p.code as project, count(distinct k.experiment_id) as count,
                       min(p.code || '/' || e.code) as first, max(p.code || '/' || e.code) as last
                from risks(:site, :now, :usual::interval) k
                join experiment e using (experiment_id)
                join project p using (project_id)
                where k.risk <> 'LOST'
                group by k.risk, p.code
                """);
    }

    /** NB: lost data is lost at all sites. */
    private List<Condition> lost() {
        return jdbc.sql("""
                        select 'LOST' as kind, null as site, p.code as project, count(*) as count,
                               min(p.code || '/' || e.code) as first, max(p.code || '/' || e.code) as last
                        from loss join experiment e using (experiment_id) join project p using (project_id)
                        group by p.code
                        """).query(CONDITION).list();
    }

    /** A scanner deletes an experiment at the beginning of a day. */
    private List<Condition> brokenDeletedSoon() {
        return jdbc.sql("""
                        select 'BROKEN_DELETED_SOON' as kind, null as site, p.code as project, count(distinct experiment_id) as count,
                               min(p.code || '/' || e.code) as first, max(p.code || '/' || e.code) as last
                        from finding f join living_experiment e using (experiment_id) join project p using (project_id)
                        join scanner s on s.code = e.scanner
                        left join acknowledgement a using (finding_id)
                        where f.reason = 'BROKEN' and f.superseded_by is null and a.finding_id is null
                          and e.acquired_on + s.purge_days > :today
                          and e.acquired_on + s.purge_days <= :today + :days
                        group by p.code
                        """)
                .param("today", LocalDate.ofInstant(clock.instant(), zone))
                .param("days", NEAR_DAYS)
                .query(CONDITION)
                .list();
    }

    private List<Condition> erasures() {
        return jdbc.sql("""
                        select kind, site, project, count(*) as count, min(subject) as first, max(subject) as last
                        from (select 'ERASURE_REQUESTED' as kind, null as site, p.code as project, p.code || '/' || x.code as subject
                              from erasure x join project p using (project_id)
                              where x.approved_at is null and x.withdrawn_at is null
                              union all
                              select 'NOT_ERASED', s.name, p.code, p.code || '/' || x.code
                              from erasure x join project p using (project_id)
                              left join erasure_site a on a.erasure_id = x.erasure_id and a.done_at is null
                              left join site s using (site_id)
                              where x.message <> '' or a.message <> '') open
                        group by kind, site, project
                        """).query(CONDITION).list();
    }

    private List<Condition> notReported() {
        return jdbc.sql("""
                        select 'COMMITMENT_NOT_REPORTED' as kind, null as site, null as project, count(*) as count,
                               min(caller) as first, max(caller) as last
                        from commitment where given_up_at > :from having count(*) > 0
                        """)
                .param("from", Timestamp.from(clock.instant().minus(GIVEN_UP)))
                .query(CONDITION)
                .list();
    }

    private List<Condition> lateSoon(Site site) {
        return of(site, """
                select 'LATE_SOON' as kind, :name::text as site, p.code as project, count(*) as count,
                       min(p.code || '/' || e.code) as first, max(p.code || '/' || e.code) as last
                from protection t join living_experiment e using (experiment_id) join project p using (project_id)
                cross join lateral (select coalesce(make_interval(hours => p.late_hours), :usual::interval) as allowed) w
                where t.site_id = :site and t.entries = t.entries_safe is false
                  and t.unprotected_since >= :now::timestamptz - w.allowed
                  and t.unprotected_since < :now::timestamptz - w.allowed * (1 - 1.0 / %d)
                group by p.code
                """.formatted(SOON));
    }

    private List<Condition> of(Site site, String sql) {
        return jdbc.sql(sql)
                .param("site", site.id())
                .param("name", site.name())
                .param("now", Timestamp.from(clock.instant()))
                .param("usual", settings.interval())
                .query(CONDITION)
                .list();
    }

    private static List<Condition> endangered(Site site, List<Line> lines) {
        return lines.stream().collect(Collectors.groupingBy(Line::project)).entrySet().stream()
                .map(each -> new Condition(
                        Kind.DELETED_SOON,
                        site.name(),
                        each.getKey(),
                        each.getValue().size(),
                        named(
                                each.getValue().getFirst().name(),
                                each.getValue().getLast().name())))
                .toList();
    }

    private static List<Condition> drills(List<DrillPromise> unkept) {
        return unkept.stream()
                .map(each -> new Condition(
                        each.standing() == Standing.FAILED ? Kind.DRILL_FAILED : Kind.UNREHEARSED,
                        null,
                        each.project(),
                        1,
                        each.project()))
                .toList();
    }

    private static Condition of(Needed drill) {
        Kind kind = switch (drill.need()) {
            case FAILED -> Kind.SITE_DRILL_FAILED;
            case OVERDUE -> Kind.SITE_UNREHEARSED;
            case RTO -> Kind.RTO_EXCEEDED;
        };
        return new Condition(kind, drill.site(), null, 1, drill.site());
    }

    private static String named(String first, String last) {
        return first.equals(last) ? first : first + ", …";
    }
}
