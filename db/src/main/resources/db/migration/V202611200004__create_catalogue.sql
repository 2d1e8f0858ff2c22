-- Manifests and their entries, for half a billion files (design, section 5): an entry carries the range of manifests
-- in which it holds, so an unchanged file costs nothing in a new one. Names are bytes; a folder's path is kept once.

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
    primary key (experiment_id, manifest_no)
);

comment on table manifest is 'The sealed, numbered inventory of an experiment at a moment; a sealed one never changes.';

create trigger manifest_is_sealed before update or delete or truncate on manifest
    for each statement execute function refuse_change();

create table directory (
    experiment_id integer not null,
    directory_no integer not null,
    path bytea not null,
    primary key (experiment_id, directory_no)
) partition by hash (experiment_id);

comment on table directory is 'A folder''s path below the source root, kept once for all entries in it.';

-- A path may be longer than an index row can be (2,704 bytes), its digest may not.
create unique index directory_path on directory (experiment_id, sha256(path));

create table entry (
    experiment_id integer not null,
    entry_no integer not null,
    directory_no integer not null,
    since_manifest integer not null,
    until_manifest integer check (until_manifest > since_manifest),
    size_bytes bigint not null check (size_bytes >= 0),
    modified_ns bigint not null,
    changed_ns bigint not null,
    hard_link bigint,
    mode smallint not null,
    kind "char" not null check (kind in ('f', 'd', 'l')),
    name bytea not null,
    link_target bytea check ((kind = 'l') = (link_target is not null)),
    primary key (experiment_id, entry_no)
) partition by hash (experiment_id);

comment on table entry is 'One file, folder or link; it holds in the manifests since_manifest <= n < until_manifest.';
comment on column entry.until_manifest is 'Null while it holds; set once, when a later manifest has it changed or gone.';

-- What one manifest brought: the driving query of plans.
create index entry_since on entry (experiment_id, since_manifest);

do
$$
begin
    for i in 0..15 loop
        execute format('create table directory_%s partition of directory for values with (modulus 16, remainder %s)', i, i);
        execute format('create table entry_%s partition of entry for values with (modulus 16, remainder %s)', i, i);
    end loop;
end
$$;
