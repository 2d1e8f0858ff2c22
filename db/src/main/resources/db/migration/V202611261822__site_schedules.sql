-- When the nights of a site begin, and nights of a part of the experiments (ADR 0078).

create table site_schedule (
    schedule_id integer generated always as identity primary key,
    site_id integer not null references site,
    project_id integer references project,
    origin_id integer references origin,
    cron text not null check (length(cron) between 1 and 200),
    since timestamptz not null,
    constraint site_schedule_part_check check (num_nonnulls(project_id, origin_id) <= 1),
    constraint site_schedule_once unique nulls not distinct (site_id, project_id, origin_id, cron)
);
comment on table site_schedule is
    'When nights to a site begin. A site without a row follows the setting dozo.schedule.cron.';
comment on column site_schedule.project_id is 'Its nights have only the experiments of this project; null: of all.';
comment on column site_schedule.origin_id is 'Its nights have only the experiments collected from this origin; null: from anywhere.';
comment on column site_schedule.cron is 'Second, minute, hour, day, month and weekday, in the time zone of the setting dozo.schedule.zone.';
comment on column site_schedule.since is 'When it was set: what was due before was not missed.';

alter table run
    add column part_project_id integer references project,
    add column part_origin_id integer references origin,
    add constraint run_part_check
        check (num_nonnulls(part_project_id, part_origin_id) = 0 or kind = 'nightlyBackup' and num_nonnulls(part_project_id, part_origin_id) = 1);
comment on column run.part_project_id is 'A night of the experiments of this project only; null: of all.';
comment on column run.part_origin_id is 'A night of the experiments collected from this origin only; null: from anywhere.';

create view run_included as
select r.run_id, e.experiment_id
from run r
join experiment e on r.part_project_id is null or e.project_id = r.part_project_id
where (r.part_origin_id is null
       or exists (select from arrival a where a.experiment_id = e.experiment_id and a.origin_id = r.part_origin_id))
  and (r.kind not in ('retry', 'replication')
       or exists (select from run_experiment c where c.run_id = r.run_id and c.experiment_id = e.experiment_id));
comment on view run_included is
    'The experiments that a run goes through: all, those of its project or origin, or those that were chosen when it was opened. '
    'Those registered while it runs, too.';

create view night as
select r.run_id, r.site_id, r.state, r.started_at
from run r
where r.kind = 'nightlyBackup'
  and (num_nonnulls(r.part_project_id, r.part_origin_id) = 0
       or exists (select from site_schedule s where s.site_id = r.site_id)
          and not exists (select from site_schedule s
                          where s.site_id = r.site_id and num_nonnulls(s.project_id, s.origin_id) = 0));
comment on view night is
    'Backups that count as the night of their site: of all experiments; of a part only if all schedules of the site are of parts.';
