-- Manifests and their entries, for half a billion files (ADR 0019): an entry carries the range of manifests in which it holds,
-- so an unchanged file costs nothing in a new one. Names are bytes; a folder's path is kept once.

create table manifest (
    experiment_id integer not null references experiment,
    manifest_no integer not null check (manifest_no >= 1),
    sealed_at timestamptz not null,
    files bigint not null check (files >= 0),
    bytes bigint not null check (bytes >= 0),
    folders bigint not null check (folders >= 0),
    links bigint not null check (links >= 0),
    entries_new bigint not null,
    entries_changed bigint not null,
    entries_gone bigint not null,
    entries_type_changed bigint not null default 0,
    primary key (experiment_id, manifest_no)
);
comment on table manifest is 'The sealed, numbered inventory of an experiment at a moment; a sealed one never changes.';
comment on column manifest.entries_type_changed is 'How many of the changed ones became something else: a file, folder or link.';
-- What changed between two dates is found by when it was.
create index manifest_sealed on manifest (sealed_at)
    include (experiment_id, entries_new, entries_changed, entries_gone);
create trigger manifest_is_sealed before update or delete or truncate on manifest
    for each statement execute function refuse_change();

-- A folder is known by a fingerprint of what it held when it was last looked at, and only what is in changed folders comes to
-- the database. The first manifest has nearly all entries, and a folder's come one after the other: two numbers tell where.
create table directory (
    experiment_id integer not null,
    directory_no integer not null,
    path bytea not null,
    entries integer check (entries >= 0),
    fingerprint bytea check (octet_length(fingerprint) = 32),
    first_entry_no integer not null default 1,
    last_entry_no integer not null default 2147483647,
    primary key (experiment_id, directory_no)
) partition by hash (experiment_id);
comment on table directory is 'A folder''s path below the source root, kept once for all entries in it.';
comment on column directory.directory_no is
    'Its number within the experiment; below zero: it had at least 5,000 entries when it was first seen (entry_large_folder).';
comment on column directory.entries is 'How many entries it held when last looked at; null: it is not there any more.';
comment on column directory.fingerprint is
    'What it held then, in 32 bytes (class Fingerprint). Null: not all of it is known, so it is compared entry by entry.';
comment on column directory.first_entry_no is
    'What it held in the first manifest has numbers from this one to last_entry_no, and others may have, too; 0 and 0: nothing.';
-- A path may be longer than an index row can be (2,704 bytes), its digest may not.
create unique index directory_path on directory (experiment_id, sha256(path));
-- Pages of a manifest, by path. Where the first bytes are the same, the rest is sorted.
create index directory_order on directory (experiment_id, substring(path for 1000));

-- What an entry takes: a row with a null in it has a header longer by 8 bytes, so what only few entries have stands in tables of
-- its own. Entries are numbered in the order they come: pages of the key are never split, so they can be full.
create table entry (
    experiment_id integer not null,
    entry_no integer not null,
    directory_no integer not null,
    since_manifest integer not null,
    size_bytes bigint not null check (size_bytes >= 0),
    modified_ns bigint not null,
    mode smallint not null,
    kind "char" not null check (kind in ('f', 'd', 'l')),
    name bytea not null,
    primary key (experiment_id, entry_no) with (fillfactor = 100)
) partition by hash (experiment_id);
comment on table entry is 'One file, folder or link of the current manifest and of all since since_manifest. Never updated.';
-- What came after the first manifest, which is little: by folder, and by manifest.
create index entry_later on entry (experiment_id, directory_no) where since_manifest > 1;
create index entry_came on entry (experiment_id, since_manifest) where since_manifest > 1;
-- A folder with thousands of entries has a number below zero, so that its pages need not read all of it.
create index entry_large_folder on entry (experiment_id, directory_no, name) where directory_no < 0;

create table ended_entry (
    like entry including constraints,
    until_manifest integer not null check (until_manifest > since_manifest),
    primary key (experiment_id, entry_no)
) partition by hash (experiment_id);
comment on table ended_entry is
    'One that was in the manifests since_manifest <= n < until_manifest: its row was moved here when it was changed or gone.';
create index ended_entry_name on ended_entry (experiment_id, directory_no, name);
create index ended_entry_came on ended_entry (experiment_id, since_manifest) where since_manifest > 1;
create index ended_entry_went on ended_entry (experiment_id, until_manifest);

