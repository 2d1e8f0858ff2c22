-- Nobody knows whether these files are whole, for a reason that is known: people can see it.
alter table content drop constraint content_state_check;
alter table content add constraint content_state_check check (state in ('WHOLE', 'SUSPECT', 'BROKEN', 'UNKNOWN'));
comment on table content is
    'Entries whose content was judged by the rules of its format. Unknown ones have a row only if the reason is known; one that was read for two sites can have two.';
comment on column content.state is
    'WHOLE: all rules hold. BROKEN: one fails that holds in every healthy file. SUSPECT: healthy files look like this, too. UNKNOWN: nobody knows.';
comment on column content.why is 'What is wrong, or why nobody knows, for people; empty if nothing is wrong.';
-- An unknown verdict takes nothing back.
create or replace view judged_entry as
select distinct on (experiment_id, entry_no) experiment_id, entry_no, state, format, why
from content cross join lateral unnest(entry_nos) as n (entry_no)
order by experiment_id, entry_no, state = 'UNKNOWN', content_id desc;
comment on view judged_entry is
    'The latest verdict on the content of each entry that has one, unknown only without another; ask for one experiment.';
