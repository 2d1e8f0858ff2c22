-- What `dozo tune` has measured at each site (ADR 0077).
create table site_tuning (
    site_id integer primary key references site,
    measured_at timestamptz not null,
    measured_by text not null,
    cell_lanes integer[] not null check (cardinality(cell_lanes) > 0),
    cell_channels integer[] not null check (cardinality(cell_channels) = cardinality(cell_lanes)),
    cell_bytes_per_second double precision[] not null check (cardinality(cell_bytes_per_second) = cardinality(cell_lanes)),
    lanes integer not null check (lanes > 0),
    channels integer not null check (channels > 0),
    bytes_per_second double precision not null check (bytes_per_second > 0)
);
comment on table site_tuning is
    'The last measurement of a site with made-up data: the rate with each number of SSH connections (lanes) and of channels on each, and '
    'the choice that followed from it. Runs begin with that choice for 90 days.';
