-- A tree of folders is an origin too: its items are folders that stay where they are (ADR 0043).

alter table origin
    drop constraint origin_kind_check,
    add constraint origin_kind_check check (kind in ('flywheel', 'dicomweb', 'tree')),
    drop constraint origin_address_check,
    add constraint origin_address_check check (
        case when kind = 'tree' then address ~ '^file:///' and length(address) <= 10000
             else address ~ '^https?://' and length(address) <= 500 end),
    add column patterns text[] not null default '{}' check (cardinality(patterns) <= 20),
    add column ready text[] not null default '{}' check (cardinality(ready) <= 40),
    add constraint origin_tree_check check ((kind = 'tree') = (cardinality(patterns) > 0));

comment on column origin.spool is
    'The folder of the service''s machine into which items are brought; of a tree its root, into which nothing is written.';
comment on column origin.patterns is 'Of a tree: which folders below its root are experiments.';
comment on column origin.ready is 'Of a tree: by what it is known that all of an experiment is there; empty: the usual rules.';

create table tree_folder (
    origin_id integer not null,
    item text not null,
    path bytea not null check (octet_length(path) between 1 and 4096),
    inode bigint not null,
    born_ns bigint,
    files bigint,
    bytes bigint,
    digest bigint,
    unchanged_since timestamptz,
    seen_at timestamptz,
    primary key (origin_id, item),
    foreign key (origin_id, item) references arrival (origin_id, item),
    check ((files is null) = (bytes is null) and (files is null) = (digest is null)
           and (files is null) = (unchanged_since is null) and (files is null) = (seen_at is null))
);

comment on table tree_folder is 'Where the folder of an arrival from a file tree lies, and what was seen in it.';
comment on column tree_folder.path is 'Below the origin''s root, as bytes.';
comment on column tree_folder.inode is 'With born_ns the folder is known again when it was renamed.';
comment on column tree_folder.born_ns is 'When the folder was made, in nanoseconds since 1970; null: the file system does not tell.';
comment on column tree_folder.digest is 'Of names, sizes and times, 64 bits: tells only whether something changed.';
comment on column tree_folder.unchanged_since is 'Since when nothing in it has changed, as far as is known.';
