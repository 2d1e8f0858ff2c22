-- Inserts a history of :nights nights, each with :changed changed experiments, between the existing real nights and a day before now.
-- The last real night is the pattern. Triggers and foreign keys are off: this file inserts what they would, except the ledger's chain.
begin;
set local bench.nights = :nights;
set local session_replication_role = replica;

-- Moves existing rows into the past to make room for the history.
do $$
declare
    c record;
begin
    for c in select table_name, column_name from information_schema.columns
             where table_schema = 'public' and data_type like 'timestamp%'
               and table_name in ('manifest', 'run', 'run_worker', 'receipt', 'stored', 'coverage', 'protection', 'experiment',
                                  'batch_job_execution', 'batch_step_execution', 'run_pace', 'run_tuning') loop
        execute format('update %I set %I = %I - %L::interval where %I <> ''infinity''', c.table_name, c.column_name, c.column_name,
                       current_setting('bench.nights')::integer + 1 || ' days', c.column_name);
    end loop;
end
$$;

create temp table of_run on commit drop as select * from run order by run_id desc limit 1;
create temp table last on commit drop as
select (select max(run_id) from run) as run, (select max(worker_id) from run_worker) as worker,
       (select max(unit_id) from transfer_unit) as unit, (select max(receipt_id) from receipt) as receipt,
       (select max(job_instance_id) from batch_job_instance) as instance,
       (select max(job_execution_id) from batch_job_execution) as execution,
       (select max(step_execution_id) from batch_step_execution) as step;

-- The current files, each with its latest digest; the changes take them in turns.
create temp table held on commit drop as
select e.*, p.digest, row_number() over (partition by e.experiment_id order by e.name) - 1 as place,
       count(*) over (partition by e.experiment_id) as files_held
from entry e
cross join lateral (select digest from entry_receipt r where r.experiment_id = e.experiment_id and r.entry_no = e.entry_no
                    order by r.receipt_id desc limit 1) p
where e.kind = 'f';

create temp table change on commit drop as
select c.*, h.place, h.size_bytes, h.digest, m.manifest_no + k as manifest_no, e.entry_no + k as entry_no,
       case when k > h.files_held then e.entry_no + k - h.files_held else h.entry_no end as replaced_no,
       case when k > h.files_held then m.manifest_no + k - h.files_held else h.since_manifest end as replaced_since,
       r.started_at + night * interval '1 day' as began_at,
       r.run_id + night as run_id, l.worker + night as worker_id, l.unit + number as unit_id, l.receipt + number as receipt_id
from (select number, 1 + (number - 1) / :changed as night, 1 + (number - 1) % x.experiments as experiment_id,
             1 + (number - 1) / x.experiments as k
      from (select count(*)::integer as experiments from experiment) x, generate_series(1, :changed * :nights) number) c
join (select experiment_id, max(manifest_no) as manifest_no from manifest group by 1) m using (experiment_id)
join (select experiment_id, max(entry_no) as entry_no from entry_version group by 1) e using (experiment_id)
join held h on h.experiment_id = c.experiment_id and h.place = (k - 1) % h.files_held
cross join of_run r cross join last l;
create index on change (experiment_id, k);
analyze change;

insert into run overriding system value
select (jsonb_populate_record(r, jsonb_build_object(
           'run_id', r.run_id + n, 'started_at', r.started_at + n * interval '1 day', 'ended_at', r.ended_at + n * interval '1 day',
           'looked_at', r.looked_at + n * interval '1 day'))).*
from of_run r, generate_series(1, :nights) n;
insert into run_worker overriding system value
select (jsonb_populate_record(w, jsonb_build_object(
           'worker_id', w.worker_id + n, 'run_id', r.run_id + n, 'began_at', w.began_at + n * interval '1 day',
           'lease_until', w.lease_until + n * interval '1 day'))).*
from run_worker w join of_run r using (run_id), generate_series(1, :nights) n;

