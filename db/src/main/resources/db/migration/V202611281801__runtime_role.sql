-- At run time the service logs in as a role that owns nothing (ADR 0098). As the owner it could switch the ledger's triggers off, and
-- as a superuser run programs on the database's machine.

-- The service calls it as the owner after each migration, so a later migration needs no grants of its own. All rights are taken back
-- first, so that it also removes what was granted before.
create procedure admit_service(role_name text)
    language plpgsql as
$$
declare
    part record;
begin
    execute format('grant usage on schema %I to %I', current_schema(), role_name);
    for part in
        select oid::regclass as name, case relkind when 'S' then 'sequence' else 'table' end as kind,
               case when relkind = 'S' then 'usage, select, update'
                    when relkind = 'v' or relname in ('flyway_schema_history', 'audit_reader') then 'select'
                    when relname = 'ledger' then 'select, insert'
                    else 'select, insert, update, delete' end as rights
        from pg_class
        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'S') and pg_has_role(relowner, 'usage')
    loop
        execute format('revoke all on %s %s from %I', part.kind, part.name, role_name);
        execute format('grant %s on %s %s to %I', part.rights, part.kind, part.name, role_name);
    end loop;
    execute format('grant execute on function analyze_catalogue to %I', role_name);
    -- By default everybody may create temporary tables, but auditors perhaps not (audit-views.md).
    if pg_has_role((select datdba from pg_database where datname = current_database()), 'usage') then
        execute format('grant temporary on database %I to %I', current_database(), role_name);
    end if;
end
$$;
comment on procedure admit_service is 'Gives a role the rights that the service needs at run time, and no others on these tables.';

-- Only the owner may collect statistics. A rebuilt catalogue needs them at once.
create function analyze_catalogue() returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp as
$$
begin
    analyze;
end
$$;
comment on function analyze_catalogue is 'Collects the statistics of all tables.';

revoke all on procedure admit_service from public;
revoke all on function analyze_catalogue from public;
