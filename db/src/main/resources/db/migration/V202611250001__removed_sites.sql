alter table site add column removed_at timestamptz;
comment on column site.removed_at is
    'When a person removed the site, although runs had used it: it gets no more runs and is counted nowhere, but evidence still refers '
    'to it. Its name is never used again.';

create or replace view loss as
select d.experiment_id, d.entry_no, x.kind, x.size_bytes, min(d.found_at) as found_at
from open_damage d
join ended_entry x using (experiment_id, entry_no)
where x.kind <> 'd'
  and not exists (select from proven_entry p join site s using (site_id)
                  where p.experiment_id = d.experiment_id and p.entry_no = d.entry_no
                    and lowest_of(p.entry_nos) <= d.entry_no and highest_of(p.entry_nos) >= d.entry_no
                    and s.removed_at is null)
group by d.experiment_id, d.entry_no, x.kind, x.size_bytes;
