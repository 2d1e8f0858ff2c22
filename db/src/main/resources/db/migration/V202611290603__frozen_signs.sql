-- What a look saw when it froze an experiment: the only moment when comparing costs nothing more (ADR 0019).

alter table frozen_experiment add column signs jsonb, add column looked_at timestamptz;

comment on column frozen_experiment.signs is
    'What the last look saw: counts, new suffixes, repeated new names, and what a sample of changed and new files contains; null: it froze before this was kept, or it could not be kept';
comment on column frozen_experiment.looked_at is 'When the last look found it frozen; null: it froze before this was kept';

create table frozen_change (
    freeze_id bigint not null references frozen_experiment,
    change_no integer not null check (change_no > 0),
    kind text not null check (kind in ('GONE', 'CHANGED', 'NEW')),
    path bytea not null,
    bytes_before bigint,
    bytes_after bigint,
    primary key (freeze_id, change_no)
);

comment on table frozen_change is
    'What vanished, changed or came in a frozen experiment, as of the last look: the first of each kind by path. Gone when the freeze ends';
comment on column frozen_change.bytes_before is 'null: it was no file';
comment on column frozen_change.bytes_after is 'null: it is no file now';
