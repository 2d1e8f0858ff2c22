create table run_forecast (
    run_id bigint primary key references run,
    made_at timestamptz not null,
    until_at timestamptz not null,
    nights integer not null check (nights >= 0),
    experiments integer not null check (experiments >= 0),
    unknown integer not null check (unknown >= 0),
    bytes bigint not null check (bytes >= 0),
    bytes_low bigint not null,
    bytes_middle bigint not null,
    bytes_high bigint not null,
    experiments_low integer not null,
    experiments_middle integer not null,
    experiments_high integer not null,
    safe_low timestamptz,
    safe_middle timestamptz,
    safe_high timestamptz,
    bytes_verified bigint,
    experiments_safe integer,
    constraint run_forecast_outcome_check check ((bytes_verified is null) = (experiments_safe is null))
);
comment on table run_forecast is
    'What a night was expected to have verified by until_at, the end of its window, made when it began. Low and high: a range of 80 %.';
comment on column run_forecast.nights is 'How many earlier nights were measured.';
comment on column run_forecast.experiments is 'Those that were not safe, with bytes; without those of which no size was known.';
comment on column run_forecast.unknown is 'Experiments that were never read, in a site where none was: no size is expected of them.';
comment on column run_forecast.safe_middle is 'When all are safe; null: later than what was looked at.';
comment on column run_forecast.bytes_verified is
    'Of these experiments by until_at, with experiments_safe; null: until_at has not passed, or no service has looked since.';

create table run_forecast_experiment (
    run_id bigint not null references run_forecast,
    experiment_id integer not null references experiment,
    position integer not null check (position >= 0),
    bytes bigint not null check (bytes >= 0),
    estimated boolean not null,
    probability double precision not null check (probability between 0 and 1),
    safe_at timestamptz,
    deleted_at timestamptz,
    deleted_probability double precision not null check (deleted_probability between 0 and 1),
    safe boolean,
    primary key (run_id, experiment_id)
);
comment on table run_forecast_experiment is 'The forecast for each experiment, in the order in which they were to be sent.';
comment on column run_forecast_experiment.probability is 'That it is safe by the end of the window.';
comment on column run_forecast_experiment.deleted_at is 'When its scanner deletes it; null: not known to.';
comment on column run_forecast_experiment.deleted_probability is 'That it is deleted before it is safe.';
comment on column run_forecast_experiment.safe is 'Whether it was safe by the end of the window; null: not compared yet.';
