create view loss as
select d.experiment_id, d.entry_no, x.kind, x.size_bytes, min(d.found_at) as found_at
from open_damage d
join ended_entry x using (experiment_id, entry_no)
where x.kind <> 'd'
  and not exists (select from proven_entry p
                  where p.experiment_id = d.experiment_id and p.entry_no = d.entry_no
                    and lowest_of(p.entry_nos) <= d.entry_no and highest_of(p.entry_nos) >= d.entry_no)
group by d.experiment_id, d.entry_no, x.kind, x.size_bytes;
comment on view loss is
    'Files and links that were proven once and are lost: no site has an undamaged copy, and the source no longer has them.';
