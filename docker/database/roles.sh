#!/bin/bash
# Creates the two roles of Dozo (ADR 0098): the image of PostgreSQL runs this once, in a new volume. In a volume of an earlier
# version, in which the superuser dozo owned the tables, it also gives them to the new owner; run it there yourself:
#
#   docker compose exec --env POSTGRES_USER=dozo database bash /docker-entrypoint-initdb.d/roles.sh
set -euo pipefail

psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --no-psqlrc --quiet --set ON_ERROR_STOP=1 --single-transaction <<'SQL'
\set owner_password `cat /run/secrets/database_owner_password`
\set service_password `cat /run/secrets/database_service_password`
select format('create role %I login', name)
from (values ('dozo_owner'), ('dozo_service')) wanted (name)
where not exists (select from pg_roles where rolname = name) \gexec
alter role dozo_owner password :'owner_password';
alter role dozo_service password :'service_password';
select format('alter database %I owner to dozo_owner', current_database()) \gexec

do $$
declare
    made text;
begin
    for made in
        -- Partitions too. Sequences of columns, and what belongs to an extension, follow their owners.
        select format('table %s', c.oid::regclass)
        from pg_class c
        where c.relnamespace in (select oid from pg_namespace where nspname in ('public', 'audit')) and c.relkind in ('r', 'p', 'v', 'S')
          and not exists (select from pg_depend d
                          where d.classid = 'pg_class'::regclass and d.objid = c.oid
                            and (d.deptype = 'e' or c.relkind = 'S' and d.deptype in ('a', 'i')))
        union all
        select format('routine %s', p.oid::regprocedure)
        from pg_proc p
        where p.pronamespace in (select oid from pg_namespace where nspname in ('public', 'audit'))
          and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
        union all
        select format('type %s', t.oid::regtype) from pg_type t where t.typnamespace = 'public'::regnamespace and t.typtype in ('e', 'd')
        union all
        select 'schema audit' from pg_namespace where nspname = 'audit'
    loop
        execute format('alter %s owner to dozo_owner', made);
    end loop;
end
$$;
SQL
