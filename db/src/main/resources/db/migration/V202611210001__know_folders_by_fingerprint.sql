-- What a night costs grows with what changed, not with what is there (ADR 0019): a folder is known by a fingerprint of what it
-- held when it was last looked at, and only what is in changed folders comes to the database. Entries lose what nothing reads.

alter table directory
    add column entries integer default 0 check (entries >= 0),
    add column fingerprint bytea check (octet_length(fingerprint) = 32);
-- Folders of earlier manifests are there for all we know, and are looked at closely the first time.
alter table directory alter column entries drop default;

comment on column directory.directory_no is
    'Its number within the experiment; below zero: it had at least 5,000 entries when it was first seen (entry_large_folder).';
comment on column directory.entries is 'How many entries it held when last looked at; null: it is not there any more.';
comment on column directory.fingerprint is
    'What it held then, in 32 bytes (class Fingerprint). Null: not all of it is known, so it is compared entry by entry.';

-- Pages of a manifest, by path. A path may be longer than an index row can be; where the first bytes are the same, the rest
-- is sorted.
create index directory_order on directory (experiment_id, substring(path for 1000));

-- Moves without the content, is in no comparison, and made every row 8 bytes longer.
alter table entry drop column changed_ns;

-- What one folder holds. Many entries of a folder share one key, and the index keeps it once.
create index entry_directory on entry (experiment_id, directory_no);

-- A folder with thousands of entries has a number below zero, so that its pages need not read all of it.
create index entry_large_folder on entry (experiment_id, directory_no, name) where directory_no < 0;

-- What changed between two manifests. What came with the first one, nearly everything, is in neither.
drop index entry_since;
create index entry_came on entry (experiment_id, since_manifest) where since_manifest > 1;
create index entry_went on entry (experiment_id, until_manifest) where until_manifest is not null;

-- Entries are numbered in the order they come: pages are never split, so they can be full.
do
$$
begin
    for i in 0..15 loop
        execute format('alter index entry_%s_pkey set (fillfactor = 100)', i);
    end loop;
end
$$;

alter table manifest add column entries_type_changed bigint not null default 0;

comment on column manifest.entries_type_changed is 'How many of the changed ones became something else: a file, folder or link.';

-- The tripwire: when so much vanished or changed at once that a person has to say it is meant.
alter table project
    add column tripwire_percent integer not null default 20 check (tripwire_percent between 1 and 100),
    add column tripwire_entries integer not null default 100 check (tripwire_entries >= 10);

comment on column project.tripwire_percent is
    'An experiment that lost so many of a hundred files and links, or bytes, is frozen.';
comment on column project.tripwire_entries is
    'So many have to be lost at least; nine tenths of an experiment that is smaller.';

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
