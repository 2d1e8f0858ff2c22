-- Why the number of SSH connections and channels of a run changed (ADR 0077).
create table run_tuning (
    run_id bigint not null references run,
    decided_at timestamptz not null,
    lanes integer not null check (lanes > 0),
    channels integer not null check (channels > 0),
    bytes_per_second double precision check (bytes_per_second > 0),
    reason text not null,
    primary key (run_id, decided_at)
);
comment on table run_tuning is
    'The decisions about the number of SSH connections (lanes) and of channels on each, in the order of time; at most 500 a run.';
comment on column run_tuning.bytes_per_second is 'The rate that the decision follows from; null if nothing had been measured.';
