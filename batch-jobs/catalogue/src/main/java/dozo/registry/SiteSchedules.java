package dozo.registry;

import dozo.ledger.Ledger;
import dozo.registry.Sites.Site;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** The schedules of the sites (ADR 0078). */
@Component
public class SiteSchedules {

    private static final int SCHEDULES_MAX = 100;

    private final JdbcClient jdbc;
    private final Sites sites;
    private final Ledger ledger;
    private final InstantSource clock;

    /**
     * A schedule of a site.
     *
     * @param since when it was set; what was due before was not missed
     */
    public record KeptSchedule(SiteSchedule schedule, Instant since) {}

    public SiteSchedules(JdbcClient jdbc, Sites sites, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.sites = sites;
        this.ledger = ledger;
        this.clock = clock;
    }

    /** Returns the schedules of a site, those of all experiments first; none: it follows the setting. */
    public List<KeptSchedule> of(int siteId) {
        return jdbc.sql("""
                        select p.code as project, o.name as origin, s.cron, s.since
                        from site_schedule s
                        left join project p using (project_id)
                        left join origin o on o.origin_id = s.origin_id
                        where s.site_id = :site
                        order by p.code nulls first, o.name nulls first, s.schedule_id
                        """)
                .param("site", siteId)
                .query((row, n) -> new KeptSchedule(
                        SiteSchedule.of(
                                new Part(row.getString("project"), row.getString("origin")), row.getString("cron")),
                        row.getTimestamp("since").toInstant()))
                .list();
    }

    private List<SiteSchedule> kept(int siteId) {
        return of(siteId).stream().map(KeptSchedule::schedule).toList();
    }

    /**
     * Sets the schedules of a site.
     *
     * @param typed all of them; empty: the site follows the setting
     * @return the schedules; empty if there is no such site
     * @throws Refusal if one is malformed, never begins, or is there twice, or names an unknown project or origin, or there are
     *     too many
     */
    @Transactional
    public Optional<List<KeptSchedule>> set(String name, List<String> typed, String actor) {
        List<SiteSchedule> wanted = checked(typed);
        sites.lock(name);
        Optional<Site> site = sites.find(name);
        site.ifPresent(found -> set(found, wanted, actor));
        return site.map(found -> of(found.id()));
    }

    private List<SiteSchedule> checked(List<String> typed) {
        if (typed.size() > SCHEDULES_MAX) {
            throw new Refusal("schedules", "expected at most %d schedules", SCHEDULES_MAX);
        }
        List<SiteSchedule> all = typed.stream().map(SiteSchedule::of).toList();
        Set<SiteSchedule> once = new HashSet<>();
        for (SiteSchedule each : all) {
            if (!once.add(each)) {
                throw new Refusal("schedules", "\"%s\" is listed twice", each.text());
            }
            // Times of day do not matter for whether there is one at all.
            if (each.cron().next(clock.instant().atZone(ZoneOffset.UTC)) == null) {
                throw new Refusal("schedules", "\"%s\" never begins", each.text());
            }
            requireKnown(each.part());
        }
        return all;
    }

    private void requireKnown(Part part) {
        if (part.project() != null
                && !known("select exists (select from project where code = :name)", part.project())) {
            throw new Refusal("schedules", "project \"%s\" does not exist", part.project());
        }
        if (part.origin() != null && !known("select exists (select from origin where name = :name)", part.origin())) {
            throw new Refusal("schedules", "origin \"%s\" does not exist", part.origin());
        }
    }

    private boolean known(String exists, String name) {
        return jdbc.sql(exists).param("name", name).query(Boolean.class).single();
    }

    private void set(Site site, List<SiteSchedule> wanted, String actor) {
        List<SiteSchedule> before = kept(site.id());
        if (Set.copyOf(before).equals(Set.copyOf(wanted))) {
            return;
        }
        // Those that stay keep the time since which they count, so that a missed night is still caught up.
        before.stream().filter(each -> !wanted.contains(each)).forEach(each -> remove(site, each));
        wanted.stream().filter(each -> !before.contains(each)).forEach(each -> add(site, each));
        ledger.change(
                actor, "site.schedule", site.name(), SiteSchedule.text(before), SiteSchedule.text(kept(site.id())));
    }

    private void remove(Site site, SiteSchedule schedule) {
        jdbc.sql("""
                        delete from site_schedule
                        where site_id = :site and cron = :cron
                          and project_id is not distinct from (select project_id from project where code = :project)
                          and origin_id is not distinct from (select origin_id from origin where name = :origin)
                        """)
                .params(Map.of("site", site.id(), "cron", schedule.cron().toString()))
                .param("project", schedule.part().project(), Types.VARCHAR)
                .param("origin", schedule.part().origin(), Types.VARCHAR)
                .update();
    }

    private void add(Site site, SiteSchedule schedule) {
        jdbc.sql("""
                        insert into site_schedule (site_id, project_id, origin_id, cron, since)
                        values (:site, (select project_id from project where code = :project),
                                (select origin_id from origin where name = :origin), :cron, :now)
                        """)
                .param("site", site.id())
                .param("project", schedule.part().project(), Types.VARCHAR)
                .param("origin", schedule.part().origin(), Types.VARCHAR)
                .params(Map.of("cron", schedule.cron().toString(), "now", Timestamp.from(clock.instant())))
                .update();
    }
}
