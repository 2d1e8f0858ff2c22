-- What an entry takes (ADR 0019). A row with a null in it has a header longer by 8 bytes, and so has every row of a table from
-- which a column was dropped: what only few entries have stands in tables of its own, and `entry` is written anew.

drop index entry_came;
drop index entry_went;
drop index entry_directory;
drop index entry_large_folder;
alter table entry rename to entry_before;
alter index entry_pkey rename to entry_before_pkey;
do
$$
begin
    for i in 0..15 loop
        execute format('alter table entry_%s rename to entry_before_%s', i, i);
        execute format('alter index entry_%s_pkey rename to entry_before_%s_pkey', i, i);
    end loop;
end
$$;

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
    primary key (experiment_id, entry_no)
) partition by hash (experiment_id);
comment on table entry is 'One file, folder or link of the current manifest and of all since since_manifest. Never updated.';

create table ended_entry (
    like entry including constraints,
    until_manifest integer not null check (until_manifest > since_manifest),
    primary key (experiment_id, entry_no)
) partition by hash (experiment_id);
comment on table ended_entry is
    'One that was in the manifests since_manifest <= n < until_manifest: its row was moved here when it was changed or gone.';

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
    foreach part in array array['entry', 'ended_entry', 'entry_link'] loop
        for i in 0..15 loop
            execute format('create table %s_%s partition of %s for values with (modulus 16, remainder %s)', part, i, part, i);
            -- Entries are numbered in the order they come: pages are never split, so they can be full.
            if part = 'entry' then
                execute format('alter index entry_%s_pkey set (fillfactor = 100)', i);
            end if;
        end loop;
    end loop;
end
$$;

insert into entry
select experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name
from entry_before where until_manifest is null
order by experiment_id, entry_no;
insert into ended_entry
select experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name, until_manifest
from entry_before where until_manifest is not null;
insert into entry_link
select experiment_id, entry_no, hard_link, link_target
from entry_before where num_nonnulls(hard_link, link_target) >= 1;

-- The first manifest has nearly all entries, and a folder's come one after the other: two numbers tell where they are.
alter table directory
    add column first_entry_no integer not null default 1,
    add column last_entry_no integer not null default 2147483647;
comment on column directory.first_entry_no is
    'What it held in the first manifest has numbers from this one to last_entry_no, and others may have, too; 0 and 0: nothing.';
-- Rows are encoded otherwise now: every folder is looked at closely once.
update directory d
set fingerprint = null, first_entry_no = coalesce(e.lowest, 0), last_entry_no = coalesce(e.highest, 0)
from directory o
left join (select experiment_id, directory_no, min(entry_no) as lowest, max(entry_no) as highest
           from entry_before where since_manifest = 1 group by experiment_id, directory_no) e
    using (experiment_id, directory_no)
where d.experiment_id = o.experiment_id and d.directory_no = o.directory_no;

drop table entry_before;

-- What came after the first manifest, which is little: by folder, and by manifest.
create index entry_later on entry (experiment_id, directory_no) where since_manifest > 1;
create index entry_came on entry (experiment_id, since_manifest) where since_manifest > 1;
-- A folder with thousands of entries has a number below zero, so that its pages need not read all of it.
create index entry_large_folder on entry (experiment_id, directory_no, name) where directory_no < 0;
create index ended_entry_name on ended_entry (experiment_id, directory_no, name);
create index ended_entry_came on ended_entry (experiment_id, since_manifest) where since_manifest > 1;
create index ended_entry_went on ended_entry (experiment_id, until_manifest);

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
