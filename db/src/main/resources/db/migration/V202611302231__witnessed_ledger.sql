-- The ledger as a Merkle tree (RFC 6962) whose checkpoints witnesses cosign (ADR 0113).

create table ledger_subtree (
    level smallint not null check (level between 1 and 3),
    n bigint not null check (n >= 0),
    root bytea not null check (octet_length(root) = 32),
    primary key (level, n)
);
comment on table ledger_subtree is
    'Roots of full subtrees of the tree over the ledger''s hashes: subtree n of a level covers the rows n * 256^level + 1 to (n + 1) * 256^level.';

create table checkpoint (
    origin text not null,
    size bigint not null check (size > 0),
    root bytea not null check (octet_length(root) = 32),
    note text not null,
    made_at timestamptz not null,
    primary key (origin, size)
);
comment on table checkpoint is 'Signed roots of the tree over the first rows of the ledger, by the name of the log that they belong to.';

create table witness (
    name text primary key,
    address text not null,
    vkey text not null,
    registered_at timestamptz not null,
    origin text,
    size bigint check (size >= 0),
    cosigned_at timestamptz,
    trouble text not null default '',
    refused_origin text,
    seen text not null default '',
    check ((origin is null) = (size is null) and (origin is null) = (cosigned_at is null))
);
comment on table witness is 'Who is asked to cosign checkpoints of this ledger.';
comment on column witness.size is 'Of the last checkpoint that it cosigned, of the log origin.';
comment on column witness.trouble is 'Why the last request brought no cosignature; empty: it did.';
comment on column witness.refused_origin is 'The log that contradicts what the witness has seen; null: none does.';
comment on column witness.seen is 'The checkpoint that the witness showed when it refused; empty: none.';

create table cosignature (
    origin text not null,
    size bigint not null,
    witness text not null,
    line text not null,
    primary key (origin, size, witness),
    foreign key (origin, size) references checkpoint
);
comment on table cosignature is 'Signature lines of witnesses, which stay when a witness is removed.';

create table trusted_log (
    origin text primary key,
    vkey text not null,
    trusted_at timestamptz not null,
    active boolean not null
);
comment on table trusted_log is 'Logs of others that this Dozo is a witness for. What was cosigned stays known when one is no longer active.';

create table cosigned_checkpoint (
    origin text not null,
    size bigint not null check (size >= 0),
    log text not null references trusted_log,
    root bytea not null check (octet_length(root) = 32),
    note text not null,
    cosigned_at timestamptz not null,
    primary key (origin, size)
);
comment on table cosigned_checkpoint is 'What this Dozo has cosigned as a witness; origin is that of log, or of a log that follows it.';

create table refused_checkpoint (
    origin text not null,
    size bigint not null,
    root bytea not null check (octet_length(root) = 32),
    log text not null references trusted_log,
    note text not null,
    reason text not null,
    refused_at timestamptz not null,
    primary key (origin, size, root)
);
comment on table refused_checkpoint is 'Evidence: checkpoints with a valid signature of a trusted log that contradict what this Dozo cosigned.';
