package dozo.ledger;

import java.sql.Timestamp;
import java.time.Instant;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Which findings a run supersedes: those of earlier runs to its site, if it has checked their items again. Before a run completes,
 * a newer fact ends a finding about the site or a run as a whole, and about damage that is repaired. Problems that
 * it found again have it as their last run, and stand. Findings whose items it has not checked stay open, as do those
 * that are reported only once (ADR 0030). A replication looks at no source, and no other run looks at the site that a
 * replication has read (ADR 0073). A file that is not whole stays so until it is another one, or the files that belong to it are. One
 * that differs at home stays so until it is another one, or a home scrub has read it as it was sent (ADR 0108); one that differs in its
 * origin, until a night has checked it there. A night of a part
 * checks again what concerns no experiment only for an earlier night of the same part (ADR 0078). A rebuild looks again only at copies whose state an earlier one could not find out.
 */
public final class Supersession {

    private Supersession() {}

    /**
     * Ends what a check has refuted that found a site usable: another host key, and no answer. Also that the site cannot be used, if
     * a run said so that had not found it usable itself: what a run finds later, such as a wrong digest, is no matter of such a check.
     * A replication may say so of the site that it reads, so what it said stays.
     *
     * @param lastRun the site's last run that had ended when the check began; what later ones found stays open
     * @param now when the check has ended
     * @param mounted whether what is stored there was seen as well: only that refutes what a scrub said
     */
    public static void usable(JdbcClient jdbc, int siteId, long lastRun, Instant now, boolean mounted) {
        jdbc.sql("""
                        update finding f set superseded_at = :now, superseded_by = (select max(run_id) from run where site_id = :site)
                        from run r
                        where r.run_id = f.last_run_id and r.site_id = :site and f.superseded_by is null and f.experiment_id is null
                          and f.last_run_id <= :last and r.from_site_id is null
                          and (f.reason in ('SITE_KEY_CHANGED', 'SITE_UNREACHABLE')
                               or f.reason = 'SITE_UNUSABLE' and (r.kind = 'scrub') = :mounted
                                  and not exists (
                                          select from batch_job_execution_params p
                                          join batch_step_execution s using (job_execution_id)
                                          where p.parameter_name = 'run' and p.parameter_value = r.run_id::text
                                            and s.step_name in ('checkSite', 'checkSiteToRead') and s.status = 'COMPLETED'))
                        """)
                .param("site", siteId)
                .param("last", lastRun)
                .param("now", Timestamp.from(now))
                .param("mounted", mounted)
                .update();
    }

    /** Returns the last run to a site that has ended; 0: none has. */
    public static long lastRun(JdbcClient jdbc, int siteId) {
        return jdbc.sql("select coalesce(max(run_id), 0) from run where site_id = :site and ended_at is not null")
                .param("site", siteId)
                .query(Long.class)
                .single();
    }

    /** Ends that the site of a run is full: the run has stored and verified a file there since. */
    static void stored(JdbcClient jdbc, long runId, Instant now) {
        jdbc.sql("""
                        update finding f set superseded_at = :now, superseded_by = now.run_id
                        from run now, run earlier
                        where now.run_id = :run and earlier.run_id = f.run_id and earlier.site_id = now.site_id
                          and f.reason = 'SITE_FULL' and f.last_run_id < now.run_id and f.superseded_by is null
                        """).param("run", runId).param("now", Timestamp.from(now)).update();
    }

    /**
     * Ends what the end of a run refutes, however it ended: that the run before it failed, unless nobody knows why this one
     * failed; and damage found by a scrub that has been repaired since.
     */
    static void ended(JdbcClient jdbc, long runId) {
        jdbc.sql("""
                        update finding f set superseded_by = now.run_id
                        from run now, run earlier
                        where now.run_id = :run and earlier.run_id = f.run_id and earlier.site_id = now.site_id
                          and f.last_run_id < now.run_id and f.superseded_by is null
                          and case
                              when f.reason = 'RUN_FAILED' then
                                  (now.state <> 'FAILED'
                                   or exists (select from finding o where o.last_run_id = now.run_id and o.experiment_id is null
                                                and o.reason in ('SITE_KEY_CHANGED', 'SITE_FULL', 'SITE_UNREACHABLE', 'SITE_UNUSABLE')))
                                  and (now.kind in ('scrub', 'homeScrub') and earlier.kind = now.kind
                                       or now.kind = 'nightlyBackup' and earlier.kind not in ('scrub', 'homeScrub')
                                          and (num_nonnulls(now.part_project_id, now.part_origin_id) = 0
                                               or (now.part_project_id, now.part_origin_id)
                                                   is not distinct from (earlier.part_project_id, earlier.part_origin_id)))
                              when f.reason in ('DAMAGED', 'MISSING', 'NOT_HELD') then
                                  now.kind <> 'scrub' and earlier.kind = 'scrub' and f.experiment_id is not null
                                  and not exists (select from open_damage d
                                                  where d.experiment_id = f.experiment_id and d.site_id = now.site_id)
                              else false
                          end
                        """).param("run", runId).update();
    }

