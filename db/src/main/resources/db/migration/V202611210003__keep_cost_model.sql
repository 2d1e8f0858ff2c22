-- What sending to a site costs (ADR 0018): after each run that sent enough, what it sent and how long that took, and the
-- constants that were fitted to this and earlier measurements. The last row of a site is what plans and forecasts use.

create table cost_model (
    cost_model_id bigint generated always as identity primary key,
    site_id integer not null references site,
    run_id bigint not null references run,
    measured_at timestamptz not null,
    bytes bigint not null check (bytes >= 0),
    entries bigint not null check (entries >= 1),
    lanes integer not null check (lanes between 1 and 64),
    seconds double precision not null check (seconds > 0 and seconds < 'infinity'),
    bytes_per_second double precision not null check (bytes_per_second between 1e3 and 1e12),
    seconds_per_entry double precision not null check (seconds_per_entry between 0 and 3600),
    measurements integer not null check (measurements >= 1)
);

comment on table cost_model is
    'What sending cost once, and what follows from it and earlier ones: seconds of one lane = bytes / rate + entries × cost.';
comment on column cost_model.measured_at is 'When the sending ended that was measured.';
comment on column cost_model.lanes is 'How many were open at its end.';
comment on column cost_model.measurements is 'To how many measurements, this one and those before, the constants are fitted.';

create index cost_model_site on cost_model (site_id, cost_model_id desc);
