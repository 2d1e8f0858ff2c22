-- Restores that the service does, into folders that an administrator allowed (ADR 0049).

create table restore (
    restore_id bigint generated always as identity primary key,
    experiment_id integer not null references experiment,
    manifest_no integer not null,
    site_id integer not null references site,
    folder bytea not null check (octet_length(folder) between 2 and 4096),
    state text not null default 'WAITING'
        check (state in ('WAITING', 'RUNNING', 'COMPLETE', 'FINDINGS', 'FAILED', 'STOPPED')),
    requested_by text not null,
    requested_at timestamptz not null,
    started_at timestamptz,
    ended_at timestamptz,
    entries bigint not null default 0 check (entries >= 0),
    bytes bigint not null default 0 check (bytes >= 0),
    entries_verified bigint not null default 0 check (entries_verified >= 0),
    bytes_verified bigint not null default 0 check (bytes_verified >= 0),
    findings bigint not null default 0 check (findings >= 0),
    message text not null default '',
    foreign key (experiment_id, manifest_no) references manifest,
    check ((ended_at is null) = (state in ('WAITING', 'RUNNING'))),
    check (state <> 'COMPLETE' or (findings = 0 and entries_verified = entries))
);
create unique index restore_open_folder on restore (sha256(folder)) where ended_at is null;
create index restore_of_experiment on restore (experiment_id, restore_id);
comment on table restore is 'Restores by the service: what was asked for, how far it came, how it ended. Those without an end are gone on with at a start.';
comment on column restore.folder is 'The folder that is filled, of the service''s machine, without links.';

create table restore_finding (
    restore_id bigint not null references restore,
    finding_no integer not null check (finding_no between 1 and 1000),
    path bytea not null,
    reason text not null,
    message text not null,
    primary key (restore_id, finding_no)
);
comment on table restore_finding is 'What a restore that has ended could not bring back: the first thousand. restore.findings counts all.';
