-- Runs of jobs, what they are to do, what they found, and what sending cost. The unit table is the truth about progress: what is
-- sent, verified and retried as one (design, sections 3 and 9).

create table run (
    run_id bigint generated always as identity primary key,
    kind text not null check (kind in ('nightlyBackup', 'retry', 'scrub')),
    site_id integer not null references site,
    state text not null check (state in ('RUNNING', 'PAUSED', 'COMPLETE', 'FINDINGS', 'FAILED', 'STOPPED')),
    requested_by text not null,
    started_at timestamptz not null,
    ended_at timestamptz,
    message text not null default '',
    paused_by text,
    paused_at timestamptz,
    retry_of bigint references run,
    constraint run_end_check check ((state in ('RUNNING', 'PAUSED')) = (ended_at is null)),
    constraint run_pause_check check ((state = 'PAUSED') = (paused_by is not null and paused_at is not null)),
    constraint run_retry_check check ((kind = 'retry') = (retry_of is not null))
);
comment on column run.state is
    'PAUSED: begins nothing until a person resumes it. COMPLETE only without findings; FINDINGS: ended, and people are needed; '
    'FAILED: could not go on.';
comment on column run.paused_by is 'Who paused it, and paused_at when; null unless it is paused.';
comment on column run.retry_of is 'The run whose findings a retry tries again; null: it is no retry.';
create unique index one_run_at_a_time on run ((true)) where ended_at is null;

create table run_experiment (
    run_id bigint not null references run,
    experiment_id integer not null references experiment,
    primary key (run_id, experiment_id)
);
comment on table run_experiment is 'The experiments that a retry goes through, and no others; a night goes through all there are.';

create table transfer_unit (
    unit_id bigint generated always as identity primary key,
    experiment_id integer not null references experiment,
    site_id integer not null references site,
    kind text not null check (kind in ('BUNDLE', 'LARGE')),
    entry_nos integer[] not null check (cardinality(entry_nos) >= 1),
    length_bytes bigint not null check (length_bytes >= 0),
    state text not null check (state in ('PLANNED', 'VERIFIED', 'FAILED', 'CANCELLED')),
    run_id bigint not null references run,
    partition_no integer not null check (partition_no >= 0),
    attempts integer not null default 0,
    reason text,
    check (kind = 'BUNDLE' or cardinality(entry_nos) = 1)
);
comment on table transfer_unit is 'What is sent, verified and retried as one; a VERIFIED unit''s evidence is its receipt.';
comment on column transfer_unit.kind is 'BUNDLE: many whole entries. LARGE: one large file, sent as ranges over all lanes.';
comment on column transfer_unit.entry_nos is 'Its entries. Which of them are proven is said by receipts alone.';
comment on column transfer_unit.state is
    'FAILED: at least one entry got no receipt; CANCELLED: a later plan or manifest took its entries over.';
-- The driving query of a partition, and what an experiment still owes.
create index transfer_unit_planned on transfer_unit (run_id, partition_no, unit_id) where state = 'PLANNED';
create index transfer_unit_open on transfer_unit (experiment_id, site_id) where state in ('PLANNED', 'FAILED');
create index transfer_unit_run on transfer_unit (run_id, state);

create table finding (
    finding_id bigint generated always as identity primary key,
    run_id bigint not null references run,
    experiment_id integer references experiment,
    reason text not null check (reason ~ '^[A-Z_]+$'),
    path bytea,
    message text not null,
    found_at timestamptz not null,
    superseded_by bigint references run
);
comment on table finding is 'What needs a person: unreadable, changed underfoot, missing, damaged, refused.';
comment on column finding.superseded_by is
    'The first later run that looked at the same again and came to its end: what it still found, it says itself. Null: none has.';
create index finding_run on finding (run_id, finding_id);
create index finding_experiment on finding (experiment_id, finding_id);
-- What changed between two dates is found by when it was.
create index finding_found on finding (found_at) include (experiment_id, run_id);
create index finding_standing on finding (finding_id) where superseded_by is null;
-- How many findings stand for each reason is counted up to a limit, however many there are.
create index finding_standing_reason on finding (reason, finding_id) where superseded_by is null;
-- Whether an experiment is at risk is asked for each one of a page, and of a search for all of them: what stands of it and why
-- has to be known without reading what stood once.
create index finding_standing_experiment on finding (experiment_id, reason) where superseded_by is null;

create table acknowledgement (
    finding_id bigint primary key references finding,
    acknowledged_by text not null,
    acknowledged_at timestamptz not null,
    reason text not null check (length(reason) between 1 and 500 and reason !~ '[[:cntrl:]]')
);
comment on table acknowledgement is
    'A person has said that a finding is known and why nothing is to be done. It makes nothing safe, and holds for no later finding.';
create trigger acknowledgement_is_evidence before update or delete or truncate on acknowledgement
    for each statement execute function refuse_change();

create table scrub (
    run_id bigint primary key references run,
    max_age_seconds bigint not null check (max_age_seconds >= 1),
    everything boolean not null,
    due_before timestamptz not null,
    bytes_per_second bigint not null check (bytes_per_second >= 0),
    until timestamptz,
    cold boolean not null,
    partitions integer not null default 1 check (partitions >= 1),
    copies_read bigint not null default 0 check (copies_read >= 0),
    bytes_read bigint not null default 0 check (bytes_read >= 0),
    copies_damaged bigint not null default 0 check (copies_damaged >= 0),
    seconds_busy double precision not null default 0 check (seconds_busy >= 0)
);
comment on table scrub is 'What a run of kind scrub was asked for, and what it has read so far.';
comment on column scrub.due_before is 'What was last read before this is read.';
comment on column scrub.bytes_per_second is 'The budget; 0: none.';
comment on column scrub.until is 'When it begins no more; null: when all is read.';
comment on column scrub.copies_read is 'Files, folders and links.';
comment on column scrub.seconds_busy is
    'How long the site took to tell digests, summed over the partitions side by side; waiting for the budget is not in it.';

-- What sending to a site costs (ADR 0018): after each run that sent enough, what it sent and how long that took, and the
-- constants that were fitted to this and earlier measurements. The last row of a site is what plans and forecasts use.

create table cost_model (
    cost_model_id bigint generated always as identity primary key,
    site_id integer not null references site,
    run_id bigint not null references run,
    measured_at timestamptz not null,
    bytes bigint not null check (bytes >= 0),
    entries bigint not null check (entries >= 1),
    lanes integer not null check (lanes between 1 and 64),
    seconds double precision not null check (seconds > 0 and seconds < 'infinity'),
    bytes_per_second double precision not null check (bytes_per_second between 1e3 and 1e12),
    seconds_per_entry double precision not null check (seconds_per_entry between 0 and 3600),
    measurements integer not null check (measurements >= 1)
);

comment on table cost_model is
    'What sending cost once, and what follows from it and earlier ones: seconds of one lane = bytes / rate + entries × cost.';
comment on column cost_model.measured_at is 'When the sending ended that was measured.';
comment on column cost_model.lanes is 'How many were open at its end.';
comment on column cost_model.measurements is 'To how many measurements, this one and those before, the constants are fitted.';

create index cost_model_site on cost_model (site_id, cost_model_id desc);
