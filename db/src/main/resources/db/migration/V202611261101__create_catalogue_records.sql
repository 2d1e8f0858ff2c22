-- Which records of this catalogue are at the sites (ADR 0069). A record continues the last one, so a row for that one is enough.

create table catalogue_segment (
    site_id integer not null references site,
    experiment_id integer not null references experiment,
    number bigint not null check (number >= 1),
    digest bytea not null check (octet_length(digest) = 32),
    manifest_no integer not null,
    folder_no integer not null check (folder_no >= 0),
    entry_no integer not null check (entry_no >= 0),
    receipt_id bigint not null check (receipt_id >= 0),
    bytes bigint not null check (bytes >= 0),
    written_at timestamptz not null,
    primary key (site_id, experiment_id)
);
comment on table catalogue_segment is
    'The last record of each experiment at each site: what is newer than its numbers is not in a record yet.';
comment on column catalogue_segment.number is 'The name of its file. Higher than that of every earlier record of the experiment there.';
comment on column catalogue_segment.digest is 'SHA-256 of the file. The next record names it.';
comment on column catalogue_segment.folder_no is 'The highest number of a folder, without its sign.';

create table catalogue_base (
    site_id integer primary key references site,
    number bigint not null check (number >= 1),
    digest bytea not null check (octet_length(digest) = 32),
    database text not null,
    since xid8 not null,
    counts jsonb not null,
    bytes bigint not null check (bytes >= 0),
    written_at timestamptz not null
);
comment on table catalogue_base is 'The last record of all other tables at each site.';
comment on column catalogue_base.since is
    'Rows of transactions from this one on are not in a record yet. Only valid in the same database: another one counts transactions anew.';
comment on column catalogue_base.counts is 'How many rows each table had that is written whole when it changed: deleted rows show in nothing else.';

-- What came or ended since a manifest, and which receipts since one, without reading the others.
create index ended_entry_until on ended_entry (experiment_id, until_manifest);
create index receipt_new on receipt (experiment_id, site_id, receipt_id);
