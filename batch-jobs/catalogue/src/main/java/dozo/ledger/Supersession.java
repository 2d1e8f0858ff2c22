package dozo.ledger;

import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Which findings a run supersedes: those of earlier runs to its site, if it has checked their items again. Problems that
 * it found again have it as their last run, and stand. Findings whose items it has not checked stay open, as do those
 * that are reported only once (ADR 0030). A replication looks at no source, and no other run looks at the site that a
 * replication has read (ADR 0073). A night of a part checks again what concerns no experiment only for an earlier night
 * of the same part (ADR 0078).
 */
final class Supersession {

    private Supersession() {}

    /** Marks what an ended run supersedes. */
    static void by(JdbcClient jdbc, long runId) {
        jdbc.sql("""
                        update finding f set superseded_by = now.run_id
                        from run now, run earlier
                        where now.run_id = :run and earlier.run_id = f.run_id and earlier.site_id = now.site_id
                          and f.last_run_id < now.run_id and f.superseded_by is null and f.reason <> 'SITE_CHANGED'
                          and case
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
                              when now.kind <> 'scrub' and earlier.kind <> 'scrub' then
                                  now.kind <> 'rebuild' and exists (
                                          select from run_included i
                                          where i.run_id = now.run_id and i.experiment_id = f.experiment_id and i.living)
                                  or f.experiment_id is null and now.kind = 'nightlyBackup'
                                     and (num_nonnulls(now.part_project_id, now.part_origin_id) = 0
                                          or (now.part_project_id, now.part_origin_id)
                                              is not distinct from (earlier.part_project_id, earlier.part_origin_id))
                              when now.kind <> 'scrub' then
                                  f.reason in ('DAMAGED', 'MISSING')
                                  and not exists (select from open_damage d
                                                  where d.experiment_id = f.experiment_id and d.site_id = now.site_id)
                              when earlier.kind <> 'scrub' then false
                              when f.experiment_id is null or f.reason in ('DAMAGED', 'MISSING') then true
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
