create type risk as enum ('LOST', 'DAMAGED', 'FROZEN', 'SOURCE_MISSING', 'LATE', 'BLOCKED');
comment on type risk is 'What is wrong with an experiment at a site; the gravest is first.';

-- Whether an experiment is at risk is asked here and nowhere else.
create function risks(at_site integer, late_since timestamptz)
    returns table (experiment_id integer, risk risk)
    language sql stable parallel safe
begin atomic
    select l.experiment_id, 'LOST'::risk from loss l
    union all
    select d.experiment_id, 'DAMAGED' from open_damage d where d.site_id = at_site
    union all
    select f.experiment_id, 'FROZEN' from frozen_experiment f where f.ended_at is null and f.released_at is null
    union all
    select p.experiment_id, 'LATE' from protection p
    where p.site_id = at_site and p.entries = p.entries_safe is false and p.unprotected_since < late_since
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
    'it has waited for its copy since before late_since, or a finding that nobody has acknowledged says that some of it gets no copy '
    'without help. An experiment can have several rows.';
