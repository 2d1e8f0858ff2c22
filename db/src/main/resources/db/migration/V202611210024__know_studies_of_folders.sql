-- Which studies lie in the folders that people register, so that the same study is not taken for another one; and how reading the
-- worklist by itself goes (ADR 0042).

create table experiment_study (
    experiment_id integer not null references experiment,
    study_uid text not null check (study_uid ~ '^[!-~]{1,64}$'),
    noted_at timestamptz not null,
    primary key (experiment_id, study_uid)
);
comment on table experiment_study is
    'Studies that were seen in an experiment''s folder when it was registered, as far as it was looked into.';
create index experiment_study_uid on experiment_study (study_uid);

create table worklist_reading (
    number integer primary key default 1 check (number = 1),
    tried_at timestamptz not null,
    read_at timestamptz,
    failing_since timestamptz,
    message text not null default '' check (length(message) <= 1000),
    booked integer not null default 0,
    changed integer not null default 0,
    unchanged integer not null default 0,
    refused integer not null default 0
);
comment on table worklist_reading is 'How the worklist was read by itself last: one row, or none before the first time.';
comment on column worklist_reading.read_at is 'When it was last read; the counts are of that time. Null: never yet.';
comment on column worklist_reading.failing_since is 'The first time since then that it could not be read; null: it can.';
