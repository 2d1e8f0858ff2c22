-- What is registered: projects, their experiments, and the sites that hold the second copy.

create table project (
    project_id integer generated always as identity primary key,
    code text not null unique check (code ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    title text not null default '' check (length(title) <= 200),
    created_at timestamptz not null
);

comment on column project.code is 'Opaque: it names the folder at the site, so nothing in it may identify a person.';

create table experiment (
    experiment_id integer generated always as identity primary key,
    project_id integer not null references project,
    code text not null check (code ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    title text not null default '' check (length(title) <= 200),
    source_kind text not null check (source_kind in ('filesystem', 'dicom', 'flywheel')),
    source_root bytea not null check (octet_length(source_root) between 1 and 4096),
    registered_at timestamptz not null,
    registered_by text not null,
    unique (project_id, code)
);

-- A folder belongs to one experiment. The digest stands in for the path, which may be longer than an index row.
create unique index experiment_source on experiment (source_kind, sha256(source_root));

create table site (
    site_id integer generated always as identity primary key,
    name text not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    host text not null,
    port integer not null check (port between 1 and 65535),
    login text not null,
    root text not null check (root ~ '^/'),
    host_key text not null check (host_key <> ''),
    identity_file text not null,
    updated_at timestamptz not null
);

comment on column site.host_key is 'Pinned public host keys in OpenSSH format, one a line: any other key is refused.';
comment on column site.identity_file is 'Where the private key lies on the service''s machine; the key itself is never in here.';
