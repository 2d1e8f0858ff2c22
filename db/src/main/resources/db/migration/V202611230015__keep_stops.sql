-- That a run is to stop outlives the process that was asked.
alter table run add column stopped_by text;
comment on column run.stopped_by is 'Who asked for it to stop first; it may have completed all the same. Nobody goes on with it.';
