-- What a Flywheel or an Orthanc holds is checked again within a promised age: bytes can rot under an unchanged list. The rows are by
-- experiment, with a position in it, and not by file; only what is not as it was delivered has a row of its own.
create table origin_check (
    experiment_id integer primary key references experiment,
    checked_at timestamptz not null,
    began_at timestamptz,
    after_path bytea,
    tried_run bigint references run,
    check ((began_at is null) = (after_path is null))
);
comment on table origin_check is 'When all files of an experiment were last checked in the origin that they came from.';
comment on column origin_check.checked_at is 'When the last whole check began; at first, when everything was delivered.';
comment on column origin_check.after_path is 'Up to which path, in byte order, the check has come that began at began_at; null: none is under way.';
comment on column origin_check.tried_run is 'The run that tried and could not; it comes after the others then. Null: the last try was a good one.';
create index origin_check_oldest on origin_check (tried_run nulls first, checked_at, experiment_id);

create table origin_damage (
    experiment_id integer not null references experiment,
    path bytea not null,
    run_id bigint not null references run,
    checked_at timestamptz not null,
    found_digest bytea check (octet_length(found_digest) = 32),
    message text not null
);
comment on table origin_damage is
    'Files that an origin has with other bytes although it lists them as before, or that could not be read there; removed when that is over.';
comment on column origin_damage.run_id is 'The last run that tried.';
comment on column origin_damage.checked_at is 'When it was last as delivered, as far as anybody knows.';
comment on column origin_damage.found_digest is 'SHA-256 of its bytes in the origin; null: unknown.';
create unique index origin_damage_file on origin_damage (experiment_id, sha256(path));

create view origin_checked as
select a.origin_id, c.experiment_id, null::bytea as path, case when c.tried_run is null then '' else 'the last try failed' end as message,
       c.checked_at
from origin_check c join arrival a using (experiment_id) join living_experiment using (experiment_id)
where a.state in ('ARRIVING', 'COMPLETE')
union all
select a.origin_id, d.experiment_id, d.path, d.message, d.checked_at
from origin_damage d join arrival a using (experiment_id) join living_experiment using (experiment_id)
where a.state in ('ARRIVING', 'COMPLETE') and d.found_digest is null;
comment on view origin_checked is
    'When the files of each experiment were last checked in its origin, and those of them that could not be checked since.';
