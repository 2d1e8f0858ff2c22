-- What stands is one row however many runs find it, and what a run found is a link (ADR 0056).

alter table finding add column last_run_id bigint references run;
alter table finding add column last_found_at timestamptz;
update finding set last_run_id = run_id, last_found_at = found_at;
alter table finding alter column last_run_id set not null;
alter table finding alter column last_found_at set not null;
alter table finding add constraint finding_last_check check (last_run_id >= run_id);
comment on column finding.run_id is 'The first run that found it, at found_at.';
comment on column finding.message is 'As the last run that found it says it.';
comment on column finding.last_run_id is 'The last run that found it, at last_found_at.';

create table run_finding (
    run_id bigint not null references run,
    finding_id bigint not null references finding,
    primary key (run_id, finding_id)
);
comment on table run_finding is 'What each run found itself. Written with the finding, and nowhere else.';
create index run_finding_finding on run_finding (finding_id);
insert into run_finding (run_id, finding_id) select run_id, finding_id from finding;

-- Whoever adds a finding says who found it first; who found it last is the same then.
create function begin_finding() returns trigger
    language plpgsql as
$$
begin
    new.last_run_id := coalesce(new.last_run_id, new.run_id);
    new.last_found_at := coalesce(new.last_found_at, new.found_at);
    return new;
end
$$;
create trigger finding_begins before insert on finding for each row execute function begin_finding();

create function link_finding() returns trigger
    language plpgsql as
$$
begin
    insert into run_finding (run_id, finding_id) values (new.last_run_id, new.finding_id) on conflict do nothing;
    return null;
end
$$;
create trigger finding_is_linked after insert or update of last_run_id on finding
    for each row execute function link_finding();

-- Whether the same stands already. Paths may be longer than an index takes.
create index finding_standing_same on finding (coalesce(experiment_id, 0), reason, sha256(coalesce(path, ''))) where superseded_by is null;
create index finding_superseded on finding (superseded_by) where superseded_by is not null;
-- An experiment's findings, those that were found last first.
drop index finding_experiment;
create index finding_experiment on finding (experiment_id, last_run_id, finding_id);
-- A run's findings are found by its links.
drop index finding_run;

-- What is left of a run's units and links when they are deleted: enough for its page, for each who sees only some projects too.
create table run_sum (
    run_id bigint not null references run,
    project_id integer references project,
    partition_no integer,
    units bigint not null default 0 check (units >= 0),
    units_done bigint not null default 0 check (units_done >= 0),
    units_failed bigint not null default 0 check (units_failed >= 0),
    bytes bigint not null default 0 check (bytes >= 0),
    bytes_done bigint not null default 0 check (bytes_done >= 0),
    entries_done bigint not null default 0 check (entries_done >= 0),
    findings bigint not null default 0 check (findings >= 0),
    unique nulls not distinct (run_id, project_id, partition_no)
);
comment on table run_sum is
    'What the rows of a run that retention has deleted add up to. Cancelled units are not counted, as everywhere.';
comment on column run_sum.project_id is 'Null: findings of the whole run.';
comment on column run_sum.partition_no is 'Of units; null: these are findings.';
-- The runs that ended before a moment.
create index run_ended on run (ended_at);

-- Receipts keep the numbers of units that are gone, and units those of workers: both only grow and are never given again.
alter table receipt drop constraint receipt_unit_id_fkey;
comment on column receipt.unit_id is 'The unit that it proves, which retention may have deleted since.';
alter table transfer_unit drop constraint transfer_unit_worker_id_fkey;

-- The latest reading of a receipt stays for ever, and no setting makes the others go before 90 days have gone by.
drop trigger reading_is_evidence on reading;
create trigger reading_is_evidence before update or truncate on reading
    for each statement execute function refuse_change();
create function refuse_to_forget_reading() returns trigger
    language plpgsql as
$$
begin
    if old.read_at > now() - interval '90 days'
       or not exists (select from reading r where r.receipt_id = old.receipt_id and r.reading_id > old.reading_id) then
        raise exception 'rows of reading are evidence: only one older than 90 days with a later one of the same receipt is deleted';
    end if;
    return old;
end
$$;
create trigger reading_is_kept before delete on reading for each row execute function refuse_to_forget_reading();
create index reading_age on reading (read_at, reading_id);

-- Foreign keys of the framework's tables, which its own schema does not index.
create index batch_job_execution_instance on batch_job_execution (job_instance_id);
create index batch_job_execution_params_execution on batch_job_execution_params (job_execution_id);
create index batch_step_execution_execution on batch_step_execution (job_execution_id);
