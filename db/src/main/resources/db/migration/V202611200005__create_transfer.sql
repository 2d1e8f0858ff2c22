-- Runs, transfer units and receipts. The unit table is the truth about progress: what is sent, verified and retried
-- as one (design, sections 3 and 9). Nothing here is kept per entry but 36 bytes in a receipt.

create table run (
    run_id bigint generated always as identity primary key,
    kind text not null check (kind in ('nightlyBackup')),
    site_id integer not null references site,
    state text not null check (state in ('RUNNING', 'COMPLETE', 'FINDINGS', 'FAILED', 'STOPPED')),
    requested_by text not null,
    started_at timestamptz not null,
    ended_at timestamptz,
    message text not null default '',
    check ((state = 'RUNNING') = (ended_at is null))
);

comment on column run.state is 'COMPLETE only without findings; FINDINGS: ended, and people are needed; FAILED: could not go on.';

create unique index one_run_at_a_time on run ((true)) where state = 'RUNNING';

create table transfer_unit (
    unit_id bigint generated always as identity primary key,
    experiment_id integer not null references experiment,
    site_id integer not null references site,
    kind text not null check (kind in ('BUNDLE', 'RANGE', 'WHOLE')),
    entry_nos integer[] not null check (cardinality(entry_nos) >= 1),
    offset_bytes bigint not null default 0 check (offset_bytes >= 0),
    length_bytes bigint not null check (length_bytes >= 0),
    state text not null check (state in ('PLANNED', 'SENT', 'VERIFIED', 'FAILED', 'CANCELLED')),
    run_id bigint not null references run,
    partition_no integer not null check (partition_no >= 0),
    attempts integer not null default 0,
    reason text,
    check (kind = 'BUNDLE' or cardinality(entry_nos) = 1),
    check (state <> 'SENT' or kind = 'RANGE')
);

comment on table transfer_unit is 'What is sent, verified and retried as one; a VERIFIED unit''s evidence is its receipt.';
comment on column transfer_unit.kind is
    'BUNDLE: whole entries. RANGE: a byte interval of a large file; SENT once the site has acknowledged all of it. '
    'WHOLE: the proof and the final name of a file whose ranges are SENT.';
comment on column transfer_unit.entry_nos is 'Its entries. Which of them are proven is said by receipts alone.';
comment on column transfer_unit.state is
    'FAILED: at least one entry got no receipt; CANCELLED: a later plan or manifest took its entries over.';

-- The driving query of a partition, and what an experiment still owes.
create index transfer_unit_planned on transfer_unit (run_id, partition_no, unit_id) where state = 'PLANNED';
create index transfer_unit_open on transfer_unit (experiment_id, site_id) where state in ('PLANNED', 'SENT', 'FAILED');
create index transfer_unit_run on transfer_unit (run_id, state);

create table receipt (
    receipt_id bigint generated always as identity primary key,
    experiment_id integer not null references experiment,
    site_id integer not null references site,
    unit_id bigint not null references transfer_unit,
    run_id bigint not null references run,
    entry_nos integer[] not null check (cardinality(entry_nos) >= 1),
    digests bytea not null check (octet_length(digests) = 32 * cardinality(entry_nos)),
    method text not null check (method <> ''),
    worker text not null,
    verified_at timestamptz not null
);

comment on table receipt is
    'The evidence that bytes at the site have these digests: computed there by the method, equal to those read at the source.';
comment on column receipt.digests is 'SHA-256 of each entry, 32 bytes each, in the order of entry_nos.';

-- Digests do not compress; stored as they are, one of them can be read without the rest.
alter table receipt alter column digests set storage external;

create index receipt_experiment on receipt (experiment_id, site_id);

create trigger receipt_is_evidence before update or delete or truncate on receipt
    for each statement execute function refuse_change();

create table protection (
    experiment_id integer not null references experiment,
    site_id integer not null references site,
    files bigint not null check (files >= 0),
    bytes bigint not null check (bytes >= 0),
    entries bigint not null check (entries >= files),
    safe_manifest integer,
    unsettled boolean not null default false,
    counted_at timestamptz not null,
    primary key (experiment_id, site_id)
);

comment on column protection.safe_manifest is 'The latest manifest that was wholly safe; null before the first.';
comment on column protection.unsettled is 'Whether there are receipts that the bag''s tag files do not list yet.';
comment on table protection is 'What of the current manifest has receipts: files, their bytes, and entries of every kind.';

create table finding (
    finding_id bigint generated always as identity primary key,
    run_id bigint not null references run,
    experiment_id integer references experiment,
    reason text not null check (reason ~ '^[A-Z_]+$'),
    path bytea,
    message text not null,
    found_at timestamptz not null
);

comment on table finding is 'What needs a person: unreadable, changed underfoot, missing, damaged, refused.';

create index finding_run on finding (run_id, finding_id);
create index finding_experiment on finding (experiment_id, finding_id);
