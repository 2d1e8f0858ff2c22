-- Each worker of a run reports what holds it back (ADR 0080).

alter table run_worker add column bottleneck text not null default '';
comment on column run_worker.bottleneck is 'What holds it back now, or did last: a name as in run_limit. Empty: nothing was ever under way';
comment on column run_limit.seconds is 'For which it was the bottleneck, of the service and all workers together';
