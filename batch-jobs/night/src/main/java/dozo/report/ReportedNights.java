package dozo.report;

import dozo.ledger.Rows;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.NightTimes;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The nights whose report was made, with what was planned for them: the plans of the past are recorded nowhere else. */
@Component
record ReportedNights(JdbcClient jdbc, Sites sites, NightTimes times) {

    Optional<LocalDate> first() {
        return jdbc.sql("select min(night) from morning_report")
                .query((row, n) -> row.getObject(1, LocalDate.class))
                .optional();
    }

    /** Returns when the report of a night was made; empty: it was not. */
    Optional<Instant> madeAt(LocalDate day) {
        return jdbc.sql("select made_at from morning_report where night = :night")
                .param("night", day)
                .query((row, n) -> row.getTimestamp(1).toInstant())
                .optional();
    }

    /** Records that the report of a night is made, and what was planned for it. Returns whether it was not made before. */
    boolean make(Span span, Instant now) {
        boolean first =
                jdbc.sql("insert into morning_report (night, made_at) values (:night, :now) on conflict do nothing")
                                .param("night", span.day())
                                .param("now", Timestamp.from(now))
                                .update()
                        == 1;
        if (first) {
            planned(span).forEach(site -> record(span, site));
        }
        return first;
    }

    private void record(Span span, PlannedSite site) {
        jdbc.sql("insert into morning_report_site (night, site_id, due_at) values (:night, :site, :due)")
                .param("night", span.day())
                .param("site", site.id())
                .param("due", site.dueAt() == null ? null : Timestamp.from(site.dueAt()), Types.TIMESTAMP)
                .update();
    }

    /** Returns the sites in use, with when a night is or was due by today's schedules. */
    List<PlannedSite> planned(Span span) {
        return sites.all().stream().map(site -> planned(site, span)).toList();
    }

    private PlannedSite planned(Site site, Span span) {
        return new PlannedSite(
                site.id(),
                site.name(),
                true,
                times.lastNight(site.id(), span.from(), span.until()).orElse(null));
    }

    /**
     * Returns the sites of a night by name: those that were recorded with its report, those that had a backup, and those that are in
     * use now, if they were then.
     *
     * @param current whether today's schedules hold for it
     */
    List<PlannedSite> sites(Span span, Instant now, boolean current) {
        List<PlannedSite> recorded = recorded(span);
        List<PlannedSite> others = current ? planned(span) : unrecorded(span, !recorded.isEmpty());
        Map<Integer, PlannedSite> all = Stream.concat(recorded.stream(), others.stream())
                .collect(Collectors.toMap(PlannedSite::id, Function.identity(), (first, _) -> first));
        return all.values().stream()
                .sorted(Comparator.comparing(PlannedSite::name))
                .toList();
    }

    private List<PlannedSite> recorded(Span span) {
        return jdbc.sql("""
                        select s.site_id as id, s.name, true as recorded, n.due_at
                        from morning_report_site n join site s using (site_id)
                        where n.night = :night
                        """)
                .param("night", span.day())
                .query(Rows.of(PlannedSite.class))
                .list();
    }

    /** Returns the sites that had a backup in a night, and unless others are recorded those that are in use and had one before. */
    private List<PlannedSite> unrecorded(Span span, boolean othersAre) {
        return jdbc.sql("""
                        select s.site_id as id, s.name, false as recorded, null::timestamptz as due_at
                        from site s
                        where exists (select from run r
                                      where r.site_id = s.site_id and r.kind in ('nightlyBackup', 'retry', 'chosen')
                                        and r.started_at < :until
                                        and (r.started_at >= :from or not :others and s.removed_at is null))
                        """)
                .param("from", Timestamp.from(span.from()))
                .param("until", Timestamp.from(span.until()))
                .param("others", othersAre)
                .query(Rows.of(PlannedSite.class))
                .list();
    }

    /** Returns when the last night of a site ended that had ended by a moment; empty: none. */
    Optional<Instant> lastEnd(int siteId, Instant at) {
        return jdbc.sql("""
                        select r.ended_at from run r join night n using (run_id)
                        where r.site_id = :site and r.ended_at <= :at
                        order by r.run_id desc limit 1
                        """)
                .param("site", siteId)
                .param("at", Timestamp.from(at))
                .query((row, n) -> row.getTimestamp(1).toInstant())
                .optional();
    }
}
