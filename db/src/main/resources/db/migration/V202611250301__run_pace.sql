-- How fast a run went, so that its chart is still there when the run has ended.
create table run_pace (
    run_id bigint not null references run,
    began_at timestamptz not null,
    seconds double precision not null check (seconds > 0),
    bytes bigint not null check (bytes >= 0),
    entries bigint not null check (entries >= 0),
    primary key (run_id, began_at)
);
comment on table run_pace is
    'What a run moved in one interval after the other, of all projects; at most a few hundred rows a run. There is no row for times in '
    'which no process worked on it.';
comment on column run_pace.bytes is 'Of a backup, what its engine sent, verified or not; of a scrub, what was read.';
comment on column run_pace.entries is 'Files, folders and links that were proven; of a scrub, those that were read.';
