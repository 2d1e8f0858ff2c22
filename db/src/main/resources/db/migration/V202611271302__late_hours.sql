-- A project may say how long its data may wait for its copy.
alter table project add column late_hours integer check (late_hours between 1 and 87840);
comment on column project.late_hours is 'How long its data may wait for the second copy, in hours; null: as long as the setting says.';

drop function risks(integer, timestamptz);
create function risks(at_site integer, at timestamptz, usual interval)
    returns table (experiment_id integer, risk risk)
    language sql stable parallel safe
begin atomic
    select l.experiment_id, 'LOST'::risk from loss l
    union all
    select d.experiment_id, 'DAMAGED' from open_damage d where d.site_id = at_site
    union all
    select f.experiment_id, 'FROZEN' from frozen_experiment f where f.ended_at is null and f.released_at is null
    union all
    select p.experiment_id, 'LATE'
    from protection p join experiment e on e.experiment_id = p.experiment_id join project j on j.project_id = e.project_id
    where p.site_id = at_site and p.entries = p.entries_safe is false
      and p.unprotected_since < at - coalesce(make_interval(hours => j.late_hours), usual)
    union all
    select f.experiment_id,
           case when f.reason in ('DAMAGED', 'MISSING') then 'DAMAGED'
                when f.reason in ('SOURCE_MISSING', 'SOURCE_EMPTY') then 'SOURCE_MISSING'
                else 'BLOCKED' end::risk
    from finding f join run r using (run_id)
    where f.superseded_by is null and f.experiment_id is not null and r.site_id = at_site
      and f.reason in ('DAMAGED', 'MISSING', 'SOURCE_MISSING', 'SOURCE_EMPTY', 'LIST_OLD', 'UNPARSED', 'UNREADABLE', 'MISMATCHED',
                       'UNPROVEN', 'SITE_REFUSED', 'SOURCE_DIFFERS')
      -- Without a manifest, a missing source has not arrived yet.
      and (f.reason not in ('SOURCE_MISSING', 'SOURCE_EMPTY')
           or exists (select from protection p where p.experiment_id = f.experiment_id and p.site_id = at_site))
      and not exists (select from acknowledgement a where a.finding_id = f.finding_id);
end;
comment on function risks is
    'What is wrong with which experiments at a site: data is lost or damaged, the experiment is frozen, its source is missing, some of '
    'it has waited for its copy longer than its project allows, or usual if the project says nothing, or a finding that nobody has '
    'acknowledged says that some of it gets no copy without help. An experiment can have several rows.';
