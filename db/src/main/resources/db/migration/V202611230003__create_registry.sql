-- What is registered: projects, their experiments, and the sites that hold the second copy; of each site what it can do and
-- how much room it has.

create table project (
    project_id integer generated always as identity primary key,
    code text not null unique check (code ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    title text not null default '' check (length(title) <= 200),
    created_at timestamptz not null,
    tripwire_percent integer not null default 20 check (tripwire_percent between 1 and 100),
    tripwire_entries integer not null default 100 check (tripwire_entries >= 10),
    source_roots bytea[] not null default '{}' check (cardinality(source_roots) <= 100),
    restore_roots bytea[] not null default '{}' check (cardinality(restore_roots) <= 100)
);
comment on column project.code is 'Opaque: it names the folder at the site, so nothing in it may identify a person.';
comment on column project.tripwire_percent is
    'An experiment that lost so many of a hundred files and links, or bytes, is frozen.';
comment on column project.tripwire_entries is
    'So many have to be lost at least; nine tenths of an experiment that is smaller.';
comment on column project.source_roots is
    'Folders of the service''s machine, as they were said. Below them who sees only some projects may register.';
comment on column project.restore_roots is
    'Folders of the service''s machine, as they were said. Below them the project''s experiments may be restored.';

-- Whether somebody who sees these projects sees what belongs to one; null: sees everything. In one place, and written so that
-- PostgreSQL puts the expression itself into a query.
create function in_sight(seen text[], project_code text) returns boolean
    language sql immutable parallel safe
    return seen is null or project_code = any(seen);

create table experiment (
    experiment_id integer generated always as identity primary key,
    project_id integer not null references project,
    code text not null check (code ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    title text not null default '' check (length(title) <= 200),
    source_kind text not null check (source_kind in ('filesystem', 'dicom', 'flywheel')),
    source_root bytea not null check (octet_length(source_root) between 1 and 4096),
    source_bound boolean not null default false,
    list_file bytea check (octet_length(list_file) between 1 and 4096),
    list_form text check (list_form in ('find', 'policy')),
    list_bound boolean not null default false check (list_file is not null or not list_bound),
    modality text check (modality ~ '^[A-Z0-9_]{1,16}$'),
    scanner text check (scanner ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    acquired_on date check (acquired_on between '1900-01-01' and '9999-12-31'),
    acquired_month text generated always as
        (extract(year from acquired_on)::text || '-' || lpad(extract(month from acquired_on)::text, 2, '0')) stored,
    registered_at timestamptz not null,
    registered_by text not null,
    unique (project_id, code),
    check ((list_file is null) = (list_form is null))
);
comment on column experiment.source_bound is
    'The source lay below a root of the project when it was registered. source_root is then without links, and it is opened '
    'without following any. Not taken back when the roots change.';
comment on column experiment.list_file is 'Where the list lies on the service''s machine; null: the source is walked.';
comment on column experiment.list_form is 'What wrote the list: GNU find, or a policy of IBM Storage Scale.';
comment on column experiment.list_bound is 'The same of list_file.';
comment on column experiment.modality is 'As DICOM codes it: MR, MEG, EEG; null: unknown.';
comment on column experiment.scanner is 'An opaque code; null: unknown.';
comment on column experiment.acquired_on is 'The day of the visit, by the calendar where it was; null: unknown.';

-- A folder belongs to one experiment. The digest stands in for the path, which may be longer than an index row.
create unique index experiment_source on experiment (source_kind, sha256(source_root));

-- Experiments are searched by their words, their project, and what they were acquired with and when (ADR 0029).
create index experiment_project on experiment (project_id, experiment_id);
create index experiment_scanner on experiment (scanner, experiment_id);
create index experiment_modality on experiment (modality, experiment_id);
create index experiment_acquired on experiment (acquired_on, experiment_id);

-- Words in the middle are found by groups of three letters. Without the extension, which a server may not have or not let us
-- have, the same search reads all experiments.
do
$$
begin
    create extension if not exists pg_trgm;
    create index experiment_words on experiment using gin (lower(code || ' ' || title) gin_trgm_ops);
exception
    when insufficient_privilege or feature_not_supported or undefined_file or undefined_object then
        raise notice 'pg_trgm cannot be used, so experiments are searched one by one: %', sqlerrm;
end
$$;

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

-- What a look at a site found it can do (ADR 0027): a row for each time that it was another than before. Nothing is decided by
-- these rows: each run looks anew. They tell people what changed at a site, and when.
create table site_capability (
    site_capability_id bigint generated always as identity primary key,
    site_id integer not null references site,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    server text not null,
    digest text not null check (digest ~ '^[a-z]'),
    digest_bytes_per_second double precision not null
        check (digest_bytes_per_second >= 0 and digest_bytes_per_second < 'infinity'),
    syncs_at_once boolean not null,
    cache_tool text,
    rename_keeps boolean not null,
    names_are_bytes boolean not null,
    extensions text[] not null,
    clock_ahead_seconds bigint
);

comment on table site_capability is
    'What a site was found to be able to do, as long as nothing of it changed; the last row of a site is what holds.';
comment on column site_capability.digest is 'How digests are computed there, as in receipts. The command may change in a row, the kind may not.';
comment on column site_capability.digest_bytes_per_second is 'As last measured, from the site''s memory; 0: not measured.';
comment on column site_capability.cache_tool is 'What has the site''s memory forget files; null: nothing does, reads there are warm.';
comment on column site_capability.clock_ahead_seconds is 'How far the site''s clock was ahead of ours when it was last looked at.';

create index site_capability_site on site_capability (site_id, site_capability_id desc);

-- How much room a site had, day by day, so that somebody can be told when it will be full. A row a day, the last look of it; the
-- rows of a site that are older than two years are removed when another is added.

create table site_space (
    site_id integer not null references site,
    day date not null,
    seen_at timestamptz not null,
    total_bytes bigint not null check (total_bytes > 0),
    free_bytes bigint not null check (free_bytes between 0 and total_bytes),
    primary key (site_id, day)
);

comment on table site_space is 'Room at a site as the last look of each day found it.';
comment on column site_space.day is 'Of UTC.';
comment on column site_space.free_bytes is 'Free for us, not counting what is kept back for root.';
