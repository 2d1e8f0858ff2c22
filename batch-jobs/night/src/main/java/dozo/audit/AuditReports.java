package dozo.audit;

import dozo.audit.AuditReport.AtSite;
import dozo.audit.AuditReport.Certificate;
import dozo.audit.AuditReport.CertificateKey;
import dozo.audit.AuditReport.Certified;
import dozo.audit.AuditReport.ChainRow;
import dozo.audit.AuditReport.Evidence;
import dozo.audit.AuditReport.InProject;
import dozo.audit.AuditReport.LedgerThen;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.ledger.Verification;
import dozo.run.RetentionSettings;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Makes audit reports. The shares are those of {@link Coverage}; everything else follows from evidence that has a time and
 * is never changed, so the same question has the same answer later, except for what retention deletes: that only makes a
 * report less favourable, and it says so. A report is read in one snapshot.
 */
@Component
public class AuditReports {

    private static final int CERTIFICATES_SHOWN = 100;

    private static final RowMapper<ChainRow> ROW = Rows.of(ChainRow.class);
    private static final RowMapper<Evidence> EVIDENCE = Rows.of(Evidence.class);

    /**
     * All receipts with their readings, and all findings that stood. Each table is read once, by its indexes. A finding that a
     * run has superseded stood until that run's end.
     */
    private static final String OF_ALL = """
            with seen as materialized (
                select experiment_id, project_id from experiment where registered_at <= :at
            ), known as (
                select s.project_id, r.method, r.verified_at, d.readings, d.read_at
                from receipt r
                left join (select receipt_id, count(*) as readings, max(read_at) as read_at from reading
                           where read_at <= :at group by receipt_id) d using (receipt_id)
                join seen s using (experiment_id)
                where r.site_id = :site and r.verified_at <= :at
            ), standing as (
                select finding_id, run_id, experiment_id from finding where superseded_by is null and found_at <= :at
                union all
                select f.finding_id, f.run_id, f.experiment_id
                from finding f join run later on later.run_id = f.superseded_by
                where f.found_at <= :at and coalesce(f.superseded_at, later.ended_at, 'infinity') > :at
            )
            """;

    /** The same for the projects in sight, experiment by experiment. */
    private static final String OF_SOME = """
            with seen as materialized (
                select e.experiment_id, e.project_id from experiment e join project p using (project_id)
                where e.registered_at <= :at and in_sight(:seen, p.code)
            ), known as (
                select s.project_id, r.method, r.verified_at, d.readings, d.read_at
                from receipt r
                join seen s using (experiment_id)
                cross join lateral (select count(*) as readings, max(read_at) as read_at from reading
                                    where receipt_id = r.receipt_id and read_at <= :at) d
                where r.site_id = :site and r.verified_at <= :at
            ), standing as (
                select f.finding_id, f.run_id, experiment_id
                from finding f join seen using (experiment_id) left join run later on later.run_id = f.superseded_by
                where f.found_at <= :at and (f.superseded_by is null or coalesce(f.superseded_at, later.ended_at, 'infinity') > :at)
            )
            """;

    private final JdbcClient jdbc;
    private final Coverage coverage;
    private final Ledger ledger;
    private final RetentionSettings retention;
    private final InstantSource clock;

    private record Place(int siteId, String name) {}

    public AuditReports(
            JdbcClient jdbc, Coverage coverage, Ledger ledger, RetentionSettings retention, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.coverage = coverage;
        this.retention = retention;
        this.clock = clock;
    }

    /**
     * Returns the report on a moment.
     *
     * @param sight what the reader may see
     * @param project only this one, which must be in sight; null: all in sight
     * @param at not in the future; null: now, with every receipt so far
     */
    @Transactional(readOnly = true, isolation = Isolation.REPEATABLE_READ)
    public AuditReport of(Sight sight, @Nullable String project, @Nullable Instant at) {
        Instant now = clock.instant();
        Instant then = at == null ? now : at;
        Sight seen = project == null ? sight : Sight.of(List.of(project));
        List<AtSite> sites =
                sitesAt(then).stream().map(site -> atSite(seen, site, at, then)).toList();
        return new AuditReport(
                then,
                now,
                project,
                registeredSince(seen).orElse(null),
                !then.isBefore(now.minus(retention.runs())),
                erasedSince(seen, then),
                lost(seen, then),
                ledger(then),
                certified(seen, then),
                sites);
    }

