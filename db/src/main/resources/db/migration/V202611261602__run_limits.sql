create table run_limit (
    run_id bigint not null references run,
    name text not null,
    seconds double precision not null check (seconds > 0),
    primary key (run_id, name)
);
comment on table run_limit is 'For how long each of the possible bottlenecks was the one of a run, by one look a second.';
