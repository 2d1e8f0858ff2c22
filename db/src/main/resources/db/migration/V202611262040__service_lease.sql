-- Several services can share a database. One of them is active, by a lease; the others stand by (ADR 0081).

create table service_lease (
    only_row boolean primary key default true check (only_row),
    term bigint not null check (term between 0 and 2147483647),
    name text not null,
    url text not null,
    began_at timestamptz not null,
    lease_until timestamptz not null
);

comment on table service_lease is 'The service that may run backups. Its one row is never removed.';
comment on column service_lease.term is 'Grows with each takeover: the fencing number of the active service';
comment on column service_lease.name is 'The active service; empty before the first one';
comment on column service_lease.url is 'Where people find it in a browser; empty: it is not known';
comment on column service_lease.lease_until is 'From then on another service may take over, by the clock of the database';

insert into service_lease (term, name, url, began_at, lease_until) values (0, '', '', now(), '-infinity');

-- NB: the lock comes before the look. Whoever begins a term later either finds the lock, and ends this session, or its
-- term is already seen here. In one SQL statement both would see the same moment.
create function enter_term(entered bigint) returns void language plpgsql as $$
begin
    perform pg_advisory_lock_shared(2081, entered::int);
    if not exists (select from service_lease where term = entered) then
        raise exception 'another Dozo service has taken over: term % has ended', entered using errcode = '08004';
    end if;
end
$$;

comment on function enter_term is 'Makes this session one of a term of the active service, or refuses if the term has ended';

create function end_terms_before(begun bigint) returns bigint language plpgsql as $$
declare
    former int;
    ended bigint := 0;
begin
    for former in
        select distinct pid from pg_locks
        where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
          and classid = 2081 and objsubid = 2 and objid::bigint < begun and pid <> pg_backend_pid()
    loop
        perform pg_terminate_backend(former, 2000);
        ended := ended + 1;
    end loop;
    return ended;
end
$$;

comment on function end_terms_before is 'Ends the sessions of earlier terms with their transactions, and returns how many there were';
