-- Restores of many experiments, in an order. Each is requested as an ordinary restore when it is its turn (ADR 0049).

create table restore_batch (
    batch_id bigint generated always as identity primary key,
    site_id integer not null references site,
    folder bytea check (octet_length(folder) between 2 and 4096),
    origin text check (origin <> ''),
    replaces boolean not null default false,
    state text not null default 'RUNNING' check (state in ('RUNNING', 'COMPLETE', 'FINDINGS', 'FAILED', 'STOPPED')),
    requested_by text not null,
    requested_at timestamptz not null,
    ended_at timestamptz,
    check ((ended_at is null) = (state = 'RUNNING')),
    check (folder is null or origin is null),
    check (origin is not null or not replaces)
);
comment on table restore_batch is 'Restores of many experiments with one target. Those without an end are gone on with at a start.';
comment on column restore_batch.folder is 'Each experiment has a folder in it; null: another target.';
comment on column restore_batch.origin is 'The archive that is filled; null: another target. Without folder and origin, each source is.';
comment on column restore_batch.state is 'COMPLETE: all restores are. FAILED: it ended early, because too many failed one after the other.';
create index restore_batch_open on restore_batch (batch_id) where ended_at is null;

create table restore_batch_item (
    batch_id bigint not null references restore_batch,
    position integer not null check (position >= 1),
    experiment_id integer not null references experiment,
    manifest_no integer,
    restore_id bigint unique references restore,
    refused text,
    primary key (batch_id, position),
    unique (batch_id, experiment_id),
    foreign key (experiment_id, manifest_no) references manifest,
    check (restore_id is null or refused is null)
);
comment on table restore_batch_item is 'The experiments of a batch in their order, and what became of each.';
comment on column restore_batch_item.manifest_no is 'Chosen when the batch was requested; null: there was none.';
comment on column restore_batch_item.restore_id is 'Null: not requested yet, or refused.';
comment on column restore_batch_item.refused is 'Why it could not be requested; null: it could, or has not been tried.';
create index restore_batch_item_due on restore_batch_item (batch_id, position) where restore_id is null and refused is null;

create view restore_batch_place as
select i.batch_id, i.position, i.experiment_id, p.code as project, p.code || '/' || e.code as experiment,
       i.manifest_no as manifest, i.restore_id as restore,
       case when r.state is not null then r.state when i.refused is not null then 'FAILED'
            when b.ended_at is null then 'WAITING' else 'STOPPED' end as state,
       coalesce(i.refused, r.message, '') as message, coalesce(m.files, 0) as files, coalesce(m.bytes, 0) as bytes,
       coalesce(m.files + m.links + case when b.origin is null then m.folders else 0 end, 0) as entries,
       coalesce(r.findings, 0) as findings, r.started_at, r.ended_at
from restore_batch_item i
join restore_batch b using (batch_id)
join experiment e using (experiment_id)
join project p using (project_id)
left join manifest m using (experiment_id, manifest_no)
left join restore r using (restore_id);
comment on view restore_batch_place is 'The experiments of batches, and how each stands. An archive gets no folders.';

create index restore_open on restore (restore_id) where ended_at is null;
