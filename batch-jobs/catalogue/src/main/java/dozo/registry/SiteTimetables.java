package dozo.registry;

import dozo.ledger.Ledger;
import dozo.registry.Sites.Site;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** The timetables of the sites. */
@Component
public class SiteTimetables {

    private final JdbcClient jdbc;
    private final Sites sites;
    private final Ledger ledger;

    public SiteTimetables(JdbcClient jdbc, Sites sites, Ledger ledger) {
        this.jdbc = jdbc;
        this.sites = sites;
        this.ledger = ledger;
    }

    /** Returns the timetable of a site; {@link SiteTimetable#NONE} if it has none. */
    public SiteTimetable of(int siteId) {
        return jdbc.sql("select rules from site_timetable where site_id = :site")
                .param("site", siteId)
                .query((row, n) -> timetable(row.getArray(1).getArray()))
                .optional()
                .orElse(SiteTimetable.NONE);
    }

    /** Returns the timetables of the sites that have one, by the site's id. */
    public Map<Integer, SiteTimetable> all() {
        Map<Integer, SiteTimetable> all = new HashMap<>();
        jdbc.sql("select site_id, rules from site_timetable").query(row -> {
            all.put(row.getInt(1), timetable(row.getArray(2).getArray()));
        });
        return all;
    }

    private static SiteTimetable timetable(Object rules) {
        return SiteTimetable.of(List.of((String[]) rules));
    }

    /**
     * Sets the timetable of a site. It holds at once, also for a run that is going on.
     *
     * @param rules empty: no limit at any time
     * @return the timetable; empty if there is no such site
     * @throws Refusal if the rules are invalid
     */
    @Transactional
    public Optional<SiteTimetable> set(String name, List<String> rules, String actor) {
        SiteTimetable timetable = SiteTimetable.of(rules);
        sites.lock(name);
        Optional<Site> site = sites.find(name);
        site.ifPresent(found -> set(found, timetable, actor));
        return site.map(_ -> timetable);
    }

    private void set(Site site, SiteTimetable timetable, String actor) {
        List<String> before = of(site.id()).rules();
        List<String> after = timetable.rules();
        if (before.equals(after)) {
            return;
        }
        if (after.isEmpty()) {
            jdbc.sql("delete from site_timetable where site_id = :site")
                    .param("site", site.id())
                    .update();
        } else {
            jdbc.sql("""
                            insert into site_timetable (site_id, rules) values (:site, :rules)
                            on conflict (site_id) do update set rules = :rules
                            """)
                    .params(Map.of("site", site.id(), "rules", after.toArray(String[]::new)))
                    .update();
        }
        ledger.change(actor, "site.timetable", site.name(), String.join("; ", before), String.join("; ", after));
    }
}
