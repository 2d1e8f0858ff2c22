-- What the booking system plans and what the scanners sent: their difference is the gap list (ADR 0041).
-- No person is in here: a subject is the code that a keyed digest makes of a patient's ID, and nothing else fits its column.

create table scanner (
    code text primary key check (code ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'),
    purge_days integer check (purge_days between 1 and 3650)
);
comment on table scanner is 'What is known of a scanner beside its code; an experiment may name one that is not here.';
comment on column scanner.purge_days is 'After how many days its console deletes what it acquired; null: unknown.';

create table station (
    ae_title text primary key check (ae_title ~ '^[!-[\]-~]([ -[\]-~]{0,14}[!-[\]-~])?$'),
    scanner text not null references scanner
);
comment on table station is 'The application entity titles that a scanner is booked and sends under.';
create index station_scanner on station (scanner);

create table booking (
    booking_id integer generated always as identity primary key,
    accession text not null unique check (length(accession) between 1 and 64),
    project_id integer references project,
    study_uid text check (study_uid ~ '^[0-9]+([.][0-9]+)+$' and length(study_uid) <= 64),
    ae_title text check (length(ae_title) between 1 and 16),
    modality text check (modality ~ '^[A-Z0-9_]{1,16}$'),
    scheduled_on date not null check (scheduled_on between '1900-01-01' and '9999-12-31'),
    scheduled_time time,
    procedure text not null default '' check (length(procedure) <= 200),
    series_expected integer check (series_expected between 1 and 10000),
    subject text check (subject ~ '^S[0-9A-V]{16}$'),
    origin text not null check (origin in ('csv', 'worklist')),
    booked_at timestamptz not null,
    booked_by text not null
);
comment on table booking is 'A visit that the booking system plans, as it was told last; what it was before is in the ledger.';
comment on column booking.project_id is 'Null: unknown, so only who sees every project sees it, until its study lies in an experiment.';
comment on column booking.scheduled_time is 'With scheduled_on by the clocks here; null: some time that day.';
comment on column booking.series_expected is 'Null: unknown, so nothing can be said of missing ones.';
comment on column booking.booked_at is 'When it was first told here.';
create index booking_scheduled on booking (scheduled_on, booking_id);
create index booking_study on booking (study_uid);

create table study (
    study_uid text primary key check (study_uid ~ '^[!-~]{1,64}$'),
    experiment_id integer references experiment,
    collected_at timestamptz,
    instances_collected integer check (instances_collected >= 0),
    check ((experiment_id is null) = (collected_at is null) and (experiment_id is null) = (instances_collected is null))
);
comment on table study is 'What arrived under a StudyInstanceUID; an illegal one is kept as it is said.';
comment on column study.collected_at is
    'Since when instances_collected of its instances, all that had arrived, lie in the experiment''s source.';
create index study_experiment on study (experiment_id);

create table study_series (
    study_uid text not null references study,
    series_uid text not null check (series_uid ~ '^[!-~]{1,64}$'),
    accession text check (length(accession) between 1 and 64),
    subject text check (subject ~ '^S[0-9A-V]{16}$'),
    study_day date,
    study_time time,
    ae_title text check (length(ae_title) between 1 and 16),
    modality text check (length(modality) between 1 and 16),
    instances integer not null check (instances >= 1),
    instances_expected integer check (instances_expected >= 1),
    first_received_at timestamptz not null,
    last_received_at timestamptz not null check (last_received_at >= first_received_at),
    unique nulls not distinct (study_uid, series_uid, accession, subject, study_day)
);
comment on table study_series is
    'What arrived of a series, and what its images say of their study: two visits under one UID differ in that.';
create index study_series_accession on study_series (accession);
create index study_series_day on study_series (study_day);

-- Which studies lie in the folders that people register, so that the same study is not taken for another one; and how reading the
-- worklist by itself goes (ADR 0042).

create table experiment_study (
    experiment_id integer not null references experiment,
    study_uid text not null check (study_uid ~ '^[!-~]{1,64}$'),
    noted_at timestamptz not null,
    primary key (experiment_id, study_uid)
);
comment on table experiment_study is
    'Studies that were seen in an experiment''s folder when it was registered, as far as it was looked into.';
create index experiment_study_uid on experiment_study (study_uid);

create table worklist_reading (
    number integer primary key default 1 check (number = 1),
    tried_at timestamptz not null,
    read_at timestamptz,
    failing_since timestamptz,
    message text not null default '' check (length(message) <= 1000),
    booked integer not null default 0,
    changed integer not null default 0,
    unchanged integer not null default 0,
    refused integer not null default 0
);
comment on table worklist_reading is 'How the worklist was read by itself last: one row, or none before the first time.';
comment on column worklist_reading.read_at is 'When it was last read; the counts are of that time. Null: never yet.';
comment on column worklist_reading.failing_since is 'The first time since then that it could not be read; null: it can.';