    private AtSite atSite(Sight seen, Place site, @Nullable Instant at, Instant then) {
        List<Totals> projects = coverage.projects(seen, site.siteId, at);
        boolean known = coverage.isKnown(site.siteId, at);
        Map<@Nullable String, Evidence> evidence = evidence(seen, site.siteId, then);
        return new AtSite(
                site.name,
                coverage.recordedSince(site.siteId).orElse(null),
                known ? Totals.together(projects) : null,
                lastAnchor(site.name, then).orElse(null),
                evidence.getOrDefault(null, Evidence.NONE).findings(),
                projects.stream()
                        .map(totals -> new InProject(
                                String.valueOf(totals.project()),
                                known ? totals : null,
                                evidence.getOrDefault(totals.project(), Evidence.NONE)))
                        .toList());
    }

    private long erasedSince(Sight seen, Instant then) {
        return jdbc.sql("""
                        select count(*) from erasure x join project p using (project_id)
                        where x.registered_at <= :at and x.begun_at > :at and in_sight(:seen, p.code)
                        """)
                .param("at", Timestamp.from(then))
                .param("seen", seen.seen())
                .query(Long.class)
                .single();
    }

    /** Returns the sites that were not removed yet. */
    private List<Place> sitesAt(Instant then) {
        return jdbc.sql(
                        "select site_id, name from site where removed_at is null or removed_at > :at order by name, site_id")
                .param("at", Timestamp.from(then))
                .query(Rows.of(Place.class))
                .list();
    }

    private Optional<Instant> registeredSince(Sight seen) {
        return jdbc.sql("""
                        select e.registered_at from experiment e join project p using (project_id)
                        where in_sight(:seen, p.code)
                        order by e.registered_at limit 1
                        """)
                .param("seen", seen.seen())
                .query((row, n) -> row.getTimestamp(1).toInstant())
                .optional();
    }

    /** Returns the evidence by project; that of null has only the findings of whole runs. */
    private Map<@Nullable String, Evidence> evidence(Sight seen, int siteId, Instant then) {
        Map<@Nullable String, Evidence> found = new HashMap<>();
        jdbc.sql((seen.ofEverything() ? OF_ALL : OF_SOME) + """
                        , by_method as (
                            select project_id, method, count(*) as receipts, min(verified_at) as first_verified_at,
                                   max(verified_at) as last_verified_at, sum(readings) as readings, max(read_at) as last_read_at,
                                   min(greatest(read_at, verified_at)) as least_recently_read_at
                            from known
                            group by project_id, method
                        ), proven as (
                            select project_id, sum(receipts) as receipts, min(first_verified_at) as first_verified_at,
                                   max(last_verified_at) as last_verified_at, array_agg(method order by method) as methods,
                                   sum(readings) as readings, max(last_read_at) as last_read_at,
                                   min(least_recently_read_at) as least_recently_read_at
                            from by_method
                            group by project_id
                        ), rehearsed as (
                            select s.project_id, count(*) as drills, count(*) filter (where r.state = 'COMPLETE') as drills_complete,
                                   max(r.ended_at) as last_drill_at,
                                   (array_agg(r.state order by r.ended_at desc, r.restore_id desc))[1] as last_drill_state
                            from drill d join restore r using (restore_id) join seen s using (experiment_id)
                            where r.site_id = :site and r.ended_at <= :at and r.state in ('COMPLETE', 'FINDINGS', 'FAILED')
                            group by s.project_id
                        ), damaged as (
                            select s.project_id, count(*) filter (where d.kind = 'MISSING') as copies_missing,
                                   count(*) filter (where d.kind <> 'MISSING') as copies_damaged
                            from damage d join seen s using (experiment_id)
                            where d.site_id = :site and d.found_at <= :at
                              and not exists (select from receipt r
                                              where r.experiment_id = d.experiment_id and r.site_id = d.site_id
                                                and r.receipt_id > d.receipt_id and r.verified_at <= :at
                                                and lowest_of(r.entry_nos) <= d.entry_no and highest_of(r.entry_nos) >= d.entry_no
                                                and d.entry_no = any(r.entry_nos))
                            group by s.project_id
                        ), of_experiment as (
                            select experiment_id, count(*) as findings
                            from standing
                            where run_id in (select run_id from run where site_id = :site)
                              and finding_id not in (select finding_id from acknowledgement where acknowledged_at <= :at)
                            group by experiment_id
                        ), open_finding as (
                            select p.project_id, sum(findings) as findings
                            from of_experiment left join experiment e using (experiment_id) left join project p using (project_id)
                            where in_sight(:seen, p.code)
                            group by p.project_id
                        )
                        select p.code as project, coalesce(receipts, 0) as receipts, first_verified_at, last_verified_at,
                               coalesce(methods, '{}') as methods, coalesce(readings, 0) as readings, last_read_at,
                               least_recently_read_at, coalesce(drills, 0) as drills, coalesce(drills_complete, 0) as drills_complete,
                               last_drill_at, last_drill_state, coalesce(copies_missing, 0) as copies_missing,
                               coalesce(copies_damaged, 0) as copies_damaged, coalesce(findings, 0) as findings
                        from (select project_id, code from project where in_sight(:seen, code) union all select null, null) p
                        left join proven using (project_id) left join rehearsed using (project_id) left join damaged using (project_id)
                        left join open_finding f on f.project_id is not distinct from p.project_id
                        """)
                .param("seen", seen.seen())
                .param("site", siteId)
                .param("at", Timestamp.from(then))
                .query(row -> {
                    found.put(row.getString("project"), EVIDENCE.mapRow(row, 0));
                });
        return found;
    }

