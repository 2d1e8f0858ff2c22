-- A backup of experiments that a person has named. It has its experiments as a retry has them, and counts as no night.

alter table run
    drop constraint run_kind_check,
    add constraint run_kind_check check (kind in ('nightlyBackup', 'retry', 'chosen', 'replication', 'scrub', 'rebuild'));
comment on table run_experiment is
    'The experiments that a retry, a chosen backup or a replication goes through, and no others; a night goes through all there are.';

create or replace view run_included as
select r.run_id, e.experiment_id, e.retired_at is null or r.kind = 'replication' as living
from run r
join experiment e on r.part_project_id is null or e.project_id = r.part_project_id
where (r.part_origin_id is null
       or exists (select from arrival a where a.experiment_id = e.experiment_id and a.origin_id = r.part_origin_id))
  and (r.kind not in ('retry', 'chosen', 'replication')
       or exists (select from run_experiment c where c.run_id = r.run_id and c.experiment_id = e.experiment_id));

-- What a run has of each experiment is asked while it goes on, also when it has millions of units.
drop index transfer_unit_run;
create index transfer_unit_run on transfer_unit (run_id, experiment_id, state);