insert into run_pace
select w.run_id + n, w.began_at + n * interval '1 day', w.seconds, w.bytes, w.entries
from run_pace w join of_run r using (run_id), generate_series(1, :nights) n;
insert into run_limit
select l.run_id + n, l.name, l.seconds, l.seconds_needed
from run_limit l join of_run r using (run_id), generate_series(1, :nights) n;
insert into run_tuning
select t.run_id + n, t.decided_at + n * interval '1 day', t.lanes, t.channels, t.bytes_per_second, t.reason
from run_tuning t join of_run r using (run_id), generate_series(1, :nights) n;
insert into run_total
select t.run_id + n, t.project_id, t.bytes, t.entries
from run_total t join of_run r using (run_id), generate_series(1, :nights) n;

insert into manifest
select (jsonb_populate_record(m, jsonb_build_object(
           'experiment_id', c.experiment_id, 'manifest_no', c.manifest_no, 'sealed_at', c.began_at + interval '400 ms',
           'files', p.files, 'bytes', p.bytes))).*
from change c
join protection p using (experiment_id)
join manifest m on m.sealed_at = (select max(sealed_at) from manifest)
order by c.number;

insert into ended_entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name, until_manifest)
select h.experiment_id, c.replaced_no, h.directory_no, c.replaced_since, h.size_bytes, h.modified_ns - c.number, h.mode, h.kind, h.name,
       c.manifest_no
from change c join held h using (experiment_id, place)
order by c.number;
delete from entry e using change c where (e.experiment_id, e.entry_no) = (c.experiment_id, c.replaced_no);
-- The last version of each file is its current entry.
insert into entry
select h.experiment_id, c.entry_no, h.directory_no, c.manifest_no, h.size_bytes, h.modified_ns, h.mode, h.kind, h.name
from (select distinct on (experiment_id, place) * from change order by experiment_id, place, k desc) c
join held h using (experiment_id, place);

insert into transfer_unit overriding system value
select (jsonb_populate_record(u, jsonb_build_object(
           'unit_id', c.unit_id, 'experiment_id', c.experiment_id, 'entry_nos', array[c.entry_no], 'length_bytes', c.size_bytes,
           'run_id', c.run_id, 'worker_id', c.worker_id, 'partition_no', (c.number - 1) % :changed))).*
from last l join transfer_unit u on u.unit_id = l.unit cross join change c
order by c.number;
insert into receipt overriding system value
select c.receipt_id, c.experiment_id, r.site_id, c.unit_id, c.run_id, c.manifest_no, array[c.entry_no], c.digest, r.method, r.worker,
       c.began_at + interval '550 ms', r.way_in
from last l join receipt r on r.receipt_id = l.receipt cross join change c
order by c.number;
insert into stored
select c.receipt_id, c.experiment_id, p.site_id, 1, c.size_bytes, c.began_at + interval '550 ms'
from change c join protection p using (experiment_id)
order by c.number;

update coverage v set until = c.began_at + interval '420 ms'
from change c where c.experiment_id = v.experiment_id and c.k = 1 and v.until = 'infinity';
insert into coverage (experiment_id, site_id, manifest_no, since, until, unprotected_since, files, bytes, entries, files_safe,
                      bytes_safe, entries_safe, files_proven, bytes_proven, waited_seconds)
select c.experiment_id, p.site_id, c.manifest_no, c.began_at + part.since,
       case when part.safe
            then coalesce((select n.began_at + interval '420 ms' from change n
                           where n.experiment_id = c.experiment_id and n.k = c.k + 1), 'infinity')
            else c.began_at + interval '650 ms' end,
       case when not part.safe then c.began_at + interval '400 ms' end, p.files, p.bytes, p.entries,
       p.files - part.missing, p.bytes - part.missing * c.size_bytes, p.entries - part.missing,
       1 - part.missing, (1 - part.missing) * c.size_bytes, case when part.safe then 0 end
from change c join protection p using (experiment_id)
cross join (values (false, interval '420 ms', 1), (true, interval '650 ms', 0)) part (safe, since, missing)
order by c.number, part.since;
update protection p
set manifest_no = c.manifest_no, safe_manifest = c.manifest_no, files_stored = p.files_stored + c.files,
    bytes_stored = p.bytes_stored + c.bytes, settled_unit = c.unit_id, counted_at = c.counted_at
from (select experiment_id, max(manifest_no) as manifest_no, count(*) as files, sum(size_bytes) as bytes, max(unit_id) as unit_id,
             max(began_at) + interval '650 ms' as counted_at
      from change group by 1) c
where c.experiment_id = p.experiment_id;

