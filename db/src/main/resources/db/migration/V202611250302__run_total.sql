-- What each run has proven: a list of many nights cannot add up their units.
create table run_total (
    run_id bigint not null references run,
    project_id integer not null references project,
    bytes bigint not null check (bytes >= 0),
    entries bigint not null check (entries >= 0),
    primary key (run_id, project_id)
);
comment on table run_total is
    'What a run that has ended proved, by project. Written when it ends; it stays when its units are deleted.';
comment on column run_total.entries is 'Files, folders and links.';

insert into run_total (run_id, project_id, bytes, entries)
select run_id, project_id, sum(bytes), sum(entries)
from (
    select u.run_id, e.project_id, u.length_bytes as bytes, cardinality(u.entry_nos) as entries
    from transfer_unit u join experiment e using (experiment_id)
    where u.state = 'VERIFIED'
    union all
    select run_id, project_id, bytes_done, entries_done from run_sum where partition_no is not null
) proven
join run r using (run_id)
where r.ended_at is not null
group by run_id, project_id;
