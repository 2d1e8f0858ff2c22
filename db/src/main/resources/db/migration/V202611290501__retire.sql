-- What is over is said by a person, with a reason, and can be undone (ADR 0102).

alter table experiment
    add column retired_at timestamptz,
    add column retired_by text check (retired_by <> ''),
    add column retired_reason text check (length(retired_reason) between 1 and 200 and retired_reason !~ '[[:cntrl:]]'),
    add column retired_unsafe text,
    add column retired_with_project boolean not null default false,
    add check (num_nulls(retired_at, retired_by, retired_reason) in (0, 3)),
    add check (retired_at is not null or (retired_unsafe is null and not retired_with_project));
comment on column experiment.retired_at is 'Since when it is over: its source is not looked at, its copies stay; null: it is a living one.';
comment on column experiment.retired_unsafe is 'What was not verified at which sites when it was retired nevertheless; null: everything was.';
comment on column experiment.retired_with_project is 'Retired because its project was; undoing that brings it back.';

alter table project
    add column retired_at timestamptz,
    add column retired_by text check (retired_by <> ''),
    add column retired_reason text check (length(retired_reason) between 1 and 200 and retired_reason !~ '[[:cntrl:]]'),
    add column retired_unsafe text,
    add check (num_nulls(retired_at, retired_by, retired_reason) in (0, 3)),
    add check (retired_at is not null or retired_unsafe is null);
comment on column project.retired_at is 'Since when it is over: it gets no experiments any more; null: it is a living one.';

alter table scanner
    add column retired_at timestamptz,
    add column retired_by text check (retired_by <> ''),
    add column retired_reason text check (length(retired_reason) between 1 and 200 and retired_reason !~ '[[:cntrl:]]'),
    add check (num_nulls(retired_at, retired_by, retired_reason) in (0, 3));
comment on column scanner.retired_at is 'Since when it is over: nothing is expected from it any more; null: it is in use.';

alter table site
    add column removed_by text,
    add column removed_reason text,
    add column removed_unsafe text;
comment on column site.removed_at is
    'When a person removed or retired the site, although runs had used it: it gets no more runs and is counted nowhere, but evidence '
    'still refers to it. No other site gets its name. Null again if that was undone.';
comment on column site.removed_reason is 'Why it was retired; null: it was removed.';
comment on column site.removed_unsafe is 'What had no other copy when it was retired nevertheless; null: nothing.';

-- The experiments that are not over. What asks about sources, nights, lateness or the share that is safe reads these.
create view living_experiment as
select experiment_id, project_id, code, source_kind, source_root, list_file, scanner, acquired_on, registered_at
from experiment where retired_at is null;
comment on view living_experiment is 'The experiments that nobody has retired. Copies, scrubs, restores and evidence are about all experiments.';

-- Written so that PostgreSQL puts the expression itself into a query.
create function living(retired_at timestamptz, at timestamptz) returns boolean
    language sql immutable parallel safe
    return retired_at is null or retired_at > at;
comment on function living is 'Whether what was retired then was a living one at a moment; null: now.';

create function is_over(experiment_retired_at timestamptz, run_kind text, site_removed_at timestamptz) returns boolean
    language sql immutable parallel safe
    return site_removed_at is not null
        or (experiment_retired_at is not null and run_kind not in ('scrub', 'replication'));
comment on function is_over is
    'Whether a finding needs nobody because its site, or the experiment whose source the run looked at, is over. What scrubs and '
    'replications find is about copies, and stands.';

create or replace view run_included as
select r.run_id, e.experiment_id, e.retired_at is null or r.kind = 'replication' as living
from run r
join experiment e on r.part_project_id is null or e.project_id = r.part_project_id
where (r.part_origin_id is null
       or exists (select from arrival a where a.experiment_id = e.experiment_id and a.origin_id = r.part_origin_id))
  and (r.kind not in ('retry', 'replication')
       or exists (select from run_experiment c where c.run_id = r.run_id and c.experiment_id = e.experiment_id));
comment on column run_included.living is
    'Whether the run goes through it. Of a retired one, only what was sent before is settled; but a replication looks at no source.';

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
      -- Without a manifest, a missing source has not arrived yet.
      and (f.reason not in ('SOURCE_MISSING', 'SOURCE_EMPTY')
           or exists (select from protection p where p.experiment_id = f.experiment_id and p.site_id = at_site))
      and not exists (select from acknowledgement a where a.finding_id = f.finding_id);
end;
comment on function risks is
    'What is wrong with which experiments at a site: data is lost or damaged, the experiment is frozen, its source is missing, some of '
    'it has waited for its copy longer than its project allows, or usual if the project says nothing, or a finding that nobody has '
    'acknowledged says that some of it gets no copy without help. Of a retired one, only what its copies are. An experiment can have '
    'several rows.';