insert into batch_job_instance
select l.instance + n, i.version, i.job_name, md5('night ' || n)
from last l join batch_job_instance i on i.job_instance_id = l.instance, generate_series(1, :nights) n;
insert into batch_job_execution
select (jsonb_populate_record(x, jsonb_build_object(
           'job_execution_id', l.execution + n, 'job_instance_id', l.instance + n, 'create_time', x.create_time + n * interval '1 day',
           'start_time', x.start_time + n * interval '1 day', 'end_time', x.end_time + n * interval '1 day',
           'last_updated', x.last_updated + n * interval '1 day'))).*
from last l join batch_job_execution x on x.job_execution_id = l.execution, generate_series(1, :nights) n;
insert into batch_job_execution_params
select l.execution + n, p.parameter_name, p.parameter_type,
       case p.parameter_name when 'run' then (l.run + n)::text else p.parameter_value end, p.identifying
from last l join batch_job_execution_params p on p.job_execution_id = l.execution, generate_series(1, :nights) n;
insert into batch_job_execution_context
select l.execution + n, x.short_context, x.serialized_context
from last l join batch_job_execution_context x on x.job_execution_id = l.execution, generate_series(1, :nights) n;
create temp table of_step on commit drop as
select s.*, row_number() over (order by step_execution_id) as place, count(*) over () as steps
from batch_step_execution s join last l on s.job_execution_id = l.execution;
insert into batch_step_execution
select (jsonb_populate_record(s, jsonb_build_object(
           'step_execution_id', l.step + (n - 1) * o.steps + o.place, 'job_execution_id', l.execution + n,
           'create_time', s.create_time + n * interval '1 day', 'start_time', s.start_time + n * interval '1 day',
           'end_time', s.end_time + n * interval '1 day', 'last_updated', s.last_updated + n * interval '1 day'))).*
from last l cross join of_step o join batch_step_execution s using (step_execution_id), generate_series(1, :nights) n;
insert into batch_step_execution_context
select l.step + (n - 1) * o.steps + o.place, x.short_context, x.serialized_context
from last l cross join of_step o join batch_step_execution_context x using (step_execution_id), generate_series(1, :nights) n;

-- From here on triggers are on: the ledger's own makes the chain.
set local session_replication_role = origin;
create temp table of_night on commit drop as
select *, row_number() over (partition by action order by seq) as place from ledger
where seq > (select max(seq) from ledger where action = 'run.ended' and subject::bigint < (select run_id from of_run));
insert into ledger (at, actor, action, subject, detail)
select r.started_at + n * interval '1 day' + part.since, o.actor, o.action,
       case when o.action like 'run.%' then (r.run_id + n)::text
            when c.number is not null then x.project || '/' || x.code || '#' || c.manifest_no
            else o.subject end,
       case when o.detail ? 'run' then o.detail || jsonb_build_object('run', (r.run_id + n)::text) else o.detail end
from of_run r
cross join generate_series(1, :nights) n
cross join of_night o
join (values ('run.started', interval '0 ms'), ('manifest.sealed', interval '400 ms'), ('experiment.settled', interval '650 ms'),
             ('ledger.anchored', interval '800 ms'), ('run.ended', interval '850 ms')) part (action, since) using (action)
left join change c on c.night = n and c.number = (n - 1) * :changed + o.place
                  and o.action in ('manifest.sealed', 'experiment.settled')
left join (select e.experiment_id, p.code as project, e.code from experiment e join project p using (project_id)) x using (experiment_id)
order by n, o.seq;

do $$
declare
    c record;
begin
    for c in select table_name, column_name from information_schema.columns
             where table_schema = 'public' and is_identity = 'YES' and table_name in ('run', 'run_worker', 'transfer_unit', 'receipt') loop
        execute format('select setval(pg_get_serial_sequence(%L, %L), (select max(%I) from %I))', c.table_name, c.column_name,
                       c.column_name, c.table_name);
    end loop;
end
$$;
select setval('batch_job_instance_seq', max(job_instance_id)) from batch_job_instance;
select setval('batch_job_execution_seq', max(job_execution_id)) from batch_job_execution;
select setval('batch_step_execution_seq', max(step_execution_id)) from batch_step_execution;
commit;
vacuum analyze;
checkpoint;
