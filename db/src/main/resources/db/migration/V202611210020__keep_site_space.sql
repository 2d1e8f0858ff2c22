-- How much room a site had, day by day, so that somebody can be told when it will be full. A row a day, the last look of it; the
-- rows of a site that are older than two years are removed when another is added.

create table site_space (
    site_id integer not null references site,
    day date not null,
    seen_at timestamptz not null,
    total_bytes bigint not null check (total_bytes > 0),
    free_bytes bigint not null check (free_bytes between 0 and total_bytes),
    primary key (site_id, day)
);

comment on table site_space is 'Room at a site as the last look of each day found it.';
comment on column site_space.day is 'Of UTC.';
comment on column site_space.free_bytes is 'Free for us, not counting what is kept back for root.';