    /** Counts the files that are lost now and had been found damaged then; none of them can have been whole since. */
    private long lost(Sight seen, Instant then) {
        return jdbc.sql("""
                        select count(*) from loss l join experiment e using (experiment_id) join project p using (project_id)
                        where l.found_at <= :at and in_sight(:seen, p.code)
                        """)
                .param("seen", seen.seen())
                .param("at", Timestamp.from(then))
                .query(Long.class)
                .single();
    }

    private LedgerThen ledger(Instant then) {
        Optional<ChainRow> head =
                jdbc.sql("""
                        select seq, encode(hash, 'hex') as hash, at from ledger where at <= :at and octet_length(hash) = 32
                        order by at desc, seq desc limit 1
                        """).param("at", Timestamp.from(then)).query(ROW).optional();
        Verification verification = ledger.lastVerification().orElse(null);
        return new LedgerThen(head.orElse(null), head.isPresent() && clockChanged(head.get(), then), verification);
    }

    /** NB: counted, so that the planner takes the index of the ledger's order: it reads only rows about that moment. */
    private boolean clockChanged(ChainRow head, Instant then) {
        return jdbc.sql("""
                        select count(*) > 0 from ledger where (seq < :head and at > :at) or (seq > :head and at <= :at)
                        """)
                .param("head", head.seq())
                .param("at", Timestamp.from(then))
                .query(Boolean.class)
                .single();
    }

    private Optional<ChainRow> lastAnchor(String site, Instant then) {
        return jdbc.sql("""
                        select (detail ->> 'seq')::bigint as seq, detail ->> 'hash' as hash, at
                        from ledger
                        where subject = :site and action = 'ledger.anchored' and at <= :at and detail ->> 'seq' ~ '^[0-9]{1,18}$'
                        order by ledger.seq desc limit 1
                        """)
                .param("site", site)
                .param("at", Timestamp.from(then))
                .query(ROW)
                .optional();
    }

    private Certified certified(Sight seen, Instant then) {
        List<CertificateKey> keys = jdbc.sql("""
                        select subject as fingerprint, at as introduced_at from ledger
                        where action = 'key.introduced' and detail ->> 'purpose' = 'certificates' and at <= :at
                        order by seq
                        """)
                .param("at", Timestamp.from(then))
                .query(Rows.of(CertificateKey.class))
                .list();
        List<Certificate> latest = certificates(seen, then);
        long count = latest.size() < CERTIFICATES_SHOWN ? latest.size() : certificatesCount(seen, then);
        return new Certified(count, keys, latest);
    }

    private List<Certificate> certificates(Sight seen, Instant then) {
        return jdbc.sql("""
                        select subject as manifest, detail ->> 'site' as site, at as issued_at,
                               detail ->> 'certificate_sha256' as sha256, detail ->> 'key' as key
                        from ledger
                        where action = 'certificate.issued' and at <= :at and in_sight(:seen, split_part(subject, '/', 1))
                        order by seq desc limit :limit
                        """)
                .param("seen", seen.seen())
                .param("at", Timestamp.from(then))
                .param("limit", CERTIFICATES_SHOWN)
                .query(Rows.of(Certificate.class))
                .list();
    }

    private long certificatesCount(Sight seen, Instant then) {
        return jdbc.sql("""
                        select count(*) from ledger
                        where action = 'certificate.issued' and at <= :at and in_sight(:seen, split_part(subject, '/', 1))
                        """)
                .param("seen", seen.seen())
                .param("at", Timestamp.from(then))
                .query(Long.class)
                .single();
    }
}
