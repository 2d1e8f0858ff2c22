-- Worker processes on other machines join the service's runs (ADR 0080).

alter table run_worker add column joined boolean not null default false;
alter table run_worker add column version text not null default '';
alter table run_worker add column ended boolean not null default false;
alter table run_worker add column bytes_moved bigint not null default 0;
alter table run_worker add column entries_proven bigint not null default 0;
alter table run_worker add column note text not null default '';
comment on column run_worker.joined is 'A worker process of its own; false: the service, which leads the run';
comment on column run_worker.version is 'Of the program: only workers of the service''s version may join';
comment on column run_worker.ended is 'It has left, or others have taken over what it had claimed: nothing that it reports counts any more';
comment on column run_worker.bytes_moved is 'Content that it has sent, repeated bytes included';
comment on column run_worker.entries_proven is 'Entries of which it has recorded receipts';
comment on column run_worker.note is 'What a person should know about it; empty: nothing';
update run_worker set ended = true where lease_until < now();

alter table transfer_unit add column for_service boolean not null default false;
comment on column transfer_unit.for_service is 'A worker could not prove all of it: the service tries again, and decides what is a finding';

create table offered_look (
    run_id bigint not null references run,
    experiment_id integer not null references experiment,
    turn integer not null,
    worker_id bigint references run_worker on delete cascade,
    for_service boolean not null default false,
    primary key (run_id, experiment_id)
);
comment on table offered_look is 'Sources that workers may read for a run. A row is removed with the result, in one transaction';
comment on column offered_look.turn is 'Of its units: lower ones are sent first';
comment on column offered_look.worker_id is 'Who reads it; null: nobody yet';
comment on column offered_look.for_service is 'A worker could not read all of it, or misses something: the service reads it, and decides';

create table settling (
    run_id bigint not null references run,
    experiment_id integer not null references experiment,
    worker_id bigint not null references run_worker on delete cascade,
    primary key (run_id, experiment_id)
);
comment on table settling is 'Experiments that are being settled, and by whom. A row is removed with the result, in one transaction';
