-- Claims are leases (ADR 0054): a unit that is being sent bears the number of its worker, and the worker's lease says until when
-- nobody else may take it over. Numbers only grow: who comes later has the higher one, and what an earlier one still reports counts no more.

create table run_worker (
    worker_id bigint generated always as identity primary key,
    run_id bigint not null references run,
    host text not null,
    began_at timestamptz not null,
    lease_until timestamptz not null
);
comment on table run_worker is 'A process that sends for a run, from its start or restart on.';
comment on column run_worker.lease_until is 'By the database''s clock. Later than that, others may take over what it has claimed.';
create index run_worker_run on run_worker (run_id);

alter table transfer_unit add column worker_id bigint references run_worker;
comment on column transfer_unit.worker_id is 'Who has claimed it last; while it is PLANNED, who is sending it. Null: nobody yet.';
comment on column transfer_unit.attempts is 'How often it was claimed.';

alter table transfer_unit add column turn integer not null default 0;
comment on column transfer_unit.turn is 'Of a partition, units with a lower one are sent first.';

drop index transfer_unit_planned;
create index transfer_unit_free on transfer_unit (run_id, partition_no, turn, unit_id) where state = 'PLANNED' and worker_id is null;
create index transfer_unit_claimed on transfer_unit (run_id, worker_id) where state = 'PLANNED' and worker_id is not null;

alter table run add column looked_after integer not null default 0;
alter table run add column looked_at timestamptz;
comment on column run.looked_after is 'A backup has looked at all experiments up to this one: a restart goes on behind it.';
comment on column run.looked_at is 'When a backup had looked at all its experiments: nothing more will be planned. Null: not yet.';

-- What a settling needs to know of the last one, so that it does again only what may be otherwise since.
alter table protection add column tags_unknown boolean not null default false;
comment on column protection.tags_unknown is
    'Whether the bag''s tag files may not be those in tag_file: they are being written, whoever wrote them died, or they were found altered.';
alter table protection add column settled_unit bigint not null default 0;
comment on column protection.settled_unit is 'The highest unit of the experiment at the site when its bag was settled last.';
create index transfer_unit_of_experiment on transfer_unit (experiment_id, site_id, unit_id);

create index protection_unsettled on protection (site_id, experiment_id) where unsettled;
