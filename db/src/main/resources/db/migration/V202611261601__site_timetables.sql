create table site_timetable (
    site_id integer primary key references site,
    rules text[] not null check (cardinality(rules) > 0)
);
comment on table site_timetable is
    'When runs may use a site and how fast: rules for the days of a week in local time. A site without a row has no limit.';
