-- A newer fact ends a finding about a site or a run, before a run completes and supersedes it (ADR 0030).
alter table finding add column superseded_at timestamptz;
comment on column finding.superseded_at is
    'When a newer fact ended it: the site could be used, or a file was stored there; null: superseded_by ended it at its end.';

-- A unit fails if one of its entries gets no receipt; the others are verified nevertheless, and a run's progress counts them.
alter table transfer_unit
    add column bytes_proven bigint not null default 0 check (bytes_proven >= 0),
    add column entries_proven integer not null default 0 check (entries_proven >= 0);
comment on column transfer_unit.bytes_proven is 'Of a failed unit, the bytes of its entries that got a receipt; of any other, 0.';
comment on column transfer_unit.entries_proven is 'How many entries these are.';

-- What is repaired is not damaged any more, also while the run that repairs it goes on or after it was stopped.
create or replace function risks(at_site integer, at timestamptz, usual interval)
    returns table (experiment_id integer, risk risk)
    language sql stable parallel safe
begin atomic
    select l.experiment_id, 'LOST'::risk from loss l
    union all
    select d.experiment_id, 'DAMAGED' from open_damage d where d.site_id = at_site
    union all
    select f.experiment_id, 'FROZEN'
    from frozen_experiment f join living_experiment e on e.experiment_id = f.experiment_id
    where f.ended_at is null and f.released_at is null
    union all
    select p.experiment_id, 'LATE'
    from protection p join living_experiment e on e.experiment_id = p.experiment_id join project j on j.project_id = e.project_id
    where p.site_id = at_site and p.entries = p.entries_safe is false
      and p.unprotected_since < at - coalesce(make_interval(hours => j.late_hours), usual)
    union all
    select f.experiment_id,
           case when f.reason in ('DAMAGED', 'MISSING') then 'DAMAGED'
                when f.reason in ('SOURCE_MISSING', 'SOURCE_EMPTY') then 'SOURCE_MISSING'
                else 'BLOCKED' end::risk
    from finding f join run r using (run_id) join experiment e on e.experiment_id = f.experiment_id
    where f.superseded_by is null and r.site_id = at_site and not is_over(e.retired_at, r.kind, null)
      and f.reason in ('DAMAGED', 'MISSING', 'SOURCE_MISSING', 'SOURCE_EMPTY', 'LIST_OLD', 'UNPARSED', 'UNREADABLE', 'MISMATCHED',
                       'UNPROVEN', 'SITE_REFUSED', 'SOURCE_DIFFERS')
      -- Damage that a scrub has found is told above while it is not repaired.
      and (f.reason not in ('DAMAGED', 'MISSING') or r.kind <> 'scrub')
      -- Without a manifest, a missing source has not arrived yet.
      and (f.reason not in ('SOURCE_MISSING', 'SOURCE_EMPTY')
           or exists (select from protection p where p.experiment_id = f.experiment_id and p.site_id = at_site))
      and not exists (select from acknowledgement a where a.finding_id = f.finding_id);
end;