    /** Marks what a run supersedes that has completed, besides what its end refutes. */
    static void by(JdbcClient jdbc, long runId) {
        jdbc.sql("""
                        with broken as (
                            select e.experiment_id, entry_path(d.path, e.name) as path, e.until_manifest is null and not exists (
                                       select from content l
                                       where l.experiment_id = c.experiment_id and l.content_id > c.content_id
                                         and l.state not in ('BROKEN', 'UNKNOWN') and n.entry_no = any(l.entry_nos)) as holds
                            from content c cross join lateral unnest(c.entry_nos) as n (entry_no)
                            join entry_version e on e.experiment_id = c.experiment_id and e.entry_no = n.entry_no
                            join directory d on d.experiment_id = e.experiment_id and d.directory_no = e.directory_no
                            where c.state = 'BROKEN'
                        ), at_home as (
                            select e.experiment_id, entry_path(d.path, e.name) as path, e.until_manifest is null and coalesce(h.again, true) as stands
                            from home_damage x
                            join entry_version e on e.experiment_id = x.experiment_id and e.entry_no = x.entry_no
                            join directory d on d.experiment_id = e.experiment_id and d.directory_no = e.directory_no
                            left join home_reading h
                              on h.experiment_id = x.experiment_id and x.entry_no between h.first_entry_no and h.last_entry_no
                        )
                        update finding f set superseded_by = now.run_id
                        from run now, run earlier
                        where now.run_id = :run and earlier.run_id = f.run_id and earlier.site_id = now.site_id
                          and f.last_run_id < now.run_id and f.superseded_by is null and f.reason <> 'SITE_CHANGED'
                          and case
                              when f.reason = 'BROKEN' then
                                  -- A rebuilt catalogue does not know which entry it was.
                                  exists (select from broken b where b.experiment_id = f.experiment_id and b.path = f.path)
                                  and not exists (
                                          select from broken b
                                          where b.experiment_id = f.experiment_id and b.path = f.path and b.holds)
                              when f.reason = 'ORIGIN_DIFFERS' then
                                  not exists (select from origin_damage d
                                              where d.experiment_id = f.experiment_id and d.found_digest is not null
                                                and (f.path is null or d.path = f.path))
                              when earlier.kind = 'homeScrub' and f.path is null then
                                  now.kind = 'homeScrub'
                                  and not exists (select from home_reading h where h.experiment_id = f.experiment_id and h.again)
                              when earlier.kind = 'homeScrub' then
                                  exists (select from at_home h where h.experiment_id = f.experiment_id and h.path = f.path)
                                  and not exists (
                                          select from at_home h
                                          where h.experiment_id = f.experiment_id and h.path = f.path and h.stands)
                              when now.kind = 'homeScrub' then false
                              when now.kind <> 'scrub' and earlier.kind = 'replication' and f.experiment_id is not null then
                                  now.kind = 'replication' and exists (
                                          select from run_experiment c
                                          where c.run_id = now.run_id and c.experiment_id = f.experiment_id)
                                  or exists (select from protection p
                                             where p.experiment_id = f.experiment_id and p.site_id = now.site_id
                                               and p.entries = p.entries_safe)
                              when now.kind = 'replication' and earlier.kind <> 'scrub' then
                                  f.reason in ('SOURCE_DIFFERS', 'MISMATCHED', 'SITE_REFUSED', 'UNPROVEN', 'UNSETTLED')
                                  and exists (select from run_experiment c
                                              where c.run_id = now.run_id and c.experiment_id = f.experiment_id)
                              when now.kind = 'rebuild' then
                                  earlier.kind = 'rebuild' and f.reason = 'UNPROVEN'
                              when now.kind <> 'scrub' and earlier.kind <> 'scrub' then
                                  exists (
                                          select from run_included i
                                          where i.run_id = now.run_id and i.experiment_id = f.experiment_id and i.living)
                                  or f.experiment_id is null and now.kind = 'nightlyBackup'
                                     and (num_nonnulls(now.part_project_id, now.part_origin_id) = 0
                                          or (now.part_project_id, now.part_origin_id)
                                              is not distinct from (earlier.part_project_id, earlier.part_origin_id))
                              when now.kind <> 'scrub' or earlier.kind <> 'scrub' then false
                              when f.experiment_id is null or f.reason in ('DAMAGED', 'MISSING', 'NOT_HELD') then true
                              when f.reason = 'UNPROVEN' then
                                  not exists (select from stored s
                                              where s.experiment_id = f.experiment_id and s.site_id = now.site_id
                                                and s.last_read_at <= f.last_found_at)
                              else
                                  exists (select from protection p
                                          where p.experiment_id = f.experiment_id and p.site_id = now.site_id
                                            and p.examined_at > f.last_found_at)
                          end
                        """).param("run", runId).update();
    }
}
