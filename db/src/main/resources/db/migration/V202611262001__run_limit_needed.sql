alter table run_limit add column seconds_needed double precision;

-- The link, the site and the distance between were one bottleneck, SITE. Without their shares nothing can be said of these runs.
delete from run_limit where run_id in (select run_id from run_limit where name = 'SITE');
update run_limit set seconds_needed = seconds;

alter table run_limit alter column seconds_needed set not null;
alter table run_limit add check (seconds_needed > 0 and seconds_needed <= seconds);
comment on table run_limit is 'For how long each of the possible bottlenecks was the one of a run, judged once a second.';
comment on column run_limit.seconds_needed is 'How much of this time would still have been needed if this stage had been twice as fast.';
