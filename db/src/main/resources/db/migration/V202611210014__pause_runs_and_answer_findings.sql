-- A run can be paused; a person can say of a finding that it is known, and have what was found tried again (ADR 0030).

drop index one_run_at_a_time;

alter table run
    drop constraint run_kind_check,
    drop constraint run_state_check,
    drop constraint run_check,
    add column paused_by text,
    add column paused_at timestamptz,
    add column retry_of bigint references run,
    add constraint run_kind_check check (kind in ('nightlyBackup', 'retry', 'scrub')),
    add constraint run_state_check check (state in ('RUNNING', 'PAUSED', 'COMPLETE', 'FINDINGS', 'FAILED', 'STOPPED')),
    add constraint run_end_check check ((state in ('RUNNING', 'PAUSED')) = (ended_at is null)),
    add constraint run_pause_check check ((state = 'PAUSED') = (paused_by is not null and paused_at is not null)),
    add constraint run_retry_check check ((kind = 'retry') = (retry_of is not null));

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

alter table finding add column superseded_by bigint references run;
comment on column finding.superseded_by is
    'The first later run that looked at the same again and came to its end: what it still found, it says itself. Null: none has.';

create index finding_standing on finding (finding_id) where superseded_by is null;

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
