-- Drills (ADR 0066): restores that nobody needs, to show that one would work, and how long it takes.

create table drill (
    restore_id bigint primary key references restore,
    seconds double precision check (seconds >= 0),
    first_byte_seconds double precision check (first_byte_seconds between 0 and seconds)
);
comment on table drill is 'Which restores are drills: into a scratch folder, which is removed when they end. What they found stays as evidence.';
comment on column drill.seconds is
    'How long it took, by a clock that nobody sets; null: it did not run to its end.';
comment on column drill.first_byte_seconds is 'When the first byte of content arrived, since the start; null: none did, or it did not run to its end.';

alter table restore drop constraint restore_state_check;
alter table restore add constraint restore_state_check
    check (state in ('WAITING', 'RUNNING', 'COMPLETE', 'FINDINGS', 'FAILED', 'STOPPED', 'BROKEN_OFF'));
comment on column restore.state is 'BROKEN_OFF: a drill whose process ended, which shows nothing about the copies.';

alter table project add column drill_days integer check (drill_days between 1 and 3660);
comment on column project.drill_days is 'At most how many days may pass between two drills without findings; null: as the setting says.';

create view rehearsable as
select e.project_id, t.experiment_id, t.site_id, m.manifest_no
from protection t
join experiment e using (experiment_id)
join site s using (site_id)
join manifest m on m.experiment_id = t.experiment_id and m.manifest_no = t.safe_manifest
where m.files > 0 and s.removed_at is null;
comment on view rehearsable is
    'What can be rehearsed, and should come back whole: of each experiment the latest manifest that was wholly safe at a site, if it has files.';
