-- A project may replace the names of its sources at the sites by codes (ADR 0092). The key of each experiment is the table of its
-- names: it is in this database, and encrypted in the records at sites.

alter table project add column coded boolean not null default false;
comment on column project.coded is 'Experiments that are registered from now on get codes instead of names at the sites.';

-- The two blocks of HMAC-SHA-256 (RFC 2104): the key, filled with zeros to 64 bytes, xor the byte 0x36 or 0x5c.
create function hmac_block(key bytea, pad integer) returns bytea
    language sql immutable strict parallel safe
begin atomic
    select string_agg(set_byte('\x00'::bytea, 0, (case when i < length(key) then get_byte(key, i) else 0 end) # pad), ''::bytea order by i)
    from generate_series(0, 63) as i;
end;

alter table experiment
    add column name_key bytea check (octet_length(name_key) = 32),
    add column name_key_inner bytea generated always as (hmac_block(name_key, 54)) stored,
    add column name_key_outer bytea generated always as (hmac_block(name_key, 92)) stored,
    add column names_lost boolean not null default false;
comment on column experiment.name_key is 'With it the names of the source become codes at the sites; null: they stay as they are.';
comment on column experiment.name_key_inner is 'The blocks of HMAC-SHA-256, so that path_at_site need not make them for every path.';
comment on column experiment.names_lost is
    'The catalogue was rebuilt from the bag at a site: its names are the codes, which stay as they are.';

-- A key for a new experiment: 244 random bits.
create function new_name_key(a_project integer) returns bytea
    language sql volatile
begin atomic
    select uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) from project where project_id = a_project and coded;
end;

create function coded_path(key_inner bytea, key_outer bytea, path bytea) returns bytea
    language sql immutable parallel safe
begin atomic
    select coalesce(
        string_agg(
            encode(substring(sha256(key_outer || sha256(key_inner || n.name)) for 16), 'hex')::bytea,
            '\x2f'::bytea order by length(n.folder)),
        ''::bytea)
    from names_on_way(path) n;
end;
comment on function coded_path is 'A path with the code of each name; the same as SiteNames.of.';

-- PostgreSQL puts this expression itself into the query, so a path that stays as it is costs no call.
create function path_at_site(an_experiment experiment, path bytea) returns bytea
    language sql stable parallel safe
begin atomic
    select case
        when (an_experiment).name_key is null or (an_experiment).names_lost then path
        else coded_path((an_experiment).name_key_inner, (an_experiment).name_key_outer, path)
    end;
end;
comment on function path_at_site is 'The path of an entry below the data folder of the bag: with codes instead of names if the experiment has a key.';
