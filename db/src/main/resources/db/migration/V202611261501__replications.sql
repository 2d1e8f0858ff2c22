-- A run may copy experiments from one site to another, without their sources (ADR 0073).
alter table run
    drop constraint run_kind_check,
    add constraint run_kind_check check (kind in ('nightlyBackup', 'retry', 'replication', 'scrub', 'rebuild')),
    add column from_site_id integer references site,
    add constraint run_from_site_check check ((kind = 'replication') = (from_site_id is not null) and from_site_id <> site_id);
comment on column run.from_site_id is 'The site whose verified copies a replication reads; null: it is no replication.';

comment on table run_experiment is
    'The experiments that a retry or a replication goes through, and no others; a night goes through all there are.';
