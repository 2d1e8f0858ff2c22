-- Bags, certificates and counts ask for the latest verdict on each entry: the question is written once.
create view judged_entry as
select distinct on (experiment_id, entry_no) experiment_id, entry_no, state, format, why
from content cross join lateral unnest(entry_nos) as n (entry_no)
order by experiment_id, entry_no, content_id desc;
comment on view judged_entry is 'The latest verdict on the content of each entry that has one; ask for one experiment.';
