-- Systems that experiments are collected from, what they tell of, and what of it was delivered (ADR 0038).

create table origin (
    origin_id integer generated always as identity primary key,
    name text not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    kind text not null check (kind in ('flywheel', 'dicomweb', 'tree')),
    address text not null check (
        case when kind = 'tree' then address ~ '^file:///' and length(address) <= 10000
             else address ~ '^https?://' and length(address) <= 500 end),
    secret_file bytea check (octet_length(secret_file) between 1 and 4096),
    storage_hosts text[] not null default '{}',
    spool bytea not null check (octet_length(spool) between 1 and 3072),
    project_id integer references project,
    automatic boolean not null default false,
    active boolean not null default true,
    patterns text[] not null default '{}' check (cardinality(patterns) <= 20),
    ready text[] not null default '{}' check (cardinality(ready) <= 40),
    newest text check (length(newest) <= 500),
    looked_at timestamptz,
    updated_at timestamptz not null,
    constraint origin_tree_check check ((kind = 'tree') = (cardinality(patterns) > 0))
);
create unique index origin_spool on origin (sha256(spool));

comment on table origin is 'A system that experiments are collected from in nights: a Flywheel, a DICOM server.';
comment on column origin.secret_file is
    'Where the key or password lies on the service''s machine; what is in it is never in here. Null: it asks for none.';
comment on column origin.storage_hosts is 'Where it may send downloads on to; nothing secret goes there.';
comment on column origin.spool is
    'The folder of the service''s machine into which items are brought; of a tree its root, into which nothing is written.';
comment on column origin.project_id is 'The project of all its items that origin_project says nothing else of; null: unknown.';
comment on column origin.automatic is 'Items whose project is known become experiments without anybody being asked.';
comment on column origin.patterns is 'Of a tree: which folders below its root are experiments.';
comment on column origin.ready is 'Of a tree: by what it is known that all of an experiment is there; empty: the usual rules.';
comment on column origin.newest is
    'What the next look begins with, in the origin''s own words; null: everything. Moved on together with the rows of what changed.';

create table origin_project (
    origin_id integer not null references origin,
    theirs text not null check (length(theirs) between 1 and 128),
    project_id integer not null references project,
    primary key (origin_id, theirs)
);
comment on table origin_project is 'Into which project the items of one of the origin''s own projects go.';

create table arrival (
    arrival_id bigint generated always as identity primary key,
    origin_id integer not null references origin,
    item text not null check (length(item) between 1 and 128),
    state text not null check (state in ('OFFERED', 'ARRIVING', 'COMPLETE', 'GONE')),
    theirs text check (length(theirs) <= 128),
    project_id integer references project,
    code text not null check (code ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    title text not null default '' check (length(title) <= 200),
    modality text check (modality ~ '^[A-Z0-9_]{1,16}$'),
    scanner text check (scanner ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    acquired_on date,
    files_told bigint check (files_told >= 0),
    bytes_told bigint check (bytes_told >= 0),
    files_here bigint not null default 0 check (files_here >= 0),
    waiting boolean not null,
    tried_run bigint references run,
    first_seen_at timestamptz not null,
    changed_at timestamptz not null,
    complete_at timestamptz,
    experiment_id integer unique references experiment,
    dismissed_at timestamptz,
    dismissed_by text,
    dismissed_reason text check (length(dismissed_reason) between 1 and 500),
    unique (origin_id, item),
    check (state <> 'OFFERED' or experiment_id is null),
    check (state not in ('ARRIVING', 'COMPLETE') or experiment_id is not null),
    constraint arrival_dismissed_whole check (num_nulls(dismissed_at, dismissed_by, dismissed_reason) in (0, 3)),
    constraint arrival_dismissed_proposal check (dismissed_at is null or experiment_id is null),
    constraint arrival_dismissed_rests check (dismissed_at is null or not waiting)
);
create index arrival_waiting on arrival (origin_id, arrival_id) where waiting;
create index arrival_proposed on arrival (project_id, arrival_id) where experiment_id is null;

comment on table arrival is 'What an origin tells of: one item, which is or may become one experiment.';
comment on column arrival.item is
    'What it is, for ever: a Flywheel session''s id, a StudyInstanceUID. Labels and places of it may change.';
comment on column arrival.state is
    'OFFERED: a proposal. ARRIVING: an experiment, not all of which is here. COMPLETE: all that the origin tells of is here. '
    'GONE: the origin tells of it no more; what is here stays.';
comment on column arrival.theirs is 'The id of the origin''s own project that it is in now.';
comment on column arrival.project_id is 'Where it is, or is proposed to go; null: nobody has said it yet.';
comment on column arrival.waiting is 'Something of it is new, or was not delivered: the next night looks at it.';
comment on column arrival.tried_run is 'The last run that looked at it: a run looks once.';
comment on column arrival.dismissed_at is
    'Since when it is no proposal any more, because somebody said that it is not wanted; null: nobody did.';
comment on column arrival.dismissed_reason is 'That person''s own words, which the ledger has not.';

-- A tree of folders is an origin too: its items are folders that stay where they are (ADR 0043).
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

create table reconciliation (
    run_id bigint not null references run,
    origin_id integer not null references origin,
    state text not null check (state in ('RUNNING', 'EMPTY', 'DIFFERS', 'LATE', 'UNUSABLE')),
    items_told bigint not null default 0,
    items_changed bigint not null default 0,
    items_tried bigint not null default 0,
    items_complete bigint not null default 0,
    items_gone bigint not null default 0,
    items_dismissed bigint not null default 0,
    files_told bigint not null default 0,
    files_here bigint not null default 0,
    bytes_fetched bigint not null default 0,
    missing bigint not null default 0,
    remarks bigint not null default 0,
    message text not null default '',
    began_at timestamptz not null,
    ended_at timestamptz,
    primary key (run_id, origin_id),
    check ((state = 'RUNNING') = (ended_at is null))
);
comment on table reconciliation is 'What an origin told of in a run, beside what was delivered.';
comment on column reconciliation.state is
    'EMPTY: nothing is missing. DIFFERS: something is. LATE: the time was over before all was tried. '
    'UNUSABLE: the origin could not be used, or no longer.';
comment on column reconciliation.items_dismissed is
    'Of the told items, those that were dismissed when the run looked: in the origin, not wanted, and not safe.';
comment on column reconciliation.files_told is 'Of the items that were tried.';

create table reconciliation_item (
    item_no bigint generated always as identity primary key,
    run_id bigint not null,
    origin_id integer not null,
    arrival_id bigint references arrival,
    missing boolean not null,
    name text not null,
    id text not null,
    reason text not null check (reason ~ '^[A-Z_]+$'),
    message text not null,
    found_at timestamptz not null,
    foreign key (run_id, origin_id) references reconciliation
);
create index reconciliation_item_run on reconciliation_item (run_id, origin_id, item_no);
comment on table reconciliation_item is 'What was told of and is not here, with its reason; or, not missing, what is worth a word.';
comment on column reconciliation_item.id is 'The thing''s in the origin: a file''s, a container''s.';
