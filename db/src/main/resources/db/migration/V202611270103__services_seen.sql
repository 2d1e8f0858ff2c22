-- Every service with this database leaves a sign of life, so that people see who stands by, and that nobody does (ADR 0081).

create table service_seen (
    name text primary key,
    url text not null,
    version text not null,
    seen_at timestamptz not null,
    stopped boolean not null
);
comment on table service_seen is 'The last sign of life of each service, every 5 s while it is active or stands by. Only for people: nothing is decided by it';
comment on column service_seen.url is 'Where people find it in a browser; empty: it is not known';
comment on column service_seen.version is 'Of the program';
comment on column service_seen.stopped is 'It was stopped in an orderly way';