create table entry_link (
    experiment_id integer not null,
    entry_no integer not null,
    hard_link bigint,
    link_target bytea,
    check (num_nonnulls(hard_link, link_target) >= 1),
    primary key (experiment_id, entry_no)
) partition by hash (experiment_id);
comment on table entry_link is 'What few entries have, whether they hold or ended: a hard link''s group, a symbolic link''s text.';

do
$$
declare
    part text;
begin
    foreach part in array array['directory', 'entry', 'ended_entry', 'entry_link'] loop
        for i in 0..15 loop
            execute format('create table %s_%s partition of %s for values with (modulus 16, remainder %s)', part, i, part, i);
        end loop;
    end loop;
end
$$;

-- Where an entry lies below the source root: its name in a folder's path. In one place, because the root's path is
-- empty and has no slash after it. Written so that PostgreSQL puts the expression itself into a query (a SQL function
-- of one immutable expression, each argument a plain column), and a call costs no more than the expression did.
create function entry_path(directory_path bytea, entry_name bytea) returns bytea
    language sql immutable parallel safe
    return case when directory_path = ''::bytea then entry_name else directory_path || '\x2f'::bytea || entry_name end;

comment on function entry_path is 'An entry''s path below the source root: from its folder''s path and its name.';

-- What a path goes through: for a/b/c it is a, b in a, and c in a/b. The root's path is empty and goes through nothing.
create function names_on_way(path bytea) returns table (folder bytea, name bytea)
    language sql immutable parallel safe
begin atomic
    select substring(path for greatest(slash - 1, 0)), substring(path from slash + 1 for name_end - slash)
    from (select i as name_end, coalesce(lag(i) over (order by i) + 1, 0) as slash
          from generate_series(1, length(path)) as i
          where i = length(path) or get_byte(path, i) = 47) as part;
end;

-- What a folder holds. PostgreSQL puts the query itself into the one that calls it (a SQL function of one query, in FROM).
create function entries_of(experiment integer, directory integer) returns setof entry
    language sql stable parallel safe
begin atomic
    select e.*
    from directory d
    join entry e on e.experiment_id = d.experiment_id and e.directory_no = d.directory_no
                and e.entry_no between d.first_entry_no and d.last_entry_no and e.since_manifest = 1
    where d.experiment_id = experiment and d.directory_no = directory
    union all
    select * from entry where experiment_id = experiment and directory_no = directory and since_manifest > 1;
end;
comment on function entries_of is 'The entries of a folder that hold, by the folder''s number.';

-- Every entry that ever was.
create view entry_version as
select *, null::integer as until_manifest from entry
union all
select * from ended_entry;
comment on view entry_version is
    'Entries as they held in the manifests since_manifest <= n < until_manifest; null: they hold. No two have one number.';

-- Whatever had a name in a folder: few rows, also in a folder of a hundred thousand.
create function versions_of(experiment integer, directory integer, entry_name bytea) returns setof entry_version
    language sql stable parallel safe
begin atomic
    select e.*, null::integer from entries_of(experiment, directory) e where directory > 0 and e.name = entry_name
    union all
    select e.*, null::integer from entry e
    where e.experiment_id = experiment and e.directory_no = directory and e.directory_no < 0 and e.name = entry_name
    union all
    select * from ended_entry where experiment_id = experiment and directory_no = directory and name = entry_name;
end;
comment on function versions_of is 'Every entry that ever had a name in a folder, by the folder''s number.';

-- The tripwire: when so much vanished or changed at once that a person has to say it is meant.
create table frozen_experiment (
    freeze_id bigint generated always as identity primary key,
    experiment_id integer not null references experiment,
    manifest_no integer not null,
    frozen_at timestamptz not null,
    entries_lost bigint not null check (entries_lost >= 0),
    bytes_lost bigint not null check (bytes_lost >= 0),
    message text not null,
    released_at timestamptz,
    released_by text check (released_by <> ''),
    ended_at timestamptz,
    check ((released_at is null) = (released_by is null)),
    check (ended_at is null or released_at is not null)
);

comment on table frozen_experiment is
    'Experiments of which too much vanished or changed since manifest_no; nothing of them is done until they are released.';
comment on column frozen_experiment.ended_at is 'When the source was looked at after the release; the next loss is a freeze of its own.';

create unique index one_freeze_at_a_time on frozen_experiment (experiment_id) where ended_at is null;
