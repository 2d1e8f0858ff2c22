-- The home scrub reads unchanged source files again (ADR 0108). Its queue is by ranges of entries, and not by receipts, because a
-- file is read once, however many sites have copies of it.
alter table run
    drop constraint run_kind_check,
    add constraint run_kind_check
        check (kind in ('nightlyBackup', 'retry', 'chosen', 'replication', 'scrub', 'homeScrub', 'rebuild'));
comment on table scrub is 'What a run of kind scrub or homeScrub was asked for, and what it has read so far.';

create table home_reading (
    experiment_id integer not null references experiment,
    first_entry_no integer not null check (first_entry_no >= 1),
    last_entry_no integer not null check (last_entry_no >= first_entry_no),
    last_read_at timestamptz not null,
    run_id bigint references run,
    again boolean not null default false,
    primary key (experiment_id, first_entry_no)
);
comment on table home_reading is
    'When the files of a range of entries were last read whole at home and had the bytes that were sent; ranges do not overlap.';
comment on column home_reading.last_read_at is 'At first, when the manifest was sealed with which they came.';
comment on column home_reading.run_id is 'The last home scrub that came to them, with success or without; null: none.';
comment on column home_reading.again is 'Whether every home scrub reads them: they had other bytes, or could not be read.';
create index home_reading_oldest on home_reading (again desc, last_read_at, experiment_id, first_entry_no);

create table home_damage (
    experiment_id integer not null references experiment,
    entry_no integer not null,
    run_id bigint not null references run,
    found_at timestamptz not null,
    found_digest bytea check (octet_length(found_digest) = 32),
    primary key (experiment_id, entry_no, run_id)
);
comment on table home_damage is
    'Source files whose bytes differed from those that were sent while size and time were the same, or could not be read.';
comment on column home_damage.found_digest is 'SHA-256 of its bytes at home; null: they could not be read.';
create trigger home_damage_is_evidence before update or truncate on home_damage
    for each statement execute function refuse_change();
create trigger home_damage_is_erased before delete on home_damage
    for each row execute function refuse_unless_erased();
